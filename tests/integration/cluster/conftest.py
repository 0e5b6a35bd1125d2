"""The cluster adapter on a real API server."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from tests.integration.cluster.bodies import deployment
from tests.integration.cluster.kubeconfig import Kubeconfigs
from tests.integration.cluster.proxy import Proxy

from specdec_operator.adapters.cluster import KubernetesCluster, Timings
from specdec_operator.ports import Key

Kubectl = Callable[..., str]
Connect = Callable[..., Awaitable[KubernetesCluster]]

ROOT = Path(__file__).parents[3]
FAST = Timings(read=10.0, write=10.0, pause_first=0.05, pause_longest=0.4)


@pytest.fixture(scope="session", autouse=True, name="crds")
def _crds(kubectl: Kubectl) -> None:
    """Install both CRDs and wait until they are served."""
    kubectl("apply", "--server-side", "--force-conflicts", "-f", str(ROOT / "crds"))
    kubectl("wait", "--for=condition=Established", "--timeout=60s", "-f", str(ROOT / "crds"))


@pytest.fixture(name="kubeconfigs")
def _kubeconfigs(tmp_path: Path) -> Kubeconfigs:
    """Return a writer of kubeconfigs."""
    return Kubeconfigs(tmp_path)


@pytest.fixture(name="connect")
async def _connect() -> AsyncIterator[Connect]:
    """Return a function that connects, with short pauses; everything is closed after the test."""
    async with AsyncExitStack() as stack:

        async def connect(timings: Timings = FAST, **arguments: object) -> KubernetesCluster:
            cluster = await KubernetesCluster.connect(timings=timings, **arguments)  # type: ignore[arg-type]
            stack.push_async_callback(cluster.close)
            return cluster

        yield connect


@pytest.fixture(name="cluster")
async def _cluster(connect: Connect, cluster_namespace: str) -> KubernetesCluster:
    """Return the adapter, bound to the test's namespace."""
    return await connect(namespaces=[cluster_namespace])


@pytest.fixture(name="key")
def _key(cluster_namespace: str) -> Key:
    """Return the name of the test's object."""
    return Key(cluster_namespace, "llama")


@pytest.fixture(name="owner")
def _owner(kubectl: Kubectl, key: Key) -> str:
    """Create the test's SpecDecDeployment and return its uid."""
    kubectl("apply", "-f", "-", input=json.dumps(deployment(*key)))
    return kubectl("-n", key.namespace, "get", "sdd", key.name, "-o", "jsonpath={.metadata.uid}")


@pytest.fixture(name="proxy")
async def _proxy(kubeconfigs: Kubeconfigs) -> AsyncIterator[Proxy]:
    """Return an open proxy to the API server."""
    proxy = Proxy(*kubeconfigs.server)
    await proxy.open()
    yield proxy
    await proxy.close()


@pytest.fixture(name="second_namespace")
def _second_namespace(kubectl: Kubectl, cluster_namespace: str) -> Iterator[str]:
    """Return another namespace."""
    name = f"{cluster_namespace}-b"
    kubectl("create", "namespace", name)
    yield name
    kubectl("delete", "namespace", name, "--wait=false")


class Seen:
    """The keys that a watch gave."""

    def __init__(self) -> None:
        self.keys: list[Key] = []

    async def until(self, condition: Callable[[], bool], seconds: float = 15.0) -> None:
        """Wait until something is true."""
        async with asyncio.timeout(seconds):
            while not condition():  # noqa: ASYNC110 - the condition is anything
                await asyncio.sleep(0.02)


@asynccontextmanager
async def watching(cluster: KubernetesCluster, *, synced: bool = True) -> AsyncIterator[Seen]:
    """Watch in the background; a defect of the watch fails the test."""
    seen = Seen()

    async def collect() -> None:
        async for key in cluster.watch_children():
            seen.keys.append(key)

    task = asyncio.create_task(collect())
    try:
        if synced:
            await asyncio.wait_for(cluster.wait_synced(), 15)
        yield seen
        if task.done():
            await task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
