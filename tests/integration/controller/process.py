"""The operator, running: in this process with metrics by hand, or as the process that users start."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from specdec_operator.adapters.cluster import KubernetesCluster
from specdec_operator.api.conditions import Reason
from specdec_operator.controller.configuration import OperatorConfiguration
from specdec_operator.controller.runtime import Operator, Ports
from specdec_operator.policy.signals import EngineSample, Reading, Unavailable
from specdec_operator.ports import ClusterEvent, JsonObject, Key, PodPatch


@dataclass
class FastClock:
    """A clock that runs `speed` times as fast as the real one, from now on."""

    speed: float = 1.0
    _start: float = field(default_factory=time.time)

    def now(self) -> float:
        """Return Unix seconds."""
        return self._start + (time.time() - self._start) * self.speed


@dataclass
class HandSource:
    """Metrics by hand: the same concurrency for every pod of `pods`; None for a source that does not answer."""

    clock: FastClock
    concurrency: float | None = None
    pods: set[tuple[str, str]] = field(default_factory=set)
    speculating: bool = True

    async def read(self, namespaces: frozenset[str]) -> Reading | Unavailable:
        """Return the numbers that were set."""
        del namespaces
        if self.concurrency is None:
            return Unavailable(Reason.SOURCE_UNREACHABLE, "Prometheus cannot be reached.")
        now = self.clock.now()
        engines = {pod: (self._sample(pod[1], now),) for pod in self.pods}
        return Reading(taken_at=now, scrape_interval=1.0, window=2.0, engines=engines)

    def _sample(self, pod: str, now: float) -> EngineSample:
        drafts = 100.0 if self.speculating else None
        return EngineSample(
            pod=pod,
            engine="0",
            sampled_at=now,
            running=self.concurrency or 0.0,
            waiting=0.0,
            generation_tokens=1000.0,
            drafts=drafts,
            drafted=drafts and drafts * 3,
            accepted=drafts and drafts * 1.5,
        )


@dataclass
class HandProbe:
    """Answers for the engines: by default nobody has a request."""

    in_flight: float | None = 0.0
    asked: int = 0

    async def requests_in_flight(self, address: str, port: int) -> float | None:
        """Return the number that was set."""
        del address, port
        self.asked += 1
        return self.in_flight


class RecordingCluster(KubernetesCluster):
    """The real cluster; it remembers what was written, as (verb, kind)."""

    writes: list[tuple[str, str]]

    async def create(self, body: JsonObject) -> JsonObject:
        """Create an object."""
        self.writes.append(("create", body["kind"]))
        return await super().create(body)

    async def apply(self, body: JsonObject) -> JsonObject:
        """Apply an object."""
        self.writes.append(("apply", body["kind"]))
        return await super().apply(body)

    async def patch_pod(self, patch: PodPatch) -> JsonObject:
        """Patch a pod."""
        self.writes.append(("patch", "Pod"))
        return await super().patch_pod(patch)

    async def annotate_budget(self, budget: JsonObject, annotations: Mapping[str, str]) -> JsonObject:
        """Annotate the budget."""
        self.writes.append(("patch", "PodDisruptionBudget"))
        return await super().annotate_budget(budget, annotations)

    async def delete_pod(self, namespace: str, name: str, uid: str, *, force: bool = False) -> None:
        """Delete a pod."""
        self.writes.append(("delete", "Pod"))
        await super().delete_pod(namespace, name, uid, force=force)

    async def write_status(self, key: Key, uid: str, resource_version: str, status: JsonObject) -> JsonObject:
        """Write a status."""
        self.writes.append(("status", key.name))
        return await super().write_status(key, uid, resource_version, status)

    async def emit(self, event: ClusterEvent) -> None:
        """Record an event."""
        self.writes.append(("event", event.reason.value))
        await super().emit(event)


@dataclass
class Running:
    """An operator in this event loop."""

    operator: Operator
    cluster: RecordingCluster
    source: HandSource
    probe: HandProbe
    clock: FastClock
    task: asyncio.Task[None]

    @property
    def writes(self) -> list[tuple[str, str]]:
        """What it has written so far."""
        return self.cluster.writes

    async def kill(self) -> None:
        """End it in the middle of whatever it does."""
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)
        await self.cluster.close()

    async def stop(self) -> None:
        """End it as SIGTERM does, and raise what it died of."""
        self.operator.stop.set()
        try:
            await self.task
        finally:
            await self.cluster.close()


async def start(clock: FastClock, *namespaces: str, source: HandSource | None = None, **configured: object) -> Running:
    """Start an operator for some namespaces and wait until it is ready."""
    cluster = await RecordingCluster.connect(namespaces=namespaces)
    cluster.writes = []
    source = source or HandSource(clock)
    probe = HandProbe()
    settings = {"namespaces": namespaces, "httpPort": 0, "tickSeconds": 1, "resyncSeconds": 10, **configured}
    configuration = OperatorConfiguration.model_validate(settings)
    operator = Operator(configuration, Ports(cluster=cluster, source=source, probe=probe, clock=clock))
    task = asyncio.create_task(operator.run())
    running = Running(operator, cluster, source, probe, clock, task)
    async with asyncio.timeout(20):
        while not cluster.synced:
            if task.done():
                task.result()
            await asyncio.sleep(0.02)
    return running
