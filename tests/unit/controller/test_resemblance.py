"""Whether the API server still holds what was rendered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_operator.controller.resemblance import holds

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(PLAIN)
def test_everything_holds_itself(value: object) -> None:
    """The same is the same."""
    assert holds(value, value)


@pytest.mark.parametrize(
    ("live", "rendered"),
    [
        ({"a": 1, "default": True}, {"a": 1}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}),
        ({}, {"a": None, "b": [], "c": {}, "d": "", "e": False, "f": 0}),
        ([{"name": "x", "protocol": "TCP"}], [{"name": "x"}]),
        ("1", "1000m"),
        ("1Gi", "1024Mi"),
        ("128", 128),
        ("1k", "1000"),
        ("100m", "0.1"),
    ],
)
def test_defaults_and_other_spellings_of_a_quantity_are_no_difference(live: object, rendered: object) -> None:
    """The API server fills in defaults, drops what is empty, and writes quantities in its own way."""
    assert holds(live, rendered)


@pytest.mark.parametrize(
    ("live", "rendered"),
    [
        ({"a": 2}, {"a": 1}),
        ({}, {"a": 1}),
        ([1, 2], [1]),
        ([], [1]),
        ({"a": "x"}, {"a": {"b": 1}}),
        ("true", True),
        (1, True),
        ("1Gi", "1Mi"),
        ("abc", "abd"),
        (None, "x"),
        ("e", "E"),
        ("m", "k"),
    ],
)
def test_a_difference_is_seen(live: object, rendered: object) -> None:
    """What was rendered is missing or another."""
    assert not holds(live, rendered)
