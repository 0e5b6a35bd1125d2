"""What is wrong with the engine: faults that the environment sets for the start, and HTTP sets while it runs."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any

START_ONLY = frozenset({"crash_after", "never_ready", "startup_factor"})
"""Faults that come too late once the engine runs."""


class FaultError(ValueError):
    """A fault is not known or has a value that means nothing."""


class MetricsFault(StrEnum):
    """What `/metrics` answers."""

    OK = "ok"
    HANGING = "hanging"
    EMPTY = "empty"
    NAN = "nan"
    ERROR = "error"


class RequestsFault(StrEnum):
    """What requests for completions answer."""

    OK = "ok"
    ERROR = "error"
    HANGING = "hanging"


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """All faults; the defaults are a healthy engine."""

    acceptance: float | None = None
    """Replaces the acceptance chance of every draft position from `acceptance_from` on."""
    acceptance_from: int = 0
    slowdown: float = 1.0
    """Every step takes this many times longer."""
    startup_factor: float = 1.0
    """The start takes this many times longer."""
    never_ready: bool = False
    """The start never ends."""
    crash: bool = False
    """The process ends now with exit code 1, without a word to its clients."""
    crash_after: float | None = None
    """The same, this many seconds after the engine became ready."""
    metrics: MetricsFault = MetricsFault.OK
    requests: RequestsFault = RequestsFault.OK
    unhealthy: bool = False
    """`/health` answers 503."""

    def chances(self, chances: tuple[float, ...]) -> tuple[float, ...]:
        """Acceptance chances under these faults."""
        if self.acceptance is None:
            return chances
        kept = chances[: self.acceptance_from]
        return kept + (self.acceptance,) * (len(chances) - len(kept))


_ENUMS = {"metrics": MetricsFault, "requests": RequestsFault}
_FLAGS = ("never_ready", "crash", "unhealthy")


def change(faults: Faults, values: object) -> Faults:
    """Faults with some changed; null sets one back to its default.

    Raises:
        FaultError: `values` is no JSON object, or an entry is not known or out of range.
    """
    if not isinstance(values, Mapping):
        raise FaultError(f"faults must be a JSON object, not {values!r}")
    defaults = {field.name: getattr(Faults(), field.name) for field in fields(Faults)}
    unknown = sorted(set(values) - set(defaults))
    if unknown:
        raise FaultError(f"fault {unknown[0]!r} is not known; known are {', '.join(defaults)}")
    changes: dict[str, Any] = {k: defaults[k] if v is None else _checked(k, v) for k, v in values.items()}
    return replace(faults, **changes)


def as_json(faults: Faults) -> dict[str, Any]:
    """The faults as `change` reads them."""
    return {field.name: getattr(faults, field.name) for field in fields(Faults)}


def _checked(name: str, value: object) -> object:
    if name in _ENUMS:
        known = [member.value for member in _ENUMS[name]]
        if value not in known:
            raise FaultError(f"fault {name!r} must be one of {', '.join(known)}, not {value!r}")
        return _ENUMS[name](value)
    if name in _FLAGS:
        if not isinstance(value, bool):
            raise FaultError(f"fault {name!r} must be true or false, not {value!r}")
        return value
    return _measure(name, value)


def _measure(name: str, value: object) -> float | int:
    highest = 1.0 if name == "acceptance" else math.inf
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= highest:
        raise FaultError(f"fault {name!r} must be a number from 0 to {highest:g}, not {value!r}")
    return int(value) if name == "acceptance_from" else float(value)
