"""The system clock."""

import time


class SystemClock:
    """Time as the machine tells it; satisfies `ports.Clock`."""

    def now(self) -> float:
        """Return Unix seconds."""
        return time.time()
