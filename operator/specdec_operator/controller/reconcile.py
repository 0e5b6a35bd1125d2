"""One pass over one object: read, work out, carry out, report.

A pass first looks at what the watches last saw. Only where that asks for a write or a step, where a pod drains, or
where the children were not verified yet, it reads everything live and works it out again: nothing is ever done on the
word of a cache.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace

from specdec_operator.api.conditions import Reason
from specdec_operator.controller.apply import StepTaker, write_children
from specdec_operator.controller.children import digests, leftovers
from specdec_operator.controller.errors import outcome
from specdec_operator.controller.gaps import lost_at
from specdec_operator.controller.memory import Hindrance, Memory, Trouble, Verified
from specdec_operator.controller.notices import Notice, notices
from specdec_operator.controller.observe import Observer
from specdec_operator.controller.snapshot import Snapshot
from specdec_operator.controller.store import ObjectStore
from specdec_operator.controller.telling import tell
from specdec_operator.controller.times import rfc3339
from specdec_operator.controller.work import Work, work_out
from specdec_operator.policy.signals import Reading, Unavailable
from specdec_operator.ports import Clock, Cluster, ClusterError, ClusterEvent, EngineProbe, Failure, Key
from specdec_operator.telemetry.metrics import Metrics

logger = logging.getLogger(__name__)

NAME_TAKEN_RECHECK = 60.0
"""Seconds until a name that is taken is looked up again: the watch does not see other people's objects."""
LEFTOVER_RECHECK = 2.0
"""The same for children of an object of this name that was deleted: the garbage collector is at work."""
WATCH_LAG = 5.0
"""Seconds within which the watch tells of children that were just made."""
STEP_PAUSE = 1.0
"""Seconds after a write until the next pass at the latest; what it causes usually wakes the object before."""
_LASTING = {Failure.INVALID: Reason.INVALID_SPEC, Failure.FORBIDDEN: Reason.FORBIDDEN}
"""Refusals that trying again does not end, with the reason that status gives."""


class Reconciler:
    """Works on one object at a time; several workers may use it with different keys.

    Attributes:
        reading: the last reading of the metrics; the ticker replaces it.
    """

    def __init__(  # noqa: PLR0913 - the ports
        self,
        *,
        cluster: Cluster,
        store: ObjectStore,
        probe: EngineProbe,
        clock: Clock,
        metrics: Metrics,
        maximum_concurrent_switches: int = 2,
    ) -> None:
        self.reading: Reading | Unavailable = Unavailable(Reason.NOT_SCRAPED_YET, "Metrics were not read yet.")
        self._cluster = cluster
        self._store = store
        self._metrics = metrics
        self._memories: dict[Key, Memory] = {}
        self._observer = Observer(
            cluster=cluster,
            store=store,
            probe=probe,
            clock=clock,
            latest=lambda: self.reading,
            recall=self._recall,
            maximum_concurrent_switches=maximum_concurrent_switches,
        )

    async def reconcile(self, key: Key) -> float | None:
        """Do one pass; return the seconds until the next one at the latest, None to leave that to the resync.

        Raises:
            ClusterError: when the API server refused or did not answer; nothing is lost, the pass can be repeated.
        """
        snapshot = self._observer.look(key)
        work = work_out(snapshot) if snapshot is not None else None
        if snapshot is not None and work is not None and not _is_at_rest(snapshot, work):
            snapshot, work = await self._create(snapshot) if snapshot.is_new else await self._act(key)
        if snapshot is None or work is None:
            self.forget(key)
            return None
        self._memories[key] = _remembered(snapshot, work)
        tell(self._metrics, snapshot, work)
        return work.look_again

    async def _create(self, snapshot: Snapshot) -> tuple[Snapshot | None, Work | None]:
        """Work on an object that nobody has worked on before, as the watch has just told of it.

        Nothing can be disturbed: the API server refuses to create what is there, and to write a status over a change.
        """
        try:
            return await self._do(replace(snapshot, live=True))
        except ClusterError as error:
            if error.failure is not Failure.CONFLICT:
                raise
        return await self._act(snapshot.key)

    async def _act(self, key: Key) -> tuple[Snapshot | None, Work | None]:
        """Read everything live, work it out again, and do it."""
        snapshot = await self._observer.read(key)
        return (None, None) if snapshot is None else await self._do(snapshot)

    async def _do(self, snapshot: Snapshot) -> tuple[Snapshot, Work]:
        snapshot, work = await self._carry_out(snapshot, work_out(snapshot))
        await self._report(snapshot, work)
        return snapshot, work

    def knows(self, key: Key) -> bool:
        """Say whether the object was there at its last pass."""
        return key in self._memories

    def forget(self, key: Key) -> None:
        """Drop everything that is remembered of an object that is gone, or may be."""
        memory = self._memories.pop(key, None)
        if memory is not None:
            self._observer.forget(memory.uid)
        self._metrics.forget(*key)

    def distrust(self, key: Key) -> None:
        """Make the next pass read everything live: a write may have arrived or not, or the cache is behind."""
        memory = self._memories.get(key)
        if memory is not None:
            self._memories[key] = replace(memory, verified=None)

    async def _carry_out(self, snapshot: Snapshot, work: Work) -> tuple[Snapshot, Work]:
        """Act on a live snapshot; return it with what is remembered of it now, and what there is to report."""
        try:
            made = await write_children(self._cluster, work.children)
            await StepTaker(self._cluster, snapshot).take(work.steps)
        except ClusterError as error:
            if error.failure not in _LASTING:
                raise
            hindered = _with_hindrance(snapshot, error)
            return hindered, work_out(hindered)
        if work.children or work.steps:
            work = replace(work, look_again=min(work.look_again or STEP_PAUSE, STEP_PAUSE))
        return _with_verdict(snapshot, work, made), work

    async def _report(self, snapshot: Snapshot, work: Work) -> None:
        """Write the status if it is worth it, and only then tell what has happened."""
        if not work.status_changed:
            return
        key, metadata = snapshot.key, snapshot.metadata
        starts = work.course is not None and work.course.switches
        with self._store.reserving(key, switch=starts):
            status = work.status.model_dump(mode="json", by_alias=True, exclude_none=True)
            body = await self._cluster.write_status(key, metadata.uid, metadata.resource_version, status)
            self._store.put(key, body)
        self._metrics.status_writes.inc()
        await self._tell(snapshot, notices(snapshot.status, work.status))

    async def _tell(self, snapshot: Snapshot, told: Sequence[Notice]) -> None:
        key, uid = snapshot.key, snapshot.metadata.uid
        for notice in told:
            extra = {"object": f"{key.namespace}/{key.name}", "reason": notice.reason.value}
            logger.info("%s", notice.message, extra=extra)
        events = (ClusterEvent(key, uid, notice.type, notice.reason, notice.message) for notice in told)
        await asyncio.gather(*(self._cluster.emit(event) for event in events))

    def _recall(self, key: Key, uid: str) -> Memory | None:
        memory = self._memories.get(key)
        if memory is not None and memory.uid != uid:
            self._observer.forget(memory.uid)
            return None
        return memory


def _is_at_rest(snapshot: Snapshot, work: Work) -> bool:
    """Say whether what the watches last saw asks for no look at the API server itself."""
    return not work.is_due and not snapshot.draining and _is_verified(snapshot, work)


def _is_verified(snapshot: Snapshot, work: Work) -> bool:
    """Say whether the children were read live saying what they are to say, and have not changed since."""
    known = snapshot.memory.verified
    if work.target is None:
        return True
    if known is None or known.generation != snapshot.metadata.generation:
        return False
    seen = digests(snapshot.children)
    if snapshot.now - known.at < WATCH_LAG:
        seen = {**known.digests, **seen}
    return (known.spec_hash, known.target, known.digests) == (snapshot.spec_hash, work.target, seen)


def _with_hindrance(snapshot: Snapshot, error: ClusterError) -> Snapshot:
    known = snapshot.memory.hindrance
    attempt = known.attempt + 1 if known is not None and known.generation == snapshot.metadata.generation else 0
    until = snapshot.now + outcome(error, attempt).requeue_after
    text = f"The API server refused a write: {error} Next try at {rfc3339(until)}, or when the spec changes."
    hindrance = Hindrance(Trouble(_LASTING[error.failure], text), snapshot.metadata.generation, until, attempt)
    return replace(snapshot, memory=replace(snapshot.memory, hindrance=hindrance))


def _with_verdict(snapshot: Snapshot, work: Work, made: dict[str, str]) -> Snapshot:
    """Remember what the children say now, or why they could not be touched."""
    memory, generation = snapshot.memory, snapshot.metadata.generation
    if work.trouble is not None and work.trouble.reason is Reason.NAME_TAKEN:
        wait = LEFTOVER_RECHECK if leftovers(snapshot.children, snapshot.metadata.uid) else NAME_TAKEN_RECHECK
        hindrance = Hindrance(work.trouble, generation, snapshot.now + wait)
        return replace(snapshot, memory=replace(memory, hindrance=hindrance, verified=None))
    if work.target is None:
        return snapshot
    known = {**digests(snapshot.children), **made}
    verified = Verified(generation, snapshot.spec_hash, work.target, known, at=snapshot.now)
    return replace(snapshot, memory=replace(memory, hindrance=None, verified=verified))


def _remembered(snapshot: Snapshot, work: Work) -> Memory:
    policy = work.course.decision.memory if work.course is not None else snapshot.memory.policy
    return replace(snapshot.memory, policy=policy, metrics_lost_at=lost_at(snapshot))
