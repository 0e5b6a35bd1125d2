"""Numbers of starting and stopping (case G3-05)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.deployments import make_deployment

from specdec_operator.api.quantities import format_duration, parse_duration
from specdec_operator.engine.timing import (
    MARGIN_SECONDS,
    PRE_STOP_SECONDS,
    STARTUP_PERIOD_SECONDS,
    shutdown_timing,
    startup_failures,
)


@given(st.integers(min_value=60, max_value=3 * 3600))
def test_startup_probe_lasts_as_long_as_asked(seconds: int) -> None:
    """From one minute to three hours, and at most two periods longer."""
    lasts = startup_failures(format_duration(seconds)) * STARTUP_PERIOD_SECONDS

    assert seconds <= lasts - STARTUP_PERIOD_SECONDS < seconds + STARTUP_PERIOD_SECONDS


@pytest.mark.parametrize(
    ("spec", "drain", "grace"),
    [
        ({}, 600, 625),
        ({"rollout": {"drainTimeout": "90s"}}, 90, 115),
        ({"rollout": {"drainTimeout": "0s"}}, 1, 26),
        ({"rollout": {"drainTimeout": "1500ms"}}, 2, 27),
        ({"pod": {"terminationGracePeriodSeconds": 300}, "rollout": {"drainTimeout": "1h"}}, 275, 300),
        ({"pod": {"terminationGracePeriodSeconds": 30}}, 5, 30),
    ],
)
def test_grace_period_covers_pre_stop_and_drain(spec: dict[str, dict[str, object]], drain: int, grace: int) -> None:
    """Whichever number the user gives, the other follows from it."""
    timing = shutdown_timing(make_deployment(**spec).spec)

    assert (timing.drain, timing.grace) == (drain, grace)
    assert timing.grace == PRE_STOP_SECONDS + timing.drain + MARGIN_SECONDS


def test_default_startup_timeout_is_half_an_hour() -> None:
    """Big models get their time without a setting."""
    assert parse_duration(make_deployment().spec.rollout.startup_timeout) == 1800
