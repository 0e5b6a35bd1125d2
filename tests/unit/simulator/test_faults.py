"""Faults as data."""

import pytest

from vllm_simulator.faults import FaultError, Faults, MetricsFault, as_json, change


def test_a_change_touches_only_what_it_names() -> None:
    """Null sets one back."""
    ill = change(Faults(), {"acceptance": 0.1, "metrics": "empty", "never_ready": True})

    assert ill == Faults(acceptance=0.1, metrics=MetricsFault.EMPTY, never_ready=True)
    assert change(ill, {"metrics": None}) == Faults(acceptance=0.1, never_ready=True)


def test_what_is_written_can_be_read() -> None:
    """The JSON of faults makes the same faults."""
    ill = Faults(slowdown=3.0, crash_after=2.0, unhealthy=True)

    assert change(Faults(), as_json(ill)) == ill


def test_acceptance_changes_from_a_position_on() -> None:
    """Chances before it stay."""
    assert Faults().chances((0.6, 0.6)) == (0.6, 0.6)
    assert Faults(acceptance=0.0).chances((0.6, 0.6)) == (0.0, 0.0)
    assert Faults(acceptance=0.1, acceptance_from=1).chances((0.6, 0.6, 0.6)) == (0.6, 0.1, 0.1)
    assert Faults(acceptance=0.1, acceptance_from=9).chances((0.6,)) == (0.6,)


@pytest.mark.parametrize(
    "values", [{"acceptance": -0.1}, {"crash": "yes"}, {"slowdown": True}, {"requests": "odd"}, {"other": 1}, 3]
)
def test_wrong_values_are_refused(values: object) -> None:
    """Faults stay as they were."""
    with pytest.raises(FaultError):
        change(Faults(), values)
