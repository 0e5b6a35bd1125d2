"""A scrape that fails once is held through in silence; an outage is told."""

from dataclasses import replace

import pytest
from tests.unit.controller.builders import NO_METRICS, NOW, condition, make_body, make_reading, make_snapshot, running

from specdec_operator.api.conditions import Reason
from specdec_operator.controller.gaps import lost_at
from specdec_operator.controller.memory import Memory
from specdec_operator.controller.work import work_out
from specdec_operator.policy.signals import Reading
from specdec_operator.policy.smoothing import GRACE_SECONDS

READING = make_reading(3.0, "llama-0", "llama-1")


def _lost_for(seconds: float, **spec):
    """The pass that finds no metrics since so many seconds, on an object that was at rest."""
    body, children = running(make_body(**spec), reading=READING)
    memory = Memory("uid-1", metrics_lost_at=NOW - seconds)
    return make_snapshot(body, children, reading=NO_METRICS, memory=memory)


@pytest.mark.parametrize("seconds", [0.0, GRACE_SECONDS - 1])
def test_a_short_gap_costs_no_write(seconds) -> None:
    """Within the grace the status says what it said, and nothing is written."""
    work = work_out(_lost_for(seconds))

    assert not work.is_due
    assert condition(work, "MetricsAvailable") == ("True", "Found")


def test_an_outage_is_told_when_the_grace_is_over() -> None:
    """From then on the condition names the reason, and the decision says that it holds."""
    work = work_out(_lost_for(GRACE_SECONDS))

    assert work.status_changed
    assert condition(work, "MetricsAvailable") == ("False", "SourceUnreachable")
    assert work.status.decision.reason == Reason.SOURCE_UNREACHABLE


def test_missing_metrics_of_a_new_object_are_told_at_once() -> None:
    """Where metrics were never found there is nothing to hold on to."""
    body, children = running(make_body(), reading=NO_METRICS)

    assert condition(work_out(make_snapshot(body, children)), "MetricsAvailable") == ("False", "SourceUnreachable")


def test_a_pod_that_misses_one_scrape_is_such_a_gap() -> None:
    """The series of one of two pods are gone for a moment: no write."""
    body, children = running(make_body(), reading=READING)
    one = replace(READING, engines={key: value for key, value in READING.engines.items() if key[1] == "llama-0"})

    work = work_out(make_snapshot(body, children, reading=one))

    assert not work.is_due


def test_what_the_user_changes_in_a_gap_is_done() -> None:
    """Mode Off ends speculation without metrics, and says so."""
    body, children = running(make_body(), reading=READING)
    body["spec"]["speculation"]["mode"] = "Off"
    body["metadata"]["generation"] = 2

    work = work_out(make_snapshot(body, children, reading=NO_METRICS))

    assert work.status.target.method == "none"
    assert work.status_changed


@pytest.mark.parametrize(("reading", "before", "after"), [(NO_METRICS, None, NOW), (NO_METRICS, 5.0, 5.0)])
def test_the_begin_of_a_gap_is_remembered(reading, before, after) -> None:
    """The first pass without metrics notes the time, later ones keep it."""
    body, children = running(make_body(), reading=READING)

    assert (
        lost_at(make_snapshot(body, children, reading=reading, memory=Memory("uid-1", metrics_lost_at=before))) == after
    )


def test_the_gap_ends_with_the_next_reading() -> None:
    """Metrics that are there again forget the gap."""
    body, children = running(make_body(), reading=READING)
    assert isinstance(READING, Reading)

    assert lost_at(make_snapshot(body, children, reading=READING, memory=Memory("uid-1", metrics_lost_at=5.0))) is None
