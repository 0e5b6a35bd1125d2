"""The system clock."""

import time

from specdec_operator.adapters.clock import SystemClock


def test_the_clock_tells_unix_seconds() -> None:
    """Neither monotonic nor local time."""
    before = time.time()
    assert before <= SystemClock().now() <= time.time()
