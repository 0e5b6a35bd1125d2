"""Means weighted by time: a tick that comes twice or late changes nothing but its own share."""

from dataclasses import replace
from typing import Final

from specdec_operator.policy.acceptance import observe_acceptance
from specdec_operator.policy.blending import blend
from specdec_operator.policy.decision import PolicyMemory
from specdec_operator.policy.signals import Load

LONGEST_HALF_LIFE: Final = 60.0
"""Half-life of the mean concurrency in seconds: long enough that single requests do not matter at 15 s ticks."""
HALF_LIVES_IN_WINDOW: Final = 5
"""The half-life is at most this part of the shorter window, so that smoothing never outlasts it."""
LONGEST_GAP: Final = 120.0
"""After so many seconds without a tick a crossing is no longer known to have lasted."""
GRACE_SECONDS: Final = 45.0
"""A gap in the metrics of up to so many seconds is bridged: one scrape missed at an interval of 30 s, and a tick of
15 s until it is seen again."""


def half_life(disable_after: float, enable_after: float) -> float:
    """Return the half-life of the mean concurrency for these two windows, in seconds."""
    return min(LONGEST_HALF_LIFE, min(disable_after, enable_after) / HALF_LIVES_IN_WINDOW)


def observe(memory: PolicyMemory, load: Load, *, active: str, now: float, half: float) -> PolicyMemory:
    """Take one measurement in. Another method than before starts the mean and the crossing afresh."""
    if memory.method != active or memory.smoothed is None or memory.smoothed_at is None:
        memory = PolicyMemory(acceptance=memory.acceptance, acceptance_at=memory.acceptance_at)
        smoothed = load.concurrency
    else:
        smoothed = blend(memory.smoothed, load.concurrency, elapsed=now - memory.smoothed_at, half=half)
        memory = forget_crossing(memory) if now - memory.smoothed_at > LONGEST_GAP else _after_gap(memory, now)
    memory = replace(memory, smoothed=smoothed, smoothed_at=now, method=active, measured=True, missing_since=None)
    return observe_acceptance(memory, load, active=active, now=now)


def miss(memory: PolicyMemory, *, now: float) -> PolicyMemory:
    """Take in a tick without data: the crossing outlasts it within the grace, the window's clock stands still."""
    since = memory.missing_since if memory.missing_since is not None else now
    if now - since >= GRACE_SECONDS:
        return forget_crossing(memory)
    return replace(memory, measured=False, missing_since=since)


def _after_gap(memory: PolicyMemory, now: float) -> PolicyMemory:
    """Move the crossing on by the gap that ends now, so that only measured time counts towards the window."""
    if memory.missing_since is None or memory.crossed_since is None:
        return memory
    gap = max(now - memory.missing_since, 0.0)
    if gap > GRACE_SECONDS:
        return forget_crossing(memory)
    return replace(memory, crossed_since=memory.crossed_since + gap)


def forget_crossing(memory: PolicyMemory) -> PolicyMemory:
    """Start the window anew: what happens while nothing is measured does not count."""
    return replace(memory, crossed_since=None, candidate=None, measured=False, missing_since=None)
