"""The same load in another mode's concurrency."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_operator.policy.curves import (
    DOUBLING_OVER_BREAK_EVEN,
    RETURN_FRACTION,
    MethodCurve,
    PlainCurve,
    return_concurrency,
)

BREAK_EVENS = st.floats(1, 5000)
GAINS = st.floats(1.0, 3.5)


def plain_for(break_even: float) -> PlainCurve:
    """Return the plain curve that belongs to a break-even."""
    return PlainCurve(DOUBLING_OVER_BREAK_EVEN * break_even)


def test_the_way_back_from_plain_decoding():
    """0.70 of the break-even load is 0.57 of the break-even concurrency, because fewer requests run faster."""
    assert return_concurrency(60, plain_for(60), None) == pytest.approx(60 * 0.7 / 1.225)


def test_a_flat_curve_keeps_the_share():
    """Where plain decoding does not slow down, load and concurrency are the same thing."""
    assert return_concurrency(60, PlainCurve(1e9), None) == pytest.approx(42, rel=1e-5)


@pytest.mark.parametrize(("concurrency", "published"), [(1, 1.75), (16, 1.70), (64, 1.49), (128, 1.22)])
def test_the_method_curve_is_near_published_speed_ups(concurrency, published):
    """Llama-3.1-8B, EAGLE-3, K = 3, GSM8K on H100: within 6 %."""
    assert MethodCurve.of(200, 2.54, 0.45).speed_up(concurrency) == pytest.approx(published, rel=0.06)


@given(break_even=BREAK_EVENS, length=GAINS)
def test_both_modes_coincide_at_the_break_even(break_even, length):
    """S(B*) = 1, so load and concurrency are the same in both."""
    curve = MethodCurve.of(break_even, length, 0.0)
    plain = plain_for(break_even)
    assert curve.speed_up(break_even) == pytest.approx(1)
    assert curve.load(break_even, plain) == pytest.approx(plain.load(break_even))


@given(break_even=BREAK_EVENS, length=GAINS, shares=st.tuples(st.floats(0, 3), st.floats(0, 3)))
def test_more_requests_are_more_load(break_even, length, shares):
    """Else the concurrency would not tell the load."""
    curve, plain = MethodCurve.of(break_even, length, 0.0), plain_for(break_even)
    low, high = sorted(share * break_even for share in shares)
    assert curve.load(low, plain) <= curve.load(high, plain) * (1 + 1e-9)


@given(break_even=BREAK_EVENS, length=GAINS, other=st.floats(0.01, 1))
def test_the_way_back_carries_just_the_share_of_the_load(break_even, length, other):
    """In plain decoding and in another method's mode alike; the faster mode holds fewer requests."""
    plain, curve = plain_for(break_even), MethodCurve.of(break_even, length, 0.0)
    wanted = RETURN_FRACTION * plain.load(other * break_even)
    from_plain = return_concurrency(other * break_even, plain, None)
    from_method = return_concurrency(other * break_even, plain, curve)
    assert plain.load(from_plain) == pytest.approx(wanted)
    assert curve.load(from_method, plain) == pytest.approx(wanted, rel=1e-6)
    assert from_method <= from_plain * (1 + 1e-9)


def test_a_load_that_plain_decoding_cannot_carry_is_an_infinite_concurrency():
    """The queue grows without end."""
    assert PlainCurve(100).concurrency_at(100) == float("inf")
    assert PlainCurve(100).concurrency_at(50) == pytest.approx(100)
