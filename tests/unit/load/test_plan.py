"""Descriptions of load."""

import pytest
from hack.load.plan import Load, Phase, PlanError, read_phases, steady


def test_phases_are_read_from_text() -> None:
    """Steady clients, ramps and arrivals."""
    assert read_phases("30:8, 60s:1..32,1.5:r2.5") == (
        steady(30, 8),
        Phase(seconds=60, first=1, last=32),
        Phase(seconds=1.5, first=2.5, last=2.5, open_loop=True),
    )


@pytest.mark.parametrize("text", ["", "8", "30:", "0:8", "30:x", "30:1...2", "30:-1"])
def test_what_is_no_phase_is_refused(text: str) -> None:
    """With examples of what is."""
    with pytest.raises(PlanError, match=r"like 30:8, 60:1\.\.32 or 30:r2\.5"):
        read_phases(text)


def test_a_ramp_rises_evenly() -> None:
    """And keeps its last value."""
    ramp = Phase(seconds=10, first=0, last=20)

    assert [ramp.at(elapsed) for elapsed in (0, 5, 10, 11)] == [0, 10, 20, 20]


def test_phases_follow_each_other() -> None:
    """Each has its own clock; after the last there is none."""
    load = Load(url="http://x", phases=read_phases("10:1,5:2"))

    assert load.seconds == 15
    assert load.phase_at(9.5) == (load.phases[0], 9.5)
    assert load.phase_at(12) == (load.phases[1], 2)
    assert load.phase_at(15) is None
