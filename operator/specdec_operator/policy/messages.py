"""Sentences with the numbers of a decision and what comes next. Times are absolute: they do not change every tick."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from specdec_operator.api.names import NONE_METHOD
from specdec_operator.api.status import BreakEvenSource
from specdec_operator.policy.decision import BreakEven

SOURCE_WORDS: Final = {
    BreakEvenSource.EXPLICIT: "explicit",
    BreakEvenSource.PROFILE: "profile",
    BreakEvenSource.LEARNED: "learned",
    BreakEvenSource.CLOSED_FORM: "closed form",
    BreakEvenSource.PRIOR: "prior table",
}


def clock(moment: float) -> str:
    """Return a time of day in UTC, with the date: 2026-12-01T14:05:10Z."""
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def sourced(name: str, known: Mapping[str, BreakEven]) -> str:
    """Return "59 of eagle3 (explicit)"."""
    value = known.get(name)
    return f"none of {name}" if value is None else f"{value.concurrency} of {name} ({SOURCE_WORDS[value.source]})"


def comparison(
    smoothed: float, *, active: str, target: str, limit: float | None, known: Mapping[str, BreakEven]
) -> str:
    """Say how the load compares with the number that decides on going from `active` to `target`.

    Args:
        smoothed: mean concurrency per engine.
        active: the method that runs.
        target: the one that should.
        limit: where `target` comes back, in the active mode's concurrency; None when `active` is being left because
            of its own break-even.
        known: break-even of each method.
    """
    running = f"{smoothed:.1f} running requests per engine (smoothed)"
    if limit is None:
        return f"{running} are above the break-even of {sourced(active, known)}"
    mode = "plain decoding" if active == NONE_METHOD else active
    return f"{running} are below {limit:.1f}, where {mode} carries 0.70 of the load at the break-even of " + sourced(
        target, known
    )
