"""What holds a switch back although its window has passed: the dwell and the daily budget."""

from typing import Final

from specdec_operator.api.names import NONE_METHOD
from specdec_operator.api.quantities import parse_duration
from specdec_operator.policy.decision import PolicyInput

DAY: Final = 86_400.0
_RESERVE: Final = 2
"""A switch to a method needs this many left, so that the way to `none` stays paid."""


def dwell_ends(view: PolicyInput) -> float | None:
    """Return when the minimum dwell ends in Unix seconds, None when it is over."""
    if view.active_since is None:
        return None
    end = view.active_since + parse_duration(view.speculation.policy.minimum_dwell)
    return end if view.now < end else None


def switches_counted(view: PolicyInput) -> int:
    """Return how many switches began in the last 24 hours."""
    return sum(1 for started in view.switches if started > view.now - DAY)


def budget_allows(view: PolicyInput, target: str) -> bool:
    """Return whether the daily budget pays for a switch to `target`; the last of a day may only go to `none`."""
    left = view.speculation.policy.maximum_switches_per_day - switches_counted(view)
    return left >= (1 if target == NONE_METHOD else _RESERVE)


def budget_frees(view: PolicyInput, target: str) -> float | None:
    """Return when the budget will pay for a switch to `target`, None when it never will."""
    allowed = view.speculation.policy.maximum_switches_per_day - (1 if target == NONE_METHOD else _RESERVE)
    if allowed < 0:
        return None
    recent = sorted(started for started in view.switches if started > view.now - DAY)
    return recent[len(recent) - allowed - 1] + DAY if len(recent) > allowed else view.now
