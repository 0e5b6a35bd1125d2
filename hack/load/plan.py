"""What load to make: phases of clients or of arrivals, and what each request asks."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

_PHASE = re.compile(
    r"(?P<seconds>\d+(?:\.\d+)?)s?:(?P<rate>r?)(?P<first>\d+(?:\.\d+)?)(?:\.\.(?P<last>\d+(?:\.\d+)?))?"
)


class PlanError(ValueError):
    """The description of a load means nothing; the message says what to write instead."""


class Connections(StrEnum):
    """How clients connect."""

    PER_REQUEST = "per-request"
    POOLED = "pooled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """Some seconds of load, rising or falling evenly from `first` to `last`.

    The load is a number of clients that each send one request after the other or, with `open_loop`, a number of
    requests a second that arrive whether or not earlier ones are answered.
    """

    seconds: float
    first: float
    last: float
    open_loop: bool = False

    def at(self, elapsed: float) -> float:
        """The load after so many seconds of this phase."""
        return self.first + (self.last - self.first) * min(max(elapsed / self.seconds, 0.0), 1.0)


def steady(seconds: float, clients: float) -> Phase:
    """A phase with the same number of clients throughout."""
    return Phase(seconds=seconds, first=clients, last=clients)


def read_phases(text: str) -> tuple[Phase, ...]:
    """Read `SECONDS:CLIENTS,...`; `1..32` in place of a number is a ramp, `r2.5` is 2.5 requests a second.

    Raises:
        PlanError: a part is not of that form, or lasts no time.
    """
    return tuple(_phase(part.strip()) for part in text.split(","))


def _phase(part: str) -> Phase:
    match = _PHASE.fullmatch(part)
    if not match or float(match["seconds"]) <= 0:
        raise PlanError(f"phase {part!r} must be SECONDS:CLIENTS, like 30:8, 60:1..32 or 30:r2.5")
    first = float(match["first"])
    last = float(match["last"] or match["first"])
    return Phase(seconds=float(match["seconds"]), first=first, last=last, open_loop=bool(match["rate"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """One run of load. Times are seconds."""

    url: str
    """Up to the port, without a path."""
    phases: Sequence[Phase]
    model: str = ""
    """Empty: the first one that the server names."""
    max_tokens: tuple[int, int] = (256, 256)
    """Each request asks for a number of tokens drawn from this range, both ends included."""
    prompt: str = "Say how speculative decoding works, at length."
    chat: bool = False
    connections: Connections = Connections.PER_REQUEST
    seed: int = 0
    connect_timeout: float = 10.0
    stall_timeout: float = 60.0
    """A stream that says nothing for this long counts as cut; a request without an answer, as failed."""
    finish_timeout: float = 120.0
    """After the last phase, streams may end by themselves for this long; then they are stopped and count as neither."""
    retry_pause: float = 0.5
    """A client waits this long after a failure, so that a server that is away is not flooded."""
    max_requests: int = 100_000
    max_in_flight: int = 2_048

    @property
    def seconds(self) -> float:
        """Length of all phases."""
        return sum(phase.seconds for phase in self.phases)

    def phase_at(self, elapsed: float) -> tuple[Phase, float] | None:
        """The phase at a time, with the seconds spent in it; None when all are over."""
        for phase in self.phases:
            if elapsed < phase.seconds:
                return phase, elapsed
            elapsed -= phase.seconds
        return None
