"""Keys that wait for the consumer of the watch: each at most once, however often it changed."""

import asyncio
from collections.abc import Iterable

from specdec_operator.ports import Key


class PendingKeys:
    """A queue in which a key that already waits is not added again, so that a slow consumer bounds it."""

    def __init__(self) -> None:
        self._keys: dict[Key, None] = {}
        self._filled = asyncio.Event()
        self._error: BaseException | None = None

    def put(self, keys: Iterable[Key]) -> None:
        """Add keys."""
        self._keys.update(dict.fromkeys(keys))
        if self._keys:
            self._filled.set()

    def fail(self, error: BaseException) -> None:
        """Make the consumer raise this error."""
        self._error = error
        self._filled.set()

    async def get(self) -> Key:
        """Return the key that waits longest."""
        await self._filled.wait()
        if self._error is not None:
            raise self._error
        key = next(iter(self._keys))
        del self._keys[key]
        if not self._keys:
            self._filled.clear()
        return key
