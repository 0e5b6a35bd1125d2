"""The port `Cluster`, on the real API server."""

import asyncio
import logging
import socket
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import partial
from typing import Self

from specdec_operator.adapters.cluster.cache import ChildCache
from specdec_operator.adapters.cluster.config import load_configuration
from specdec_operator.adapters.cluster.events import event_body
from specdec_operator.adapters.cluster.kinds import BUDGET, DEPLOYMENT, EVENT, POD, SERVICE, STATEFUL_SET, WATCHED
from specdec_operator.adapters.cluster.objects import Objects
from specdec_operator.adapters.cluster.pending import PendingKeys
from specdec_operator.adapters.cluster.reflector import Reflector, Shared, WatchHealth
from specdec_operator.adapters.cluster.timings import Timings
from specdec_operator.adapters.cluster.transport import Request, Transport
from specdec_operator.api.names import DEPLOYMENT_LABEL, FIELD_MANAGER
from specdec_operator.ports import (
    Children,
    ClusterError,
    ClusterEvent,
    Failure,
    JsonObject,
    Key,
    PodPatch,
    is_ours,
)

logger = logging.getLogger(__name__)


class KubernetesCluster:
    """Reads and writes through the API server; satisfies `ports.Cluster`.

    Attributes:
        namespaces: what is watched and listed; empty for the whole cluster.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        namespaces: Sequence[str] = (),
        instance: str = "",
        timings: Timings | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.namespaces = tuple(namespaces)
        self._transport = transport
        self._instance = instance or socket.gethostname()
        self._timings = timings or Timings()
        self._now = now
        self._objects = Objects(transport, self._timings)
        self._cache = ChildCache()
        self._reflectors: tuple[Reflector, ...] = ()
        self._synced = asyncio.Event()

    @classmethod
    async def connect(
        cls,
        *,
        kubeconfig: str | None = None,
        namespaces: Sequence[str] = (),
        instance: str = "",
        timings: Timings | None = None,
    ) -> Self:
        """Read the configuration and return a cluster; nothing is sent yet.

        Args:
            kubeconfig: a file; None for KUBECONFIG, the pod's service account or ~/.kube/config.
            namespaces: what to watch; empty for the whole cluster.
            instance: who the events come from; empty for the host's name, which in a pod is the pod's.
            timings: deadlines.

        Raises:
            ClusterConfigError: there is no usable configuration.
        """
        chosen = timings or Timings()
        transport = Transport(partial(load_configuration, kubeconfig), connect=chosen.connect)
        await transport.open()
        return cls(transport, namespaces=namespaces, instance=instance, timings=chosen)

    async def close(self) -> None:
        """End all connections."""
        await self._transport.close()

    async def read_deployment(self, key: Key) -> JsonObject | None:
        """Read the SpecDecDeployment live; None when there is none."""
        return await self._objects.read(DEPLOYMENT, key.namespace, key.name)

    async def list_deployments(self) -> list[JsonObject]:
        """Read all SpecDecDeployments of the namespaces that are watched."""
        places = self.namespaces or (None,)
        lists = await asyncio.gather(*(self._objects.list_all(DEPLOYMENT, place) for place in places))
        return [body for bodies in lists for body in bodies]

    async def read_children(self, key: Key, owner_uid: str) -> Children:
        """Read all children live, also those of the same names that are not ours (see `is_ours`)."""
        stateful_set, service, budget, pods = await asyncio.gather(
            self._objects.read(STATEFUL_SET, key.namespace, key.name),
            self._objects.read(SERVICE, key.namespace, key.name),
            self._objects.read(BUDGET, key.namespace, key.name),
            self._objects.list_all(POD, key.namespace, f"{DEPLOYMENT_LABEL}={key.name}"),
        )
        if stateful_set is None or not is_ours(stateful_set, owner_uid):
            return Children(stateful_set, service, budget)
        uid = stateful_set["metadata"]["uid"]
        return Children(stateful_set, service, budget, tuple(pod for pod in pods if is_ours(pod, uid)))

    def cached_children(self, key: Key) -> Children:
        """Return the children as the watches last saw them, trimmed (see `trim`)."""
        return self._cache.children(key)

    async def create(self, body: JsonObject) -> JsonObject:
        """Create an object; Conflict when the name is taken, Invalid also for a field that the server does not know."""
        return await self._objects.create(body)

    async def apply(self, body: JsonObject) -> JsonObject:
        """Server-side apply with our field manager; what we set before and leave out now, goes.

        Conflict when `metadata.uid` or `metadata.resourceVersion` is given and is not that of the live object.
        """
        return await self._objects.apply(body)

    async def patch_pod(self, patch: PodPatch) -> JsonObject:
        """Change labels and annotations of a pod; Conflict when it changed since it was read."""
        metadata: JsonObject = {"uid": patch.uid, "resourceVersion": patch.resource_version}
        if patch.labels:
            metadata["labels"] = dict(patch.labels)
        if patch.annotations:
            metadata["annotations"] = dict(patch.annotations)
        return await self._objects.merge(POD.item(patch.namespace, patch.name), metadata)

    async def annotate_budget(self, budget: JsonObject, annotations: Mapping[str, str]) -> JsonObject:
        """Annotate the PodDisruptionBudget, fenced by the uid and resourceVersion it was read with."""
        read = budget["metadata"]
        fence = {"uid": read["uid"], "resourceVersion": read["resourceVersion"]}
        path = BUDGET.item(read["namespace"], read["name"])
        return await self._objects.merge(path, {**fence, "annotations": dict(annotations)})

    async def delete_pod(self, namespace: str, name: str, uid: str, *, force: bool = False) -> None:
        """Delete a pod; Conflict when another one has its name by now, no error when it is gone."""
        options: JsonObject = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": uid}}
        if force:
            options["gracePeriodSeconds"] = 0
        try:
            await self._objects.write("DELETE", POD.item(namespace, name), options)
        except ClusterError as error:
            if error.failure is not Failure.NOT_FOUND:
                raise

    async def write_status(self, key: Key, uid: str, resource_version: str, status: JsonObject) -> JsonObject:
        """Replace `status`; Conflict when the object changed since it was read. Returns the new object."""
        metadata = {"name": key.name, "namespace": key.namespace, "uid": uid, "resourceVersion": resource_version}
        body = {"apiVersion": DEPLOYMENT.api_version, "kind": DEPLOYMENT.kind, "metadata": metadata, "status": status}
        path = DEPLOYMENT.item(key.namespace, key.name, "status")
        return await self._objects.write("PUT", path, body, query={"fieldManager": FIELD_MANAGER})

    async def emit(self, event: ClusterEvent) -> None:
        """Record an event; a failure is logged and never raised, the same event within a minute is dropped."""
        path = EVENT.collection(event.key.namespace)
        body = event_body(event, self._instance, self._now())
        try:
            await self._transport.send(Request(verb="POST", path=path, body=body, deadline=self._timings.emit))
        except ClusterError as error:
            if error.failure is not Failure.CONFLICT:
                logger.warning("event %s about %s/%s was not recorded: %s", event.reason.value, *event.key, error)

    @property
    def synced(self) -> bool:
        """Say whether every watch has its first list in the cache."""
        return self._synced.is_set()

    async def wait_synced(self) -> None:
        """Wait until `synced`; somebody must iterate over `watch_children`."""
        await self._synced.wait()

    @property
    def watches(self) -> tuple[WatchHealth, ...]:
        """Return how each watch is doing; empty before `watch_children` runs."""
        return tuple(reflector.health for reflector in self._reflectors)

    async def watch_children(self) -> AsyncIterator[Key]:
        """List and watch all children; yield the key of each object whose children changed. Runs until cancelled."""
        pending = PendingKeys()
        self._synced.clear()
        shared = Shared(self._transport, self._cache, pending, self._timings, self._note_sync)
        places = self.namespaces or (None,)
        self._reflectors = tuple(Reflector(kind, place, shared) for place in places for kind in WATCHED)
        tasks = [asyncio.create_task(reflector.run()) for reflector in self._reflectors]
        for task in tasks:
            task.add_done_callback(partial(_report_end, pending))
        try:
            while True:
                yield await pending.get()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _note_sync(self) -> None:
        if all(health.synced for health in self.watches):
            self._synced.set()


def _report_end(pending: PendingKeys, task: asyncio.Task[None]) -> None:
    """Hand a defect that ended a watch to the consumer: a dead watch must not look like a quiet cluster."""
    if not task.cancelled() and (error := task.exception()) is not None:
        pending.fail(error)
