"""Runs a load: clients come and go as the phases say, and every request leaves a record."""

import asyncio
import itertools
import random
import time
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from hack.load.plan import Connections, Load, PlanError
from hack.load.records import Outcome, Record, Summary, Timeline, summarise
from hack.load.stream import Result, body_of, stream

TICK_SECONDS = 0.1
# Below the 5 s after which vLLM closes an idle connection: no request is sent into a closing one.
KEEP_ALIVE_SECONDS = 3.0


def stopwatch() -> Callable[[], float]:
    """A clock that starts at 0 now."""
    start = time.monotonic()
    return lambda: time.monotonic() - start


async def run_load(
    load: Load, *, sink: Callable[[Record], None] | None = None, timeline: Timeline | None = None
) -> Summary:
    """Run all phases and wait for the last streams.

    `sink` gets each record as its request ends; `timeline` (its clock at 0 now) can be read meanwhile.

    Raises:
        PlanError: no model is named and the server does not answer with one.
    """
    timeline = timeline or Timeline(clock=stopwatch())
    async with aiohttp.ClientSession(connector=_connector(load), timeout=_timeout(load)) as session:
        model = load.model or await first_model(session, load.url)
        run = Run(load=load, model=model, session=session, timeline=timeline, sink=sink)
        return await run.all()


async def first_model(session: aiohttp.ClientSession, url: str) -> str:
    """The first model that the server names.

    Raises:
        PlanError: there is none.
    """
    try:
        async with session.get(url.rstrip("/") + "/v1/models") as response:
            return str((await response.json())["data"][0]["id"])
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError, LookupError, TypeError) as error:
        raise PlanError(f"{url}/v1/models names no model ({error}); give the model's name") from error


def _connector(load: Load) -> aiohttp.TCPConnector:
    if load.connections is Connections.POOLED:
        return aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE_SECONDS)
    return aiohttp.TCPConnector(limit=0, force_close=True, use_dns_cache=False)


def _timeout(load: Load) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=None, sock_connect=load.connect_timeout, sock_read=load.stall_timeout)


@dataclass(slots=True, kw_only=True)
class Run:
    """A load while it runs."""

    load: Load
    model: str
    session: aiohttp.ClientSession
    timeline: Timeline
    sink: Callable[[Record], None] | None
    errors: Counter[str] = field(default_factory=Counter)
    _tasks: set[asyncio.Task[object]] = field(default_factory=set)
    _clients: set[int] = field(default_factory=set)
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)
    _sent: int = 0
    _wanted: int = 0
    _rng: random.Random = field(init=False)

    def __post_init__(self) -> None:
        """Seed what is drawn."""
        self._rng = random.Random(self.load.seed)  # noqa: S311 - reproducible load, no secrets

    async def all(self) -> Summary:
        """All phases, then the end of the last streams."""
        start, arrivals = self.timeline.clock(), 0.0
        while (now := self.load.phase_at(self.timeline.clock() - start)) and self._sent < self.load.max_requests:
            phase, elapsed = now
            value = phase.at(elapsed)
            self.timeline.offered[int(self.timeline.clock())] = value
            self._wanted = 0 if phase.open_loop else round(value)
            self._fill()
            if phase.open_loop:
                arrivals = self._arrive(arrivals + value * TICK_SECONDS)
            await asyncio.sleep(TICK_SECONDS)
        self._wanted = 0
        await self._finish()
        return summarise(self.timeline, self.errors)

    def _fill(self) -> None:
        for client in range(self._wanted):
            if client not in self._clients:
                self._clients.add(client)
                self._start(self._client(client))

    def _arrive(self, due: float) -> float:
        """Start the requests that are due and keep the fraction."""
        while due >= 1.0:
            due -= 1.0
            if self.timeline.in_flight < self.load.max_in_flight:
                self._start(self._request(-1))
            else:
                self.errors["not sent: too many in flight"] += 1
        return due

    def _start(self, work: Coroutine[Any, Any, object]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _client(self, number: int) -> None:
        """One request after the other while this client is wanted; the last one may end in peace."""
        try:
            while number < self._wanted and self._sent < self.load.max_requests:
                outcome = await self._request(number)
                if outcome is not Outcome.COMPLETE:
                    await asyncio.sleep(self.load.retry_pause)
        finally:
            self._clients.discard(number)

    async def _request(self, client: int) -> Outcome:
        self._sent += 1
        number, asked = next(self._numbers), self._rng.randint(*self.load.max_tokens)
        result, start = Result(), self.timeline.clock()
        self.timeline.enter()
        try:
            await stream(self.session, self.load, body_of(self.load, self.model, asked), self.timeline, result)
        finally:
            self._note(number, client, asked, start, result)
        return result.outcome

    def _note(self, number: int, client: int, asked: int, start: float, result: Result) -> None:
        self.timeline.leave(result.outcome)
        if result.error:
            self.errors[result.error] += 1
        if self.sink:
            self.sink(
                Record(
                    number=number,
                    client=client,
                    start=start,
                    first_token=result.first_token,
                    end=self.timeline.clock(),
                    tokens=result.tokens,
                    asked=asked,
                    status=result.status,
                    outcome=result.outcome,
                    error=result.error,
                )
            )

    async def _finish(self) -> None:
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=self.load.finish_timeout)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
