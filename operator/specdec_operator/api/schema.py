"""What the types say to the API server, kept beside what they check themselves.

Each marker here checks a value in Python and puts the same rule into the generated CRD, so that `specdec validate`,
the operator and the API server refuse the same things with the same words. Patterns stay within what RE2 and Python
read alike.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from specdec_operator.api.quantities import DURATION_PATTERN, parse_duration

T = TypeVar("T")

VALIDATIONS = "x-kubernetes-validations"


@dataclass(frozen=True, slots=True)
class Rule:
    """A CEL rule of the CRD. `message` names the remedy and is static: a computed one costs more than the limit."""

    rule: str
    message: str
    field: str | None = None
    """Where the API server points to, relative to the rule's place, such as ".pinned"."""

    def as_schema(self) -> dict[str, Any]:
        """Return the rule as an entry of x-kubernetes-validations."""
        entry: dict[str, Any] = {"rule": self.rule, "message": self.message}
        return entry if self.field is None else {**entry, "fieldPath": self.field}


def cel(*rules: Rule) -> ConfigDict:
    """Return the configuration of a model that carries these rules; its validators check the same in Python."""
    return ConfigDict(json_schema_extra={VALIDATIONS: [rule.as_schema() for rule in rules]})


def quoted(text: str) -> str:
    """Return `text` as a raw CEL string.

    Raises:
        ValueError: if it contains a single quote, which a raw string cannot.
    """
    if "'" in text:
        raise ValueError(f"{text!r} contains a single quote; write the pattern without")
    return f"r'{text}'"


class _Marker(ABC, Generic[T]):
    """Checks in Python, and extends the JSON schema."""

    @abstractmethod
    def check(self, value: T) -> T:
        """Return the value, or raise ValueError with the remedy."""

    @abstractmethod
    def extend(self, schema: dict[str, Any]) -> None:
        """Add this rule to the schema of the value."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        result = handler(schema)
        self.extend(result)
        return result


@dataclass(frozen=True)
class Matches(_Marker[str]):
    """The whole string matches `pattern`; `message` says what to write."""

    pattern: str
    message: str

    def check(self, value: str) -> str:
        """Refuse a string that does not match."""
        if not re.fullmatch(self.pattern, value, re.ASCII):
            raise ValueError(f"{value!r}: {self.message}")
        return value

    def extend(self, schema: dict[str, Any]) -> None:
        """Add the pattern as CEL, which can carry a message."""
        rule = Rule(f"self.matches({quoted(f'^(?:{self.pattern})$')})", self.message)
        schema.setdefault(VALIDATIONS, []).append(rule.as_schema())


@dataclass(frozen=True)
class AtLeast(_Marker[str]):
    """A duration no shorter than `shortest`, itself a duration such as "15s"."""

    shortest: str = "0s"

    @property
    def message(self) -> str:
        """What to write."""
        hint = "write a duration as a number with a unit, such as 90s, 5m or 1h30m"
        return hint if self.shortest == "0s" else f"{hint}, of at least {self.shortest}"

    def check(self, value: str) -> str:
        """Refuse what is no duration or too short a one."""
        if parse_duration(value) < parse_duration(self.shortest):
            raise ValueError(f"{value!r}: {self.message}")
        return value

    def extend(self, schema: dict[str, Any]) -> None:
        """Check the form before duration(), so that the message is ours in every case."""
        form = f"self.matches({quoted(f'^{DURATION_PATTERN}$')})"
        rule = Rule(f"{form} && duration(self) >= duration('{self.shortest}')", self.message)
        schema.setdefault(VALIDATIONS, []).append(rule.as_schema())


@dataclass(frozen=True)
class AtMost(_Marker[int]):
    """A number no greater than `largest`; `message` says what to write. The field's own maximum must be greater."""

    largest: int
    message: str

    def check(self, value: int) -> int:
        """Refuse a greater number."""
        if value > self.largest:
            raise ValueError(f"{value}: {self.message}")
        return value

    def extend(self, schema: dict[str, Any]) -> None:
        """Add the limit as CEL, which can carry a message."""
        schema.setdefault(VALIDATIONS, []).append(Rule(f"self <= {self.largest}", self.message).as_schema())


@dataclass(frozen=True)
class Keyed(_Marker[Mapping[str, Any]]):
    """A schema-free object that must have one text field, by which a list of them is merged."""

    key: str
    longest: int = 253

    def check(self, value: Mapping[str, Any]) -> Mapping[str, Any]:
        """Refuse an object without its key."""
        text = value.get(self.key)
        if not isinstance(text, str) or not 1 <= len(text) <= self.longest:
            raise ValueError(f"{self.key} must be a text of 1 to {self.longest} characters, not {text!r}")
        return value

    def extend(self, schema: dict[str, Any]) -> None:
        """Declare the key; everything else stays free."""
        text = {"type": "string", "minLength": 1, "maxLength": self.longest, "description": "Key of the entry."}
        schema.update(properties={self.key: text}, required=[self.key])


@dataclass(frozen=True)
class UniqueBy(_Marker[tuple[Any, ...]]):
    """A list whose entries differ in one field: server-side apply merges it entry by entry."""

    key: str

    def check(self, value: tuple[Any, ...]) -> tuple[Any, ...]:
        """Refuse two entries with the same key."""
        keys = [item[self.key] if isinstance(item, Mapping) else getattr(item, self.key) for item in value]
        repeated = sorted({key for key in keys if keys.count(key) > 1})
        if repeated:
            raise ValueError(f"{self.key} {repeated[0]!r} appears more than once; give each entry its own")
        return value

    def extend(self, schema: dict[str, Any]) -> None:
        """Declare the key of the list."""
        schema.update({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [self.key]})
