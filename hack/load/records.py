"""What came of each request, and of all together."""

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum


class Outcome(StrEnum):
    """How a request ended."""

    COMPLETE = "complete"
    FAILED = "failed"
    """No answer of status 200."""
    CUT = "cut"
    """The stream began and did not end as promised: no `[DONE]`, an error event, or silence."""
    STOPPED = "stopped"
    """The run was over; says nothing about the server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One request. Times are seconds since the run began."""

    number: int
    client: int
    start: float
    first_token: float | None
    end: float
    tokens: int
    asked: int
    """`max_tokens` of the request."""
    status: int | None
    outcome: Outcome
    error: str | None = None

    @property
    def seconds(self) -> float:
        """From the request to the end of its answer."""
        return self.end - self.start


@dataclass(slots=True, kw_only=True)
class Timeline:
    """The run by the second, readable while it goes on.

    Tokens per second per request at second s are `tokens[s] / busy[s]`, where `busy` is the number of requests in
    flight, averaged over the second.
    """

    clock: Callable[[], float]
    """Seconds since the run began."""
    tokens: defaultdict[int, int] = field(default_factory=lambda: defaultdict(int))
    busy: defaultdict[int, float] = field(default_factory=lambda: defaultdict(float))
    offered: dict[int, float] = field(default_factory=dict)
    """Clients, or requests a second, that the plan asked for."""
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    in_flight: int = 0
    _since: float = 0.0

    def enter(self) -> None:
        """A request begins."""
        self._settle()
        self.in_flight += 1

    def leave(self, outcome: Outcome) -> None:
        """A request ended."""
        self._settle()
        self.in_flight -= 1
        self.outcomes[outcome] += 1

    def received(self, tokens: int) -> None:
        """Tokens arrived now."""
        self.tokens[int(self.clock())] += tokens

    def speed(self, first: int, last: int) -> float | None:
        """Tokens per second per request over the seconds from `first` up to, not including, `last`.

        None when no request was in flight.
        """
        self._settle()
        busy = sum(self.busy[second] for second in range(first, last))
        return sum(self.tokens[second] for second in range(first, last)) / busy if busy > 0 else None

    def _settle(self) -> None:
        """Book the time that passed at the present number of requests in flight."""
        now = self.clock()
        while self._since < now:
            second = int(self._since)
            until = min(now, second + 1.0)
            self.busy[second] += self.in_flight * (until - self._since)
            self._since = until


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A whole run."""

    requests: int
    complete: int
    failed: int
    cut: int
    stopped: int
    tokens: int
    seconds: float
    speeds: tuple[float | None, ...]
    """Tokens per second per request, for each second of the run."""
    errors: dict[str, int]
    """How often each error was seen."""

    @property
    def clean(self) -> bool:
        """True when no request failed or was cut."""
        return not self.failed and not self.cut


def summarise(timeline: Timeline, errors: Counter[str]) -> Summary:
    """The sums of a run that is over."""
    seconds = timeline.clock()
    count = timeline.outcomes
    return Summary(
        requests=count.total(),
        complete=count[Outcome.COMPLETE],
        failed=count[Outcome.FAILED],
        cut=count[Outcome.CUT],
        stopped=count[Outcome.STOPPED],
        tokens=sum(timeline.tokens.values()),
        seconds=seconds,
        speeds=tuple(timeline.speed(second, second + 1) for second in range(int(seconds))),
        errors=dict(errors.most_common(20)),
    )
