"""How often engines are scraped, found from the series themselves, and the window that follows from it."""

from collections.abc import Iterable, Mapping
from math import ceil
from typing import Final

from specdec_operator.adapters.prometheus.queries import COUNTING_WINDOWS

FEWEST_SAMPLES: Final = (5, 4, 4)
"""Samples that a counting window must hold before it is believed."""
SCRAPES_IN_WINDOW: Final = 6
"""Six, so that four are left when one is missing and the count was one too high."""
DEFAULT_WINDOW: Final = 60
SHORTEST_WINDOW: Final = 5
LONGEST_WINDOW: Final = 900
_SLOWEST_SHARE: Final = 0.9


def scrape_interval(counts: Mapping[int, float]) -> float | None:
    """Return the seconds between two samples from their numbers in each window, None while there are too few."""
    for window, fewest in zip(COUNTING_WINDOWS, FEWEST_SAMPLES, strict=True):
        count = counts.get(window, 0)
        if count >= fewest:
            return window / count
    return None


def rate_window(intervals: Iterable[float]) -> int:
    """Return whole seconds for `rate()` that hold at least four scrapes of nine engines in ten.

    One window serves all engines; the slowest tenth is left out so that one flaky target does not make it long.
    """
    known = sorted(intervals)
    if not known:
        return DEFAULT_WINDOW
    slow = known[ceil(_SLOWEST_SHARE * len(known)) - 1]
    return min(LONGEST_WINDOW, max(SHORTEST_WINDOW, ceil(SCRAPES_IN_WINDOW * slow)))
