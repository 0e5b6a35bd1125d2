"""The trigger Threshold: the smoothed concurrency has to be past a limit for a whole window."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from specdec_operator.api.names import NONE_METHOD
from specdec_operator.api.quantities import parse_duration
from specdec_operator.policy.decision import BreakEven, PolicyInput, PolicyMemory
from specdec_operator.policy.ladder import choose, rungs
from specdec_operator.policy.signals import Load
from specdec_operator.policy.smoothing import half_life, observe

LONGEST_STEP: Final = 75.0
"""Seconds between two ticks in a row: the longest tick there can be, and some lateness."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """What the trigger sees: the better method, the number that decides, and since when it has been so."""

    method: str
    """The active one when nothing else is better."""
    smoothed: float
    limit: float | None
    """Limit of the way back in the active mode's coordinate; None when the active method is being left."""
    since: float
    window: float
    memory: PolicyMemory

    @property
    def due(self) -> float:
        """When the window will have passed, in Unix seconds."""
        return self.since + self.window


def look(view: PolicyInput, load: Load, known: Mapping[str, BreakEven], acceptance: Mapping[str, float]) -> Outlook:
    """Take the measurement in and say which method is the right one.

    Leaving the active method counts from when its concurrency passed its break-even, whatever comes next. The way
    back counts from when the same method began to be the better one.
    """
    policy = view.speculation.policy
    disable, enable = parse_duration(policy.disable_after), parse_duration(policy.enable_after)
    before = view.memory
    memory = observe(before, load, active=view.active, now=view.now, half=half_life(disable, enable))
    smoothed = memory.smoothed if memory.smoothed is not None else load.concurrency
    ladder = rungs(view, known, acceptance)
    better = choose(ladder, smoothed)
    if better == view.active:
        memory = replace(memory, crossed_since=None, candidate=None)
        return Outlook(better, smoothed, None, view.now, 0.0, memory)
    returning = _precedes(view, better)
    passed = view.active if not returning else better
    limit = next((rung.limit for rung in ladder if rung.method == passed), None)
    since = _lasting(view, memory, better)
    since = since if since is not None else _crossing(view, limit, smoothed)
    memory = replace(memory, crossed_since=since, candidate=better)
    return Outlook(
        method=better,
        smoothed=smoothed,
        limit=limit if returning else None,
        since=since,
        window=enable if returning else disable,
        memory=memory,
    )


def _precedes(view: PolicyInput, other: str) -> bool:
    """Return whether `other` is preferred to the active method; everything is preferred to none."""
    order = [*(method.name for method in view.methods), NONE_METHOD]
    return order.index(other) < order.index(view.active)


def _lasting(view: PolicyInput, memory: PolicyMemory, better: str) -> float | None:
    """Return since when the crossing lasts that the last tick already saw, None when this is a new one."""
    candidate = memory.candidate
    if candidate is None:
        return None
    leaving = not _precedes(view, better)
    same = not _precedes(view, candidate) if leaving else candidate == better
    return memory.crossed_since if same else None


def _crossing(view: PolicyInput, limit: float | None, smoothed: float) -> float:
    """Return when the mean passed the limit, on the straight line from the tick before; now if that measured nothing.

    Without it a crossing just after a tick would be noticed a tick late, and decided up to two ticks late. Over a gap
    or a restart there is no line: time without data does not count.
    """
    before, at = view.memory.smoothed, view.memory.smoothed_at
    if limit is None or before is None or at is None or view.memory.method != view.active or not view.memory.measured:
        return view.now
    crossed = min(before, smoothed) <= limit <= max(before, smoothed)
    if not crossed or before == smoothed or not 0 < view.now - at <= LONGEST_STEP:
        return view.now
    return at + (view.now - at) * (limit - before) / (smoothed - before)
