"""The keyed work queue.

It holds keys, never events: a key added ten times before a worker takes it is worked on once, and a key added
while it is being worked on is worked on once more afterwards. So no two workers ever hold the same key, a burst
costs one pass, and the last state is always looked at.
"""

import asyncio
import random
import time
from collections import deque
from typing import Generic, TypeVar

K = TypeVar("K")

BASE_DELAY = 0.5
"""Seconds before the first retry of a key that failed."""
MAXIMUM_DELAY = 120.0
"""Seconds that a retry waits at most."""


def backoff(attempt: int, *, base: float = BASE_DELAY, maximum: float = MAXIMUM_DELAY) -> float:
    """Return the delay before retry number `attempt` (from 1): doubling, bounded, spread by up to a fifth."""
    delay: float = min(maximum, base * 2 ** min(attempt - 1, 32))
    return delay * (1 + random.random() / 5)  # noqa: S311 - spreads load, guards no secret


class WorkQueue(Generic[K]):
    """Keys that wait for a worker. Belongs to one event loop; none of its methods blocks but `get`."""

    def __init__(self) -> None:
        self._order: deque[tuple[K, float]] = deque()
        self._dirty: set[K] = set()
        self._held: set[K] = set()
        self._timers: dict[K, asyncio.TimerHandle] = {}
        self._attempts: dict[K, int] = {}
        self._wakeup = asyncio.Event()
        self._closed = False

    def __len__(self) -> int:
        """Count the keys that wait now; those that wait for a later time do not count."""
        return len(self._order)

    def oldest(self) -> float:
        """Return for how many seconds the first key has waited for a worker, 0 when none waits."""
        return time.monotonic() - self._order[0][1] if self._order else 0.0

    def add(self, key: K) -> None:
        """Let a worker take the key as soon as one is free."""
        if key in self._dirty:
            return
        self._dirty.add(key)
        if key not in self._held:
            self._enqueue(key)

    def nudge(self, key: K) -> None:
        """Add the key, but not while it waits for a retry: a clock must not undercut what the API server asked for."""
        if key not in self._attempts or key not in self._timers:
            self.add(key)

    def add_after(self, key: K, delay: float) -> None:
        """Add the key after `delay` seconds; of several such wishes the earliest counts."""
        loop = asyncio.get_running_loop()
        due = loop.time() + delay
        timer = self._timers.get(key)
        if timer is not None:
            if timer.when() <= due:
                return
            timer.cancel()
        self._timers[key] = loop.call_at(due, self._due, key)

    def retry(self, key: K, delay: float | None = None) -> float:
        """Add the key after `delay` seconds, or after a back-off that grows with each retry; return the delay."""
        attempt = self._attempts[key] = self.attempts(key) + 1
        chosen = backoff(attempt) if delay is None else delay
        self.add_after(key, chosen)
        return chosen

    def attempts(self, key: K) -> int:
        """Return how often the key was retried since its last success."""
        return self._attempts.get(key, 0)

    def succeeded(self, key: K) -> None:
        """Start the back-off of this key afresh."""
        self._attempts.pop(key, None)

    def forget(self, key: K) -> None:
        """Drop what is remembered of a key whose object is gone, also its wish to be looked at later."""
        self.succeeded(key)
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()

    async def get(self) -> K | None:
        """Wait for a key and take hold of it; `done` must follow. None when the queue was closed."""
        while not self._order and not self._closed:
            self._wakeup.clear()
            await self._wakeup.wait()
        if self._closed:
            self._wakeup.set()
            return None
        key, _ = self._order.popleft()
        self._dirty.discard(key)
        self._held.add(key)
        return key

    def done(self, key: K) -> None:
        """Let go of a key; if it was added meanwhile it waits again."""
        self._held.discard(key)
        if key in self._dirty:
            self._enqueue(key)

    def close(self) -> None:
        """Hand out no further key, and cancel all timers."""
        self._closed = True
        self._wakeup.set()
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def _due(self, key: K) -> None:
        self._timers.pop(key, None)
        self.add(key)

    def _enqueue(self, key: K) -> None:
        self._order.append((key, time.monotonic()))
        self._wakeup.set()
