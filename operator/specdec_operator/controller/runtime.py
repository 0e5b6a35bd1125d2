"""All loops of the operator, put together: what one of them dies of ends the process, and the kubelet restarts it."""

import asyncio
import logging
import signal
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from specdec_operator.controller.configuration import OperatorConfiguration
from specdec_operator.controller.handlers import build_registry, watch
from specdec_operator.controller.queue import WorkQueue
from specdec_operator.controller.reconcile import Reconciler
from specdec_operator.controller.settings import SILENCE_SECONDS
from specdec_operator.controller.store import ObjectStore
from specdec_operator.controller.ticker import Ticker
from specdec_operator.controller.workers import PASS_SECONDS, WORKERS, Worker
from specdec_operator.ports import Clock, Cluster, ClusterError, EngineProbe, JsonObject, Key, MetricsSource
from specdec_operator.telemetry.health import Health, Pulse, build_application, serve
from specdec_operator.telemetry.metrics import Metrics

logger = logging.getLogger(__name__)

CHILD_SILENCE_SECONDS = 900.0
"""With no list, event or bookmark for this long, a watch of the children counts as dead; bookmarks come each minute."""


class ChildWatch(Protocol):
    """How one watch of the children is doing."""

    @property
    def last_activity(self) -> float:
        """Unix seconds of its last sign of life, 0 before the first."""


class WatchedCluster(Cluster, Protocol):
    """A cluster that says how its watches are doing."""

    async def list_deployments(self) -> list[JsonObject]:
        """Read all SpecDecDeployments that are served."""

    @property
    def synced(self) -> bool:
        """Say whether everything was listed once."""

    async def wait_synced(self) -> None:
        """Wait until it was."""

    @property
    def watches(self) -> tuple[ChildWatch, ...]:
        """Return the watches of the children."""


SERVED_POLL_SECONDS = 2.0
LAST_PASS_SECONDS = 10.0
"""How long passes that have begun may take when the process ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """What the operator is connected to."""

    cluster: WatchedCluster
    source: MetricsSource
    probe: EngineProbe
    clock: Clock


@dataclass(slots=True)
class Operator:
    """One operator process. `run` may be called once."""

    configuration: OperatorConfiguration
    ports: Ports
    metrics: Metrics = field(default_factory=Metrics)
    health: Health = field(default_factory=Health)
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    """Set it to end `run`; SIGTERM and SIGINT do the same."""
    _store: ObjectStore = field(default_factory=ObjectStore)
    _queue: WorkQueue[Key] = field(default_factory=WorkQueue)
    _reconciler: Reconciler = field(init=False)

    def __post_init__(self) -> None:
        """Put the parts together."""
        self._reconciler = Reconciler(
            cluster=self.ports.cluster,
            store=self._store,
            probe=self.ports.probe,
            clock=self.ports.clock,
            metrics=self.metrics,
            maximum_concurrent_switches=self.configuration.maximum_concurrent_switches,
        )

    async def run(self) -> None:
        """Run until stopped.

        Raises:
            Exception: what a loop died of.
        """
        self.metrics.queue_depth.set_function(lambda: len(self._queue))
        self.metrics.objects.set_function(lambda: len(self._store))
        server = await serve(build_application(self.health, self.metrics), self.configuration.http_port)
        self._take_signals()
        ticker = self._ticker()
        workers = [asyncio.ensure_future(loop) for loop in self._workers(ticker)]
        watchers = (self.stop.wait(), self._objects(), self._children(), ticker.run())
        loops = [asyncio.ensure_future(loop) for loop in watchers]
        try:
            await first_to_end((*loops, *workers))
            if not self.stop.is_set():
                raise RuntimeError("a loop ended that never should")
        finally:
            self._queue.close()
            if ticker.has_read.is_set() and self.ports.cluster.synced:
                await asyncio.wait(workers, timeout=LAST_PASS_SECONDS)
            for loop in (*loops, *workers):
                loop.cancel()
            await asyncio.gather(*loops, *workers, return_exceptions=True)
            await server.cleanup()

    def _take_signals(self) -> None:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                asyncio.get_running_loop().add_signal_handler(number, self.stop.set)

    def _pulse(self, name: str, limit: float) -> Callable[[], None]:
        pulse = Pulse(name, limit, self.ports.clock)
        self.health.alive.append(pulse.problem)
        return pulse.beat

    async def _objects(self) -> None:
        """Watch the objects; what the watch says comes from a thread of its own."""
        await self._until_served()
        loop, namespaces = asyncio.get_running_loop(), self.configuration.namespaces
        registry = build_registry(
            seen=lambda key, body: call_in(loop, self._seen, key, body),
            beat=self._pulse("watch of SpecDecDeployments", SILENCE_SECONDS),
        )
        await watch(registry, namespaces)

    async def _until_served(self) -> None:
        """Wait until the API server serves the kind and lets us list it: the watch would never notice later."""
        missing = ["SpecDecDeployments cannot be listed yet"]
        self.health.ready.append(lambda: missing[0] if missing else None)
        while missing:
            try:
                await self.ports.cluster.list_deployments()
            except ClusterError as error:
                logger.warning("waiting for the kind SpecDecDeployment, is its CRD installed? %s", error)
                await asyncio.sleep(SERVED_POLL_SECONDS)
            else:
                missing.clear()

    def _seen(self, key: Key, body: JsonObject | None) -> None:
        if body is None:
            self._store.remove(key)
        else:
            self._store.put(key, body)
        self._queue.add(key)

    async def _children(self) -> None:
        self.health.alive.append(self._silent_watch)
        self.health.ready.append(lambda: None if self.ports.cluster.synced else "children are not listed yet")
        async for key in self.ports.cluster.watch_children():
            self._queue.add(key)

    def _silent_watch(self) -> str | None:
        now = self.ports.clock.now()
        silent = [
            watch for watch in self.ports.cluster.watches if 0 < watch.last_activity < now - CHILD_SILENCE_SECONDS
        ]
        return f"{len(silent)} watches of children are silent" if silent else None

    def _workers(self, ticker: Ticker) -> list[Awaitable[None]]:
        worker = Worker(
            queue=self._queue,
            reconciler=self._reconciler,
            metrics=self.metrics,
            clock=self.ports.clock,
            resync_seconds=self.configuration.resync_seconds,
        )
        self.health.alive.append(self._idle_workers)
        return [self._when_informed(ticker, worker.run) for _ in range(WORKERS)]

    def _idle_workers(self) -> str | None:
        waited = self._queue.oldest()
        return f"workers: an object has waited for {waited:.0f} s" if waited > 2 * PASS_SECONDS else None

    async def _when_informed(self, ticker: Ticker, run: Callable[[], Awaitable[None]]) -> None:
        """Start to work only when children and metrics were read: else a new process would find everything changed."""
        await self.ports.cluster.wait_synced()
        await ticker.has_read.wait()
        await run()

    def _ticker(self) -> Ticker:
        seconds = self.configuration.tick_seconds
        return Ticker(
            source=self.ports.source,
            store=self._store,
            queue=self._queue,
            reconciler=self._reconciler,
            clock=self.ports.clock,
            metrics=self.metrics,
            seconds=seconds,
            beat=self._pulse("ticker", 10 * seconds + 60),
            namespaces=self.configuration.namespaces,
        )


def call_in(loop: asyncio.AbstractEventLoop, job: Callable[..., None], *arguments: object) -> None:
    """Call something in another thread's event loop; a loop that has ended needs it no more."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(job, *arguments)


async def first_to_end(loops: Sequence[asyncio.Future[Any]]) -> None:
    """Wait until one of the loops ends, and raise what it died of."""
    done, _ = await asyncio.wait(loops, return_when=asyncio.FIRST_COMPLETED)
    for loop in done:
        loop.result()
