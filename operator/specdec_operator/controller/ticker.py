"""The clock of the metrics: read once for all objects, then wake them."""

import asyncio
import logging
from collections.abc import Callable, Sequence

from specdec_operator.api.conditions import Reason
from specdec_operator.controller.queue import WorkQueue
from specdec_operator.controller.reconcile import Reconciler
from specdec_operator.controller.store import ObjectStore
from specdec_operator.policy.signals import Reading, Unavailable
from specdec_operator.ports import Clock, Key, MetricsSource
from specdec_operator.telemetry.metrics import Metrics

logger = logging.getLogger(__name__)


class NoMetricsSource:
    """Stands for a Prometheus that nobody configured."""

    async def read(self, namespaces: frozenset[str]) -> Reading | Unavailable:  # noqa: ARG002 - the port's signature
        """Say that there is none."""
        text = "No Prometheus is configured; give the operator's configuration a prometheus.url."
        return Unavailable(Reason.SOURCE_UNREACHABLE, text)


class Ticker:
    """Reads the metrics every `seconds` and wakes every object.

    The first reading is of all namespaces that are served (`namespaces`, empty for all), because the objects may not be
    listed yet.

    Attributes:
        has_read: set after the first reading, whatever it gave. Passes wait for it: else a new process would report
            that metrics are missing, and take it back a moment later.
    """

    def __init__(  # noqa: PLR0913 - the ports
        self,
        *,
        source: MetricsSource,
        store: ObjectStore,
        queue: WorkQueue[Key],
        reconciler: Reconciler,
        clock: Clock,
        metrics: Metrics,
        seconds: float,
        beat: Callable[[], None],
        namespaces: Sequence[str] = (),
    ) -> None:
        self._source = source
        self._store = store
        self._queue = queue
        self._reconciler = reconciler
        self._clock = clock
        self._metrics = metrics
        self._seconds = seconds
        self._beat = beat
        self._namespaces = frozenset(namespaces)
        self.has_read = asyncio.Event()

    async def run(self) -> None:
        """Tick until cancelled; a slow source makes a tick late, never two at once."""
        loop = asyncio.get_running_loop()
        while True:
            started = loop.time()
            await self.tick()
            self._metrics.tick_seconds.observe(loop.time() - started)
            self._beat()
            await asyncio.sleep(max(0.0, started + self._seconds - loop.time()))

    async def tick(self) -> None:
        """Read once and wake."""
        namespaces = self._store.namespaces() if self.has_read.is_set() else self._namespaces
        if self.has_read.is_set() and not namespaces:
            return
        reading = await self._source.read(namespaces)
        if isinstance(reading, Unavailable) and reading != self._reconciler.reading:
            logger.warning("no metrics: %s", reading.message, extra={"reason": reading.reason.value})
        self._reconciler.reading = reading
        self.has_read.set()
        self._metrics.last_tick.set(self._clock.now())
        for key in self._store:
            self._queue.nudge(key)
