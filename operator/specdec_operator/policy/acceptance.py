"""What is remembered of the acceptance: its mean, an alarm, and since when it has collapsed. None of it switches."""

from dataclasses import replace
from typing import Final

from specdec_operator.api.names import NONE_METHOD
from specdec_operator.policy.blending import blend
from specdec_operator.policy.decision import PolicyMemory
from specdec_operator.policy.signals import Load

HALF_LIFE: Final = 600.0
"""Seconds. Acceptance belongs to the traffic, which changes slowly."""
LOW_RATE: Final = 0.50
"""Below it the alarm goes on. It never switches: 85 % acceptance can lose and 9 % can win."""
LOW_RATE_CLEARS: Final = 0.55
COLLAPSED_LENGTH: Final = 1.05
"""With an acceptance length below it practically nothing that is drafted is used."""
COLLAPSED_LENGTH_CLEARS: Final = 1.10


def observe_acceptance(memory: PolicyMemory, load: Load, *, active: str, now: float) -> PolicyMemory:
    """Take one measurement in; without drafts (off, idle) everything stays as it was."""
    length, rate = load.acceptance_length, load.acceptance_rate
    if length is None or active == NONE_METHOD:
        return memory
    known = dict(memory.acceptance)
    known[active] = _mean(known.get(active), length, memory, now)
    mean_rate = memory.acceptance_rate if rate is None else _mean(memory.acceptance_rate, rate, memory, now)
    return replace(
        memory,
        acceptance=tuple(sorted(known.items())),
        acceptance_at=now,
        acceptance_rate=mean_rate,
        low_acceptance=_is_low(mean_rate, before=memory.low_acceptance),
        collapsed_since=_collapsed_since(length, memory.collapsed_since, now),
    )


def _mean(old: float | None, new: float, memory: PolicyMemory, now: float) -> float:
    if old is None or memory.acceptance_at is None:
        return new
    return blend(old, new, elapsed=now - memory.acceptance_at, half=HALF_LIFE)


def _is_low(rate: float | None, *, before: bool) -> bool:
    """Two levels, so that a rate near the alarm does not change the status with every tick."""
    return rate is not None and rate < (LOW_RATE_CLEARS if before else LOW_RATE)


def _collapsed_since(length: float, before: float | None, now: float) -> float | None:
    if before is not None:
        return before if length < COLLAPSED_LENGTH_CLEARS else None
    return now if length < COLLAPSED_LENGTH else None
