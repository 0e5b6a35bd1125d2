"""The scrape interval from numbers of samples, and the window from the interval."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_operator.adapters.prometheus.intervals import rate_window, scrape_interval
from specdec_operator.adapters.prometheus.queries import COUNTING_WINDOWS


def counts(interval: float, age: float = 1e9, offset: float = 0.5) -> dict[int, float]:
    """Return how many samples a target of this age has in each window."""
    return {
        window: sum(1 for index in range(1000) if (index + offset) * interval <= min(window, age))
        for window in COUNTING_WINDOWS
    }


@pytest.mark.parametrize("interval", [1, 2, 5, 10, 15, 20, 30, 60, 120])
@pytest.mark.parametrize("offset", [0.01, 0.5, 0.99])
def test_usual_intervals_are_found(interval, offset):
    """Within a third, wherever the scrapes fall in the window."""
    assert scrape_interval(counts(interval, offset=offset)) == pytest.approx(interval, rel=0.34)


@pytest.mark.parametrize("interval", [1, 15, 60])
def test_a_young_target_is_unknown_or_slower_never_faster(interval):
    """A window that is too long only delays; one that is too short has too few samples."""
    for age in range(1, 400, 7):
        found = scrape_interval(counts(interval, age=age))
        assert found is None or found >= interval * 0.75


@pytest.mark.parametrize("interval", [1, 2, 5, 10, 15, 20, 30, 60, 120])
def test_the_window_holds_four_scrapes(interval):
    """Also when the interval was found too short."""
    found = scrape_interval(counts(interval, offset=0.01))
    assert found is not None
    assert rate_window([found]) >= 4 * interval


def test_without_intervals_there_is_a_default():
    """A minute."""
    assert rate_window([]) == 60
    assert scrape_interval({}) is None


def test_one_slow_target_in_ten_does_not_make_the_window_long():
    """Two of ten do."""
    assert rate_window([15.0] * 9 + [120.0]) == 90
    assert rate_window([15.0] * 8 + [120.0] * 2) == 720


@given(st.lists(st.floats(0.01, 10_000)))
def test_the_window_has_bounds(intervals):
    """Whole seconds, for PromQL."""
    window = rate_window(intervals)
    assert isinstance(window, int)
    assert 5 <= window <= 900
