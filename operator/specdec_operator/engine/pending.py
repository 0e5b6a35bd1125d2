"""Fields that are accepted and do nothing yet: shown in the condition ConfigValid, never passed over in silence.

Work that brings a field to life deletes its entry here.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import BaseModel

from specdec_operator.api.spec import (
    MetricsSourceKind,
    RolloutStrategy,
    ScheduleMode,
    SpecDecDeploymentSpec,
    Trigger,
)
from specdec_operator.engine.findings import Finding, Severity, warning


def _any_value(_value: object) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Pending:
    """A field that does nothing yet. Only a value that the user wrote is warned about."""

    path: tuple[str, ...]
    """Attribute names from `spec`; "*" stands for every item of a list."""
    instead: str
    """What happens instead."""
    remedy: str
    applies: Callable[[Any], bool] = _any_value
    """Whether a value asks for what is missing."""


_RULE: Final = "not-in-force"
_LEAVE_OUT: Final = "leave it out until then"

PENDING: Final[tuple[Pending, ...]] = (
    Pending(
        ("speculation", "policy", "trigger"),
        "trigger Threshold is used",
        "set Threshold",
        lambda value: value is Trigger.OFFERED_LOAD,
    ),
    Pending(("speculation", "policy", "switch_cost"), "switches are not weighed against their cost", _LEAVE_OUT),
    Pending(
        ("speculation", "break_even", "profile_ref"),
        "no profile is read; break-evens are computed",
        "set breakEvenConcurrency on the methods",
    ),
    Pending(
        ("speculation", "methods", "*", "schedule"),
        "the number of drafted tokens stays as given",
        "set Off",
        lambda value: value is ScheduleMode.AUTO,
    ),
    Pending(
        ("metrics", "source"),
        "metrics come from Prometheus",
        "set Prometheus",
        lambda value: value is MetricsSourceKind.PODS,
    ),
    Pending(
        ("metrics", "address"),
        "the Prometheus of the operator's configuration is asked",
        _LEAVE_OUT,
    ),
    Pending(
        ("rollout", "strategy"),
        "pods are restarted in place, without an extra replica",
        "set InPlace",
        lambda value: value is RolloutStrategy.SURGE,
    ),
    Pending(("rollout", "canary"), "the first switched pod is not compared with the others", _LEAVE_OUT),
    Pending(
        ("rollout", "drain", "middleware"),
        "clients that keep connections open are not told to leave a pod",
        "set false, and let clients connect per request",
        bool,
    ),
)


def check_pending(spec: SpecDecDeploymentSpec) -> Iterator[Finding]:
    """Warn about every field that the user set and that does nothing yet."""
    for pending in PENDING:
        for path, value in _set_values(spec, "spec", pending.path):
            if value is not None and pending.applies(value):
                said = f"{_shown(value)}is not in force yet: {pending.instead}"
                yield warning(path, said, pending.remedy, rule=_RULE)
    if "trigger" not in spec.speculation.policy.model_fields_set:
        said = "the default, OfferedLoad, is not in force yet: trigger Threshold is used"
        default = warning("spec.speculation.policy.trigger", said, "set Threshold to say the same", rule=_RULE)
        yield replace(default, severity=Severity.INFO)


def _set_values(value: object, path: str, names: tuple[str, ...]) -> Iterator[tuple[str, object]]:
    """Yield the paths and values that `names` leads to, as far as the user wrote them."""
    if not names:
        yield path, value
    elif names[0] == "*" and isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from _set_values(item, f"{path}[{index}]", names[1:])
    elif isinstance(value, BaseModel) and names[0] in value.model_fields_set:
        alias = type(value).model_fields[names[0]].alias or names[0]
        yield from _set_values(getattr(value, names[0]), f"{path}.{alias}", names[1:])


def _shown(value: object) -> str:
    return "" if isinstance(value, BaseModel) else f"{str(value).lower() if isinstance(value, bool) else value!s} "
