"""A node by hand: what a kubelet would say about the operator's pods, without containers.

It binds the pods of one namespace to a node of its own, starts their "engine", says Ready, starts it anew when the
pod's config changes (as the liveness probe makes a real kubelet do), and ends pods that are deleted.
"""

import asyncio
import contextlib
import itertools
from dataclasses import dataclass
from typing import Any

from tests.integration.controller.api import Api

from specdec_operator.api.names import CONFIG_ANNOTATION, ENGINE_CONTAINER, METHOD_ANNOTATION
from specdec_operator.controller.times import rfc3339
from specdec_operator.ports import Clock, ClusterError

SCHEDULER = "by-hand"
"""Put into `spec.pod.schedulerName` so that no real scheduler touches the pods."""
_numbers = itertools.count(1)


@dataclass
class Engine:
    """The engine of one pod."""

    config: str
    container: str
    started_at: float
    restarts: int = 0
    crashed: bool = False
    ready: bool = False
    ready_at: float = 0.0


class HandNode:
    """One node that exists in the API only.

    Attributes:
        broken: methods whose engine ends at once.
        start_seconds: how long an engine takes to become Ready, in the clock's seconds.
        unready: names of pods that are kept from being Ready.
        history: method of each engine start, by pod, in order.
    """

    def __init__(self, api: Api, namespace: str, clock: Clock) -> None:
        self.broken: set[str] = set()
        self.unready: set[str] = set()
        self.start_seconds = 2.0
        self.history: dict[str, list[str]] = {}
        self.engines: dict[str, Engine] = {}
        self._api, self._namespace, self._clock = api, namespace, clock
        self._name = f"hand-{namespace}"
        self._lease_at = 0.0
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Register the node and begin to act."""
        with contextlib.suppress(ClusterError):
            await self._api.send("POST", "/api/v1/nodes", body=self._node())
        self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Leave, and let the namespace's pods go."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        for pod in await self._api.list("pod", self._namespace):
            await self._api.delete("pod", self._namespace, pod["metadata"]["name"], grace=0)
        with contextlib.suppress(ClusterError):
            await self._api.send("DELETE", f"/api/v1/nodes/{self._name}")

    async def _run(self) -> None:
        while True:
            with contextlib.suppress(ClusterError):
                await self._beat()
                for pod in await self._api.list("pod", self._namespace):
                    await self._tend(pod)
            await asyncio.sleep(0.05)

    async def _tend(self, pod: dict[str, Any]) -> None:
        metadata = pod["metadata"]
        if metadata.get("deletionTimestamp"):
            self.engines.pop(metadata["uid"], None)
            await self._api.delete("pod", self._namespace, metadata["name"], grace=0)
            return
        if not pod["spec"].get("nodeName"):
            await self._bind(metadata["name"])
            return
        change = self._live(pod)
        if change is not None:
            await self._api.patch("pod", self._namespace, metadata["name"], {"status": change}, part="status")

    def _live(self, pod: dict[str, Any]) -> dict[str, Any] | None:
        """Let time pass for one engine; return its pod's new status, None when nothing changed."""
        metadata, now = pod["metadata"], self._clock.now()
        config, method = (metadata["annotations"][name] for name in (CONFIG_ANNOTATION, METHOD_ANNOTATION))
        engine = self.engines.get(metadata["uid"])
        changed = engine is None or engine.config != config
        if engine is None:
            engine = Engine(config, f"hand://{next(_numbers)}", now, ready_at=now)
        elif changed:
            engine = Engine(config, f"hand://{next(_numbers)}", now, restarts=engine.restarts + 1, ready_at=now)
        self.engines[metadata["uid"]] = engine
        if changed:
            self.history.setdefault(metadata["name"], []).append(method)
        broken = method in self.broken
        if broken and not engine.crashed:
            engine.crashed, engine.restarts, changed = True, engine.restarts + 2, True
        ready = not broken and now - engine.started_at >= self.start_seconds
        ready = ready and metadata["name"] not in self.unready
        if ready != engine.ready:
            engine.ready, engine.ready_at, changed = ready, now, True
        return _status(engine) if changed else None

    async def _bind(self, name: str) -> None:
        target = {"apiVersion": "v1", "kind": "Node", "name": self._name}
        body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target}
        await self._api.send("POST", f"/api/v1/namespaces/{self._namespace}/pods/{name}/binding", body=body)

    def _node(self) -> dict[str, Any]:
        metadata = {"name": self._name, "labels": {"hand": "made"}}
        taint = {"key": "hand", "value": "made", "effect": "NoSchedule"}
        return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {"taints": [taint]}}

    async def _beat(self) -> None:
        """Say that the node is alive every few seconds of real time."""
        now = asyncio.get_running_loop().time()
        if now - self._lease_at < 5:
            return
        self._lease_at = now
        condition = {"type": "Ready", "status": "True", "reason": "Hand", "message": "made by hand"}
        status = {"status": {"conditions": [condition | {"lastHeartbeatTime": rfc3339(_wall())}]}}
        await self._api.send(
            "PATCH",
            f"/api/v1/nodes/{self._name}/status",
            body=status,
            content_type="application/strategic-merge-patch+json",
        )


def _wall() -> float:
    import time

    return time.time()


def _status(engine: Engine) -> dict[str, Any]:
    ready = "True" if engine.ready else "False"
    conditions = [
        {"type": "PodScheduled", "status": "True"},
        {"type": "Ready", "status": ready, "lastTransitionTime": rfc3339(engine.ready_at)},
        {"type": "ContainersReady", "status": ready},
    ]
    running = {"running": {"startedAt": rfc3339(engine.started_at)}}
    waiting = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off restarting failed container"}}
    ended = {"terminated": {"exitCode": 1, "reason": "Error", "startedAt": rfc3339(engine.started_at)}}
    container = {
        "name": ENGINE_CONTAINER,
        "image": "none",
        "imageID": "none",
        "containerID": engine.container,
        "ready": engine.ready,
        "started": engine.ready,
        "restartCount": engine.restarts,
        "state": waiting if engine.crashed else running,
        "lastState": ended if engine.crashed else {},
    }
    return {"phase": "Running", "podIP": "127.0.0.1", "conditions": conditions, "containerStatuses": [container]}
