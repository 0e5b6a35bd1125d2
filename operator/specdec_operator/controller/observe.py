"""Read one object with everything that a pass depends on: from what the watches last saw, or live."""

import asyncio
from collections.abc import Callable, Mapping

from specdec_operator.controller.memory import Memory, memory_from
from specdec_operator.controller.pods import is_draining
from specdec_operator.controller.snapshot import Sight, Snapshot, build_snapshot
from specdec_operator.controller.store import ObjectStore
from specdec_operator.controller.understanding import Understandings
from specdec_operator.engine.render import PORT
from specdec_operator.policy.signals import Reading, Unavailable
from specdec_operator.ports import Children, Clock, Cluster, EngineProbe, JsonObject, Key

LatestReading = Callable[[], Reading | Unavailable]
Recall = Callable[[Key, str], Memory | None]
"""Returns what is remembered of the object with this uid, None when nothing is."""


class Observer:
    """Makes snapshots."""

    def __init__(  # noqa: PLR0913 - the ports
        self,
        *,
        cluster: Cluster,
        store: ObjectStore,
        probe: EngineProbe,
        clock: Clock,
        latest: LatestReading,
        recall: Recall,
        maximum_concurrent_switches: int,
    ) -> None:
        self._cluster = cluster
        self._store = store
        self._probe = probe
        self._clock = clock
        self._latest = latest
        self._recall = recall
        self._maximum_concurrent_switches = maximum_concurrent_switches
        self._understandings = Understandings()

    def look(self, key: Key) -> Snapshot | None:
        """Return the object as the watches last saw it, None when it is gone or going."""
        body = self._store.get(key)
        if body is None or _is_going(body):
            return None
        return self._build(key, body, self._cluster.cached_children(key), live=False)

    async def read(self, key: Key) -> Snapshot | None:
        """Return the object as the API server has it now, None when it is gone or going.

        Raises:
            ClusterError: when the API server did not answer.
        """
        body = await self._cluster.read_deployment(key)
        if body is None or _is_going(body):
            return None
        children = await self._cluster.read_children(key, body["metadata"]["uid"])
        return self._build(key, body, children, live=True, requests=await self._ask(children))

    def forget(self, uid: str) -> None:
        """Drop what is known of an object that is gone."""
        self._understandings.forget(uid)

    def _build(
        self,
        key: Key,
        body: JsonObject,
        children: Children,
        *,
        live: bool,
        requests: Mapping[str, float | None] | None = None,
    ) -> Snapshot:
        understanding, status = self._understandings.of(body)
        sight = Sight(
            now=self._clock.now(),
            understanding=understanding,
            status=status,
            live=live,
            reading=self._latest(),
            requests=requests or {},
            switching_elsewhere=self._store.switching_elsewhere(key),
            maximum_concurrent_switches=self._maximum_concurrent_switches,
        )
        uid = body["metadata"]["uid"]
        memory = self._recall(key, uid) or memory_from(uid, status)
        return build_snapshot(body, children, memory=memory, sight=sight)

    async def _ask(self, children: Children) -> dict[str, float | None]:
        """Ask the pods that drain how many requests they have: metrics would be a scrape and a window late."""
        addresses = {
            pod["metadata"]["name"]: pod["status"]["podIP"]
            for pod in children.pods
            if is_draining(pod) and (pod.get("status") or {}).get("podIP")
        }
        answers = await asyncio.gather(*(self._probe.requests_in_flight(ip, PORT) for ip in addresses.values()))
        return dict(zip(addresses, answers, strict=True))


def _is_going(body: JsonObject) -> bool:
    return body["metadata"].get("deletionTimestamp") is not None
