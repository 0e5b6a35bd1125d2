"""What all API types share: camelCase on the wire, snake_case in code, immutable; and the common kinds of text."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from specdec_operator.api.schema import AtLeast, Keyed, Matches


class ApiModel(BaseModel):
    """Base of every type in `spec`: unknown fields are refused, so that a misspelt one is never silently ignored.

    `model_dump(by_alias=True, exclude_none=True)` gives what goes on the wire. The text below a field becomes its
    description in the CRD.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        frozen=True,
        extra="forbid",
        use_attribute_docstrings=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, value: object) -> object:
        """Drop fields set to null, as the API server does."""
        if not isinstance(value, Mapping):
            return value
        return {name: content for name, content in value.items() if content is not None}


class StatusModel(ApiModel):
    """Base of every type in `status`: unknown fields are skipped, because another release may have written them."""

    model_config = ConfigDict(extra="ignore")


_NAME = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"

Name40 = Annotated[
    str,
    Field(min_length=1, max_length=40),
    Matches(_NAME, "use lower-case letters, digits and dashes, with a letter or digit at both ends"),
]
"""A name of our own: of a method."""
ObjectName = Annotated[
    str,
    Field(min_length=1, max_length=253),
    Matches(
        rf"{_NAME}(?:\.{_NAME})*",
        "name a Kubernetes object: lower-case letters, digits, dashes and dots, a letter or digit at both ends",
    ),
]
"""The name of another Kubernetes object."""
ShortText = Annotated[str, Field(min_length=1, max_length=253)]
LongText = Annotated[str, Field(min_length=1, max_length=1024)]
ARGUMENT_PATTERN = r"[^\s-]\S*"
_ARGUMENT = Matches(ARGUMENT_PATTERN, "write it without spaces and not beginning with a dash: it becomes an argument")
ShortArgument = Annotated[str, Field(min_length=1, max_length=253), _ARGUMENT]
LongArgument = Annotated[str, Field(min_length=1, max_length=1024), _ARGUMENT]
"""A text that becomes one argument of vLLM."""
ModelName = Annotated[
    str,
    Field(min_length=1, max_length=1024),
    Matches(
        r"[A-Za-z0-9/]\S*", "write a hub id such as meta-llama/Llama-3.1-8B-Instruct, or an absolute path; no spaces"
    ),
]
Url = Annotated[
    str,
    Field(min_length=1, max_length=1024),
    Matches(r"https?://[^\s/?#@]+(?:[/?#]\S*)?", "write an http:// or https:// address without credentials"),
]
Quantity = Annotated[
    str,
    Field(min_length=1, max_length=32),
    Matches(r"[0-9]+(?:\.[0-9]+)?(?:[kMGTPE]|[KMGTPE]i)?", "write a quantity, such as 20Gi or 500Mi"),
]
"""An amount of storage or memory, as Kubernetes writes it."""
Duration = Annotated[str, Field(max_length=16), AtLeast()]
"""A Go duration such as "5m" or "1h30m", kept as the user wrote it; `parse_duration` gives seconds."""
Fraction = Annotated[
    str,
    Field(max_length=8),
    Matches(r"0(?:\.[0-9]+)?|1(?:\.0+)?", "write a fraction between 0 and 1 as a text, such as '0.9'"),
]
"""A decimal number between 0 and 1 such as "0.9", kept as the user wrote it (the API has no floats)."""
Decimal = Annotated[
    str,
    Field(max_length=16),
    Matches(r"[0-9]+(?:\.[0-9]+)?", "write a plain decimal number as a text, such as '2.4'"),
]

FreeObject = dict[str, Any]
"""An object of Kubernetes' own or of vLLM's: schema-free here, checked where it is used."""
NamedObject = Annotated[FreeObject, Keyed("name")]
MountObject = Annotated[FreeObject, Keyed("mountPath", 1024)]

LabelValue = Annotated[
    str,
    Field(max_length=63),
    Matches(
        r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?",
        "write a label value: letters, digits, dashes, underscores and dots, a letter or digit at both ends",
    ),
]
Labels = Annotated[dict[str, LabelValue], Field(max_length=64)]
Annotations = Annotated[dict[str, Annotated[str, Field(max_length=16_384)]], Field(max_length=64)]
