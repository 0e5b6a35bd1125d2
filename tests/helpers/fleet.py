"""One SpecDecDeployment on a real cluster, driven as a user would: kubectl and HTTP."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from hack.load.dial import Dial, DialledLoad
from hack.load.records import Record, Summary
from hack.load.runner import run_load

from specdec_operator.__about__ import __version__

Body = dict[str, Any]
Kubectl = Callable[..., str]

# A weak accelerator: eagle3 (K = 3, acceptance length 2.4) breaks even at 16 running requests.
PHYSICS = {
    "SIMULATOR_STEP_SECONDS": "0.04",
    "SIMULATOR_TOKEN_SECONDS": "0.0015",
    "SIMULATOR_FREE_TOKENS": "32",
    "SIMULATOR_DRAFT_COST": "0.06",
    "SIMULATOR_ACCEPTANCE_LENGTH": "2.4",
    "SIMULATOR_STARTUP_SECONDS": "2",
}
BREAK_EVEN = 16
EAGLE: Body = {
    "name": "eagle3",
    "method": "eagle3",
    "model": "yuhuili/EAGLE3-LLaMA3.1-Instruct-8B",
    "numSpeculativeTokens": 3,
    "breakEvenConcurrency": BREAK_EVEN,
}
QUICK: Body = {
    "trigger": "Threshold",
    "disableAfter": "15s",
    "enableAfter": "15s",
    "minimumDwell": "15s",
    "maximumSwitchesPerDay": 10,
}


def simulated(name: str, namespace: str, *, env: Body | None = None, **spec: Any) -> Body:
    """Return an object whose engines are simulators; `spec` replaces its top-level fields."""
    values = PHYSICS | (env or {})
    return {
        "apiVersion": "specdec.dev/v1alpha1",
        "kind": "SpecDecDeployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "model": {"name": "meta-llama/Llama-3.1-8B-Instruct"},
            "engine": {
                "version": "0.32.0",
                "image": f"specdec.dev/vllm-simulator:{__version__}",
                "accelerator": {"count": 0},
                "env": [{"name": key, "value": value} for key, value in values.items()],
            },
            "replicas": 2,
            "pod": {"terminationGracePeriodSeconds": 60},
            "speculation": {"methods": [EAGLE], "policy": QUICK},
            **spec,
        },
    }


@dataclass(slots=True)
class Loaded:
    """Clients at work; the summary is there when they have ended."""

    dial: Dial
    records: list[Record] = field(default_factory=list)
    summary: Summary | None = None


@dataclass(frozen=True, slots=True)
class Fleet:
    """The object and its pods."""

    kubectl: Kubectl
    namespace: str
    name: str

    def apply(self, body: Body) -> str:
        """Apply as `kubectl apply -f` does."""
        return self.kubectl("apply", "-f", "-", input=json.dumps(body))

    def body(self) -> Body:
        """Return the whole object."""
        body: Body = json.loads(self.kubectl("get", "sdd", self.name, "-n", self.namespace, "-o", "json"))
        return body

    def status(self) -> Body:
        """Return its status, empty while there is none."""
        status: Body = self.body().get("status", {})
        return status

    def condition(self, kind: str) -> Body:
        """Return one condition, empty while there is none."""
        return next((c for c in self.status().get("conditions", ()) if c["type"] == kind), {})

    def is_ready(self) -> bool:
        """Say whether every replica is ready and the object says so."""
        body = self.body()
        status = body.get("status", {})
        ready = next((c for c in status.get("conditions", ()) if c["type"] == "Ready"), {})
        return ready.get("status") == "True" and status.get("readyReplicas") == body["spec"]["replicas"]

    def runs(self, method: str) -> bool:
        """Say whether all engines run this method and nothing is on its way."""
        status = self.status()
        return status.get("active", {}).get("method") == method and "rollout" not in status

    def pods(self) -> list[Body]:
        """Return the pods in order of their names."""
        label = f"specdec.dev/deployment={self.name}"
        items = json.loads(self.kubectl("get", "pods", "-n", self.namespace, "-l", label, "-o", "json"))["items"]
        return sorted(items, key=lambda pod: str(pod["metadata"]["name"]))

    def places(self) -> list[tuple[str, str, str]]:
        """Return uid, node and address of each pod."""
        return [
            (pod["metadata"]["uid"], pod["spec"].get("nodeName", ""), pod["status"].get("podIP", ""))
            for pod in self.pods()
        ]

    def restarts(self) -> list[int]:
        """Return how often each engine was started again."""
        return [pod["status"]["containerStatuses"][0]["restartCount"] for pod in self.pods()]

    def url(self) -> str:
        """Return the address of the Service."""
        service = json.loads(self.kubectl("get", "service", self.name, "-n", self.namespace, "-o", "json"))
        return f"http://{service['spec']['clusterIP']}:{service['spec']['ports'][0]['port']}"

    @asynccontextmanager
    async def loaded(self, clients: float, *, max_tokens: tuple[int, int] = (200, 450)) -> AsyncIterator[Loaded]:
        """Keep so many streaming clients busy, each request on a connection of its own, until the block ends."""
        loaded = Loaded(Dial(clients))
        load = DialledLoad(url=self.url(), phases=(), dial=loaded.dial, max_tokens=max_tokens)
        task = asyncio.create_task(run_load(load, sink=loaded.records.append))
        try:
            yield loaded
        finally:
            loaded.dial.stopped = True
            loaded.summary = await task


def wait_for_calm(fleet: Fleet, seconds: float, limit: float) -> None:
    """Wait until the object was not written for so long.

    Raises:
        AssertionError: it was written again and again until the limit.
    """
    deadline, since, last = time.monotonic() + limit, time.monotonic(), ""
    while time.monotonic() - since < seconds:
        version = fleet.body()["metadata"]["resourceVersion"]
        if version != last:
            since, last = time.monotonic(), version
        assert time.monotonic() < deadline, f"{fleet.name} is written again and again"
        time.sleep(1)
