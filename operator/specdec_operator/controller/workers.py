"""The loops that take keys from the queue and reconcile them."""

import asyncio
import logging
import random

from specdec_operator.controller.errors import outcome
from specdec_operator.controller.queue import WorkQueue
from specdec_operator.controller.reconcile import Reconciler
from specdec_operator.ports import Clock, ClusterError, Key
from specdec_operator.telemetry.metrics import Metrics

logger = logging.getLogger(__name__)

WORKERS = 16
"""Passes at once. They wait for the API server most of the time."""
PASS_SECONDS = 120.0
"""A pass that takes longer is cut off: every call in it has a deadline of its own, so something is badly wrong."""


class Worker:
    """Reconciles one key after the other; a failure of one object never stops it."""

    def __init__(
        self,
        *,
        queue: WorkQueue[Key],
        reconciler: Reconciler,
        metrics: Metrics,
        clock: Clock,
        resync_seconds: float,
    ) -> None:
        self._queue = queue
        self._reconciler = reconciler
        self._metrics = metrics
        self._clock = clock
        self._resync_seconds = resync_seconds

    async def run(self) -> None:
        """Work until the queue is closed; a pass that has begun is finished."""
        while (key := await self._queue.get()) is not None:
            try:
                await self._pass_over(key)
            finally:
                self._queue.done(key)

    async def _pass_over(self, key: Key) -> None:
        with self._metrics.reconcile_seconds.time():
            result = await self._reconcile(key)
        self._metrics.reconciles.labels(result).inc()
        self._metrics.last_reconcile.set(self._clock.now())

    async def _reconcile(self, key: Key) -> str:
        try:
            async with asyncio.timeout(PASS_SECONDS):
                again = await self._reconciler.reconcile(key)
        except ClusterError as error:
            self._retry(key, error)
            return error.failure.value
        except Exception:
            logger.exception("a pass failed", extra={"object": f"{key.namespace}/{key.name}"})
            self._reconciler.distrust(key)
            self._queue.retry(key)
            return "Error"
        self._queue.succeeded(key)
        if self._reconciler.knows(key):
            self._queue.add_after(key, self._later(again))
        else:
            self._queue.forget(key)
        return "Done"

    def _later(self, again: float | None) -> float:
        """Return the wish of the pass, at most the resync; resyncs are spread so that they never come all at once."""
        resync = self._resync_seconds * (0.9 + random.random() / 5)  # noqa: S311 - spreads load, guards no secret
        return resync if again is None else min(again, resync)

    def _retry(self, key: Key, error: ClusterError) -> None:
        follows = outcome(error, self._queue.attempts(key), random.random())  # noqa: S311 - spreads load
        place = f"{key.namespace}/{key.name}"
        logger.log(follows.level, "%s", error, extra={"object": place, "retry_in": round(follows.requeue_after, 1)})
        if follows.forget:
            self._reconciler.forget(key)
        elif follows.refresh:
            self._reconciler.distrust(key)
        self._queue.retry(key, follows.requeue_after)
