"""The two kinds as whole objects, parsed from what the API server or a file gives."""

import re
from collections.abc import Collection, Mapping
from typing import Annotated, Any, Final, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator
from pydantic.alias_generators import to_camel

from specdec_operator.api.base import StatusModel
from specdec_operator.api.profile import SpecDecProfileSpec, SpecDecProfileStatus
from specdec_operator.api.schema import Rule, quoted
from specdec_operator.api.spec import SpecDecDeploymentSpec
from specdec_operator.api.status import SpecDecDeploymentStatus

_Status = TypeVar("_Status", bound=StatusModel)

_NAME = r"[a-z](?:[-a-z0-9]{0,38}[a-z0-9])?"
NAME_RULE: Final = Rule(
    f"self.metadata.name.matches({quoted(f'^{_NAME}$')})",
    "metadata.name: use at most 40 lower-case letters, digits and dashes, a letter first and no dash last; "
    "the Service takes this name",
)
"""At the root of a SpecDecDeployment."""


class Metadata(BaseModel):
    """The part of `metadata` that the operator reads; the rest is ignored."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, extra="ignore")

    name: str
    namespace: str = "default"
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    annotations: dict[str, str] = Field(default_factory=dict)
    deletion_timestamp: str | None = None


class _Object(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, extra="ignore")

    metadata: Metadata

    @classmethod
    def parse(cls, body: Mapping[str, Any]) -> Self:
        """Read an object as the API server or a file gives it.

        Whatever this release cannot read in `status` is left out, because another release may have written it;
        in `spec` it is an error.

        Raises:
            pydantic.ValidationError: naming each field that does not fit.
        """
        return cls.model_validate(dict(body))


def readable(status: type[_Status], raw: Mapping[str, Any]) -> _Status:
    """Read a status, leaving out each entry of a list, or else each field, that does not fit its type."""
    content = dict(raw)
    while True:
        try:
            return status.model_validate(content)
        except ValidationError as error:
            rest = _without(content, [found["loc"][:2] for found in error.errors()])
            if rest == content:
                return status()
            content = rest


def _without(content: dict[str, Any], locations: Collection[tuple[int | str, ...]]) -> dict[str, Any]:
    """Return the content without what stands at the locations: (field, index) in a list, or (field, ...)."""
    rest = {field: value for field, value in content.items() if not any(place[:1] == (field,) for place in locations)}
    for field in set(content) - set(rest):
        entries = content[field]
        unfit = {place[1] for place in locations if place[0] == field and len(place) > 1 and isinstance(place[1], int)}
        if isinstance(entries, list) and unfit:
            rest[field] = [entry for index, entry in enumerate(entries) if index not in unfit]
    return rest


def _read_as(status: type[StatusModel]) -> BeforeValidator:
    return BeforeValidator(lambda value: readable(status, value) if isinstance(value, Mapping) else value)


class SpecDecDeployment(_Object):
    """One deployment of vLLM engines."""

    spec: SpecDecDeploymentSpec
    status: Annotated[
        SpecDecDeploymentStatus, Field(default_factory=SpecDecDeploymentStatus), _read_as(SpecDecDeploymentStatus)
    ]

    @field_validator("metadata")
    @classmethod
    def _name_fits(cls, metadata: Metadata) -> Metadata:
        if not re.fullmatch(_NAME, metadata.name):
            raise ValueError(f"{metadata.name!r}: {NAME_RULE.message}")
        return metadata


class SpecDecProfile(_Object):
    """Measured curves of one model on one kind of hardware."""

    spec: SpecDecProfileSpec
    status: Annotated[SpecDecProfileStatus, Field(default_factory=SpecDecProfileStatus), _read_as(SpecDecProfileStatus)]
