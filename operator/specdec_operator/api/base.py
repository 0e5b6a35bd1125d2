"""What all API types share: camelCase on the wire, snake_case in code, immutable, unknown fields refused."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from specdec_operator.api.quantities import parse_duration, parse_fraction


class ApiModel(BaseModel):
    """Base of every API type. `model_dump(by_alias=True, exclude_none=True)` gives what goes on the wire."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        frozen=True,
        extra="forbid",
    )


def _checked_duration(text: str) -> str:
    parse_duration(text)
    return text


def _checked_fraction(text: str) -> str:
    parse_fraction(text)
    return text


Duration = Annotated[str, Field(max_length=32), AfterValidator(_checked_duration)]
"""A Go duration such as "5m" or "1h30m", kept as the user wrote it; `parse_duration` gives seconds."""
Fraction = Annotated[str, Field(max_length=8), AfterValidator(_checked_fraction)]
"""A decimal number between 0 and 1 such as "0.9", kept as the user wrote it (the API has no floats)."""
