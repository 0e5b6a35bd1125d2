"""Load whose number of clients is turned up and down while it runs."""

import asyncio
from dataclasses import dataclass, field

from hack.load.plan import Load, Phase, steady


@dataclass(slots=True)
class Dial:
    """The number of clients wanted now."""

    clients: float = 0
    stopped: bool = False

    async def turn(self, clients: float, seconds: float) -> None:
        """Go evenly to another number of clients."""
        start, steps = self.clients, max(round(seconds * 2), 1)
        for step in range(1, steps + 1):
            self.clients = start + (clients - start) * step / steps
            await asyncio.sleep(seconds / steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class DialledLoad(Load):
    """A load that follows a dial in place of phases; it ends when the dial is stopped."""

    dial: Dial = field(default_factory=Dial)

    def phase_at(self, elapsed: float) -> tuple[Phase, float] | None:  # noqa: ARG002 - the dial knows no time
        """Return one second of what the dial says now."""
        return None if self.dial.stopped else (steady(1, self.dial.clients), 0.0)
