"""The run by the second."""

from collections import Counter

import pytest
from hack.load.records import Outcome, Timeline, summarise


class Clock:
    """A clock that stands until it is set."""

    now = 0.0

    def __call__(self) -> float:
        """The time it was set to."""
        return self.now


def test_speed_is_tokens_over_requests_in_flight() -> None:
    """A request that is there for half a second counts as half a request."""
    clock = Clock()
    timeline = Timeline(clock=clock)
    timeline.enter()
    clock.now = 0.5
    timeline.enter()
    timeline.received(30)
    clock.now = 1.5
    timeline.received(10)
    timeline.leave(Outcome.COMPLETE)
    clock.now = 3.0

    assert timeline.busy[0] == pytest.approx(1.5)
    assert timeline.speed(0, 1) == pytest.approx(20)
    assert timeline.busy[1] == pytest.approx(1.5)
    assert timeline.speed(2, 3) == pytest.approx(0)
    timeline.leave(Outcome.CUT)
    clock.now = 4.0
    assert timeline.speed(3, 4) is None


def test_a_summary_counts_every_outcome() -> None:
    """Stopped requests do not make a run unclean."""
    clock = Clock()
    timeline = Timeline(clock=clock)
    for outcome in (Outcome.COMPLETE, Outcome.COMPLETE, Outcome.STOPPED):
        timeline.enter()
        timeline.leave(outcome)
    timeline.received(7)
    clock.now = 2.0
    summary = summarise(timeline, Counter())

    assert (summary.requests, summary.complete, summary.stopped, summary.tokens) == (3, 2, 1, 7)
    assert summary.clean

    timeline.enter()
    timeline.leave(Outcome.CUT)
    assert not summarise(timeline, Counter()).clean
