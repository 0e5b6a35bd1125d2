"""Durations and decimals are read as the API conventions write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_operator.api.quantities import format_duration, parse_duration, parse_fraction


@pytest.mark.parametrize(("text", "seconds"), [("5m", 300), ("1h30m", 5400), ("90s", 90), ("250ms", 0.25), ("0s", 0)])
def test_durations_are_read_in_seconds(text: str, seconds: float) -> None:
    """A Go duration gives its seconds."""
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "5", "m", "5 m", "-5m", "5d", "1h 30m", "NaN"])
def test_other_texts_are_refused_with_the_remedy(text: str) -> None:
    """Anything but a non-negative Go duration is refused, and the message says what to write."""
    with pytest.raises(ValueError, match="write a number with a unit"):
        parse_duration(text)


@given(st.integers(min_value=0, max_value=10**7))
def test_formatted_durations_read_back(seconds: int) -> None:
    """Formatting whole seconds loses nothing."""
    assert parse_duration(format_duration(seconds)) == seconds


def test_a_fraction_above_one_is_refused() -> None:
    """A fraction lies between 0 and 1."""
    assert parse_fraction("0.9") == 0.9

    with pytest.raises(ValueError, match="above 1"):
        parse_fraction("1.1")
