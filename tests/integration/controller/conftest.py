"""The controller on a real API server and controller manager, with a node by hand."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.integration.controller.api import Api, Body
from tests.integration.controller.hand_node import SCHEDULER, HandNode
from tests.integration.controller.process import FastClock, Running, start

ROOT = Path(__file__).parents[3]
Kubectl = Callable[..., str]
Start = Callable[..., Awaitable[Running]]
Eventually = Callable[..., Awaitable[Any]]

EAGLE = {"name": "eagle3", "method": "eagle3", "model": "org/eagle3", "numSpeculativeTokens": 3}
NGRAM = {"name": "ngram", "method": "ngram", "numSpeculativeTokens": 4, "options": {"prompt_lookup_max": 5}}


@pytest.fixture(scope="session", autouse=True, name="crds")
def _crds(kubectl: Kubectl) -> None:
    """Install both CRDs and wait until they are served."""
    kubectl("apply", "--server-side", "--force-conflicts", "-f", str(ROOT / "crds"))
    kubectl("wait", "--for=condition=Established", "--timeout=60s", "-f", str(ROOT / "crds"))


@pytest.fixture(name="clock")
def _clock() -> FastClock:
    """A clock that lets a drain of five seconds pass in a quarter of a second."""
    return FastClock(speed=20.0)


@pytest.fixture(name="api")
async def _api() -> AsyncIterator[Api]:
    """A user's connection to the API server."""
    api = Api()
    await api.open()
    yield api
    await api.close()


@pytest.fixture(name="node")
async def _node(api: Api, cluster_namespace: str, clock: FastClock) -> AsyncIterator[HandNode]:
    """A node that runs the pods of the test's namespace."""
    node = HandNode(api, cluster_namespace, clock)
    await node.open()
    yield node
    await node.close()


@pytest.fixture(name="run")
async def _run(clock: FastClock, cluster_namespace: str) -> AsyncIterator[Start]:
    """Start operators for the test's namespace; all of them end with the test."""
    async with AsyncExitStack() as stack:

        async def run(*namespaces: str, **options: Any) -> Running:
            running = await start(clock, *(namespaces or (cluster_namespace,)), **options)
            stack.push_async_callback(_stop, running)
            return running

        yield run


async def _stop(running: Running) -> None:
    if not running.task.done():
        await running.stop()


@pytest.fixture(name="second_namespace")
def _second_namespace(kubectl: Kubectl, cluster_namespace: str) -> Iterator[str]:
    """Another namespace."""
    name = f"{cluster_namespace}-b"
    kubectl("create", "namespace", name)
    yield name
    kubectl("delete", "namespace", name, "--wait=false")


async def eventually(look: Callable[[], Awaitable[Any]], *, seconds: float = 20.0) -> Any:
    """Return the first true value that `look` gives, or fail with the last one."""
    value: Any = None
    try:
        async with asyncio.timeout(seconds):
            while not (value := await look()):  # noqa: ASYNC110 - only asking tells
                await asyncio.sleep(0.05)
    except TimeoutError:
        pytest.fail(f"not within {seconds} s; last: {value!r}")
    return value


def deployment(namespace: str, name: str = "llama", *, replicas: int = 2, **spec: Any) -> Body:
    """Return an object whose pods the node by hand runs."""
    return {
        "apiVersion": "specdec.dev/v1alpha1",
        "kind": "SpecDecDeployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "model": {"name": "org/model"},
            "engine": {"version": "0.32.0"},
            "replicas": replicas,
            "pod": {"schedulerName": SCHEDULER},
            "speculation": {"methods": [EAGLE, NGRAM]},
            **spec,
        },
    }


def condition(body: Body | None, kind: str) -> Body:
    """Return one condition of an object, an empty one where it has none."""
    conditions = ((body or {}).get("status") or {}).get("conditions") or []
    return next((each for each in conditions if each["type"] == kind), {"status": "", "reason": "", "message": ""})


def dump(body: Any) -> str:
    """Return an object for a failed assertion."""
    return json.dumps(body, indent=1)


class Watcher:
    """Looks at one object again and again."""

    def __init__(self, api: Api, namespace: str, name: str = "llama") -> None:
        self.api, self.namespace, self.name = api, namespace, name

    async def get(self) -> Body:
        """Return the object."""
        body = await self.api.get("sdd", self.namespace, self.name)
        assert body is not None
        return body

    async def until(self, kind: str, status: str, reason: str | None = None, *, seconds: float = 30.0) -> Body:
        """Wait until a condition says this about the present generation; return the object."""

        async def look() -> Body | None:
            body = await self.api.get("sdd", self.namespace, self.name)
            found = condition(body, kind)
            fits = found["status"] == status and reason in {None, found["reason"]}
            current = body is not None and found.get("observedGeneration") == body["metadata"]["generation"]
            return body if fits and current else None

        try:
            async with asyncio.timeout(seconds):
                while (body := await look()) is None:  # noqa: ASYNC110 - only asking tells
                    await asyncio.sleep(0.05)
        except TimeoutError:
            pytest.fail(f"{kind} is not {status}/{reason}: {dump((await self.get()).get('status'))}")
        return body
