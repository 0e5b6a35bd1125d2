"""Where one HTTP request waits for the tokens of its sequences."""

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from vllm_simulator.sequence import Finish


class Delivery(NamedTuple):
    """New tokens of one choice."""

    choice: int
    tokens: int
    reason: Finish | None


class Inbox:
    """Deliveries since the last look; a slow reader finds several at once instead of holding the engine up."""

    def __init__(self) -> None:
        """Nothing delivered, nobody waiting."""
        self._deliveries: list[Delivery] = []
        self._failure: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None

    def slot(self, choice: int) -> Callable[[int, Finish | None], None]:
        """What the engine calls for one choice."""

        def deliver(tokens: int, reason: Finish | None) -> None:
            self._deliveries.append(Delivery(choice, tokens, reason))
            self._wake()

        return deliver

    def fail(self, failure: Exception) -> None:
        """Let `take` raise this once all deliveries are taken; the first failure stands."""
        self._failure = self._failure or failure
        self._wake()

    async def take(self) -> list[Delivery]:
        """Wait until there is something, and take all of it."""
        while not self._deliveries:
            if self._failure:
                raise self._failure
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        taken, self._deliveries = self._deliveries, []
        return taken

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
