"""Speed against concurrency, and what the same arrivals look like in another mode.

The same offered load gives another concurrency in another mode: a faster engine finishes sooner and holds fewer
requests. By Little's law the load of an engine with B running requests is `B x r(B)` tokens per second, r being its
speed per request. At the break-even B* both modes have the same speed, so there, and only there, their concurrencies
coincide. Loads below are in units of the speed of plain decoding at concurrency 0: only ratios matter.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

DOUBLING_OVER_BREAK_EVEN: Final = 4 / 3
"""Plain step time at this multiple of B* is twice that of an idle engine.

Two cases are at hand: vLLM 0.32 on CPU with n-gram, measured (462, 376, 303, 237, 156 tokens per second per request at
1, 4, 8, 16, 32; B* about 12: 1.33), and a published illustration for an 8B model on H100 with EAGLE-3 (step 6 + 0.03 B
ms, B* about 160 to 180: 1.1 to 1.25).
"""
LOWEST_GAIN: Final = 1.05
HIGHEST_GAIN: Final = 2.2
"""Bounds of the speed-up of an idle engine; above the upper one the load below would stop growing before B*."""
RETURN_FRACTION: Final = 0.70
"""A method comes back when the load is below this share of its break-even load.

A share of 0.65 to 0.75 is what smooth pasting gives for switches that cost minutes; the width grows only with the
cube root of the cost.
"""
_STEPS: Final = 60


@dataclass(frozen=True, slots=True)
class PlainCurve:
    """Plain decoding: step time `1 + B / doubling`."""

    doubling: float

    def speed(self, concurrency: float) -> float:
        """Return tokens per second per request, 1 when idle."""
        return 1 / (1 + concurrency / self.doubling)

    def load(self, concurrency: float) -> float:
        """Return the load `B x speed(B)` that keeps B requests running; below `doubling` for every B."""
        return concurrency * self.speed(concurrency)

    def concurrency_at(self, load: float) -> float:
        """Return the B that a load keeps running: the inverse of `load`; infinite where it cannot be carried."""
        return load / (1 - load / self.doubling) if load < self.doubling else float("inf")


@dataclass(frozen=True, slots=True)
class MethodCurve:
    """A method through its break-even: speed-up `S(B) = S0 / (1 + (S0 - 1) B / B*)`, so S(0) = S0 and S(B*) = 1.

    S0 is `AL / (1 + draft cost)`: an idle engine verifies for the price of one plain step. Against the published
    table of an 8B model with EAGLE-3 and K = 3 (1.75, 1.70, 1.49, 1.22 at 1, 16, 64, 128; B* about 200) it gives
    1.75, 1.65, 1.41, 1.18.
    """

    break_even: float
    gain: float

    @classmethod
    def of(cls, break_even: float, acceptance_length: float | None, draft_cost: float) -> "MethodCurve":
        """Make the curve; with an unknown acceptance length the gain is the lowest that makes sense."""
        gain = LOWEST_GAIN if acceptance_length is None else acceptance_length / (1 + draft_cost)
        return cls(break_even, min(max(gain, LOWEST_GAIN), HIGHEST_GAIN))

    def speed_up(self, concurrency: float) -> float:
        """Return speed over that of plain decoding at the same concurrency."""
        return self.gain / (1 + (self.gain - 1) * concurrency / self.break_even)

    def load(self, concurrency: float, plain: PlainCurve) -> float:
        """Return the load at B running requests.

        Above the break-even the speed-up is taken as 1 although it is less, so the load is rather over- than
        underestimated: close to saturation the concurrency says little about the load.
        """
        return plain.load(concurrency) * max(1.0, self.speed_up(concurrency))


def return_concurrency(break_even: float, plain: PlainCurve, active: MethodCurve | None) -> float:
    """Return the concurrency in the active mode below which a method may come back.

    The break-even load of the method is `L* = B* r_plain(B*)`. It comes back below `0.70 L*`; the answer is the B at
    which the active mode (None: plain decoding) carries just that.
    """
    load = RETURN_FRACTION * plain.load(break_even)
    if active is None:
        return plain.concurrency_at(load)
    return _inverse(lambda concurrency: active.load(concurrency, plain), load, upper=plain.concurrency_at(load))


def _inverse(function: Callable[[float], float], value: float, *, upper: float) -> float:
    """Bisect; the speed-up is at least 1, so the plain concurrency bounds the answer from above."""
    low, high = 0.0, upper
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) < value else (low, middle)
    return high
