"""Watching: nothing is missed, whatever happens to the connection."""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.integration.cluster.bodies import budget, deployment, labels, service, stateful_set
from tests.integration.cluster.conftest import FAST, Connect, watching
from tests.integration.cluster.kubeconfig import Kubeconfigs
from tests.integration.cluster.proxy import Proxy

from specdec_operator.adapters.cluster import KubernetesCluster, Timings, reflector
from specdec_operator.adapters.cluster.kinds import DEPLOYMENT
from specdec_operator.api.names import SERVING_LABEL
from specdec_operator.ports import Key, PodPatch

Kubectl = Callable[..., str]


def _port(cluster: KubernetesCluster, key: Key) -> int | None:
    """Return the port of the Service in the cache."""
    cached = cluster.cached_children(key).service
    return cached["spec"]["ports"][0]["port"] if cached else None


@pytest.fixture(name="through_proxy")
def _through_proxy(connect: Connect, kubeconfigs: Kubeconfigs, proxy: Proxy, cluster_namespace: str) -> Connect:
    """Return a function that connects through the proxy and watches the test's namespace."""

    async def connect_through_proxy(timings: Timings = FAST) -> KubernetesCluster:
        return await connect(timings, kubeconfig=kubeconfigs.through(proxy.port), namespaces=[cluster_namespace])

    return connect_through_proxy


async def test_all_children_are_seen(cluster: KubernetesCluster, key: Key, owner: str) -> None:
    """StatefulSet, Service, budget and the pods of the StatefulSet reach the cache, and the object is woken."""
    async with watching(cluster) as seen:
        assert seen.keys == []
        for body in (service, budget, stateful_set):
            await cluster.create(body(key.namespace, owner))

        await seen.until(lambda: len(cluster.cached_children(key).pods) == 2)

    children = cluster.cached_children(key)
    assert set(seen.keys) == {key}
    assert children.service is not None
    assert children.budget is not None
    assert children.stateful_set is not None
    assert children.stateful_set["spec"]["replicas"] == 2


async def test_what_was_there_before_wakes_its_object(cluster: KubernetesCluster, key: Key, owner: str) -> None:
    """The first list counts as a change of every object that has children."""
    await cluster.create(service(key.namespace, owner))

    async with watching(cluster) as seen:
        await seen.until(lambda: seen.keys == [key])

    assert _port(cluster, key) == 8000


async def test_changes_and_deletions_are_seen(
    cluster: KubernetesCluster, kubectl: Kubectl, key: Key, owner: str
) -> None:
    """A label that leaves a pod, and a Service that is deleted, wake the object."""
    await cluster.create(stateful_set(key.namespace, owner))
    await cluster.create(service(key.namespace, owner))
    async with watching(cluster) as seen:
        await seen.until(lambda: len(cluster.cached_children(key).pods) == 2)
        read = cluster.cached_children(key).pods[0]["metadata"]
        seen.keys.clear()

        kubectl("-n", key.namespace, "label", "pod", read["name"], f"{SERVING_LABEL}-")
        await seen.until(
            lambda: any(SERVING_LABEL not in pod["metadata"]["labels"] for pod in cluster.cached_children(key).pods)
        )
        assert seen.keys
        kubectl("-n", key.namespace, "delete", "service", key.name)
        await seen.until(lambda: cluster.cached_children(key).service is None)


async def test_a_cached_pod_can_be_patched(cluster: KubernetesCluster, key: Key, owner: str) -> None:
    """The cache keeps uid and resourceVersion of the last state, also when a change woke nobody."""
    await cluster.create(stateful_set(key.namespace, owner))
    async with watching(cluster) as seen:
        await seen.until(lambda: len(cluster.cached_children(key).pods) == 2)
        live = {pod["metadata"]["uid"]: pod for pod in (await cluster.read_children(key, owner)).pods}
        await seen.until(
            lambda: all(
                pod["metadata"]["resourceVersion"] == live[pod["metadata"]["uid"]]["metadata"]["resourceVersion"]
                for pod in cluster.cached_children(key).pods
            )
        )
        read = cluster.cached_children(key).pods[0]["metadata"]

        patched = await cluster.patch_pod(
            PodPatch(read["namespace"], read["name"], read["uid"], read["resourceVersion"], {SERVING_LABEL: None})
        )

    assert SERVING_LABEL not in patched["metadata"]["labels"]


async def test_objects_without_our_label_stay_out(
    cluster: KubernetesCluster, kubectl: Kubectl, key: Key, owner: str
) -> None:
    """The server filters by label: a stranger's objects never reach the cache; losing the label is a deletion."""
    await cluster.create(service(key.namespace, owner))
    async with watching(cluster) as seen:
        await seen.until(lambda: _port(cluster, key) == 8000)
        kubectl("-n", key.namespace, "create", "service", "clusterip", "stranger", "--tcp=1234")

        kubectl("-n", key.namespace, "label", "service", key.name, "app.kubernetes.io/managed-by-")
        await seen.until(lambda: cluster.cached_children(key).service is None)

    assert len(cluster._cache) == 0


async def test_a_change_that_nobody_reads_wakes_nobody(
    cluster: KubernetesCluster, kubectl: Kubectl, key: Key, owner: str
) -> None:
    """An annotation of somebody else on a pod changes its resourceVersion and wakes nobody."""
    await cluster.create(stateful_set(key.namespace, owner))
    async with watching(cluster) as seen:
        await seen.until(lambda: len(cluster.cached_children(key).pods) == 2)
        name = cluster.cached_children(key).pods[0]["metadata"]["name"]
        await asyncio.sleep(1.0)
        seen.keys.clear()
        kubectl("-n", key.namespace, "annotate", "pod", name, "someone=else")
        version = kubectl("-n", key.namespace, "get", "pod", name, "-o", "jsonpath={.metadata.resourceVersion}")

        await seen.until(
            lambda: version in [pod["metadata"]["resourceVersion"] for pod in cluster.cached_children(key).pods]
        )
        assert seen.keys == []


async def test_only_the_given_namespaces_are_watched(
    connect: Connect, key: Key, owner: str, second_namespace: str
) -> None:
    """With a list of namespaces others stay out; with none the whole cluster is watched."""
    second = Key(second_namespace, key.name)
    one, both, everywhere = [
        await connect(namespaces=names) for names in ([key.namespace], [key.namespace, second_namespace], [])
    ]
    async with watching(one), watching(both) as seen, watching(everywhere):
        for namespace in (key.namespace, second_namespace):
            body = service(namespace, owner)
            # An owner in another namespace would make the garbage collector delete it.
            del body["metadata"]["ownerReferences"]
            await one.create(body)
        await seen.until(lambda: _port(both, second) == _port(everywhere, second) == _port(one, key) == 8000)

        assert _port(one, second) is None
        assert (len(one.watches), len(both.watches), len(everywhere.watches)) == (4, 8, 4)


async def test_a_long_list_comes_in_pages(
    cluster: KubernetesCluster, key: Key, owner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list of more than one page is complete."""
    monkeypatch.setattr(reflector, "PAGE", 2)
    names = [f"llama-{number}" for number in range(5)]
    for name in names:
        await cluster.create(service(key.namespace, owner, name))

    async with watching(cluster) as seen:
        await seen.until(lambda: len(seen.keys) == 5)

    assert {found.name for found in seen.keys} == set(names)


async def test_a_cut_connection_loses_nothing(
    through_proxy: Connect, proxy: Proxy, cluster: KubernetesCluster, key: Key, owner: str
) -> None:
    """What happens while the connection is away is seen when it is back, from the last resourceVersion on."""
    watcher = await through_proxy()
    async with watching(watcher) as seen:
        await proxy.close()
        await cluster.create(service(key.namespace, owner))
        await seen.until(lambda: all("connection failed" in watch.message for watch in watcher.watches))
        await proxy.open()

        await seen.until(lambda: _port(watcher, key) == 8000)
        await seen.until(lambda: seen.keys == [key])
        await seen.until(lambda: not any(watch.message for watch in watcher.watches))


async def test_many_cuts_lose_nothing(
    through_proxy: Connect, proxy: Proxy, cluster: KubernetesCluster, key: Key, owner: str
) -> None:
    """Cutting the connections while objects come and go leaves the cache equal to the server."""
    watcher = await through_proxy()
    async with watching(watcher) as seen:
        for number in range(20):
            await cluster.create(service(key.namespace, owner, f"llama-{number}"))
            proxy.cut()

        names = [Key(key.namespace, f"llama-{number}") for number in range(20)]
        await seen.until(lambda: all(watcher.cached_children(name).service for name in names))


async def test_a_silent_connection_is_replaced(
    through_proxy: Connect, proxy: Proxy, cluster: KubernetesCluster, key: Key, owner: str
) -> None:
    """A connection on which nothing comes any more counts as dead after a while."""
    timings = replace(FAST, inactivity=1.0)
    watcher = await through_proxy(timings)
    async with watching(watcher) as seen:
        proxy.hang()
        await cluster.create(service(key.namespace, owner))
        await seen.until(lambda: any("no answer in time" in watch.message for watch in watcher.watches))
        proxy.cut()
        proxy.flow()

        await seen.until(lambda: _port(watcher, key) == 8000)


async def test_the_server_may_end_a_watch_any_time(connect: Connect, key: Key, owner: str) -> None:
    """Watches that the server ends after a second go on from where they were."""
    watcher = await connect(replace(FAST, watch=1.0), namespaces=[key.namespace])
    async with watching(watcher) as seen:
        await asyncio.sleep(2.5)
        await watcher.create(service(key.namespace, owner))
        await seen.until(lambda: _port(watcher, key) == 8000)
        await asyncio.sleep(2.5)

    assert set(seen.keys) == {key}


async def test_an_expired_version_is_followed_by_a_list(
    through_proxy: Connect, kubectl: Kubectl, proxy: Proxy, key: Key, owner: str
) -> None:
    """A 410 of the server leads to a new list; what it lacks leaves the cache, what it has wakes its object."""
    watcher = await through_proxy()
    listed = deployment(key.namespace, "listed")
    listed["metadata"]["labels"] = labels("listed")
    async with watching(watcher) as seen:
        await watcher.create(service(key.namespace, owner))
        await seen.until(lambda: _port(watcher, key) == 8000)
        kubectl("apply", "-f", "-", input=json.dumps(listed))
        watch = watcher._reflectors[1]
        # Of a kind younger than the API server's process the first versions are expired for sure.
        watch._path, watch._version = DEPLOYMENT.collection(key.namespace), "1"
        proxy.cut()

        await seen.until(lambda: Key(key.namespace, "listed") in seen.keys)

    assert watcher.cached_children(key).service is None
    assert watch._version != "1"


async def test_a_forbidden_watch_waits_for_the_right(
    connect: Connect, kubectl: Kubectl, kubeconfigs: Kubeconfigs, key: Key
) -> None:
    """Without the right to list, the state says what is missing; once it is granted, the watch goes on by itself."""
    account = f"--serviceaccount={key.namespace}:watcher"
    kubectl("-n", key.namespace, "create", "serviceaccount", "watcher")
    token = kubectl("-n", key.namespace, "create", "token", "watcher").strip()
    watcher = await connect(kubeconfig=kubeconfigs.with_user("watcher", token=token), namespaces=[key.namespace])

    async with watching(watcher, synced=False) as seen:
        await seen.until(lambda: all("cannot list resource" in watch.message for watch in watcher.watches))
        assert not watcher.synced
        resources = "statefulsets.apps,services,pods,poddisruptionbudgets.policy"
        kubectl("-n", key.namespace, "create", "role", "watcher", "--verb=list,watch", f"--resource={resources}")
        kubectl("-n", key.namespace, "create", "rolebinding", "watcher", "--role=watcher", account)

        await asyncio.wait_for(watcher.wait_synced(), 15)


async def test_the_state_of_the_watches_is_told(cluster: KubernetesCluster, key: Key) -> None:
    """Each watch tells its kind, its namespace, that it is synced and when it last heard something."""
    assert (cluster.synced, cluster.watches) == (False, ())
    async with watching(cluster):
        assert cluster.synced
        assert {watch.namespace for watch in cluster.watches} == {key.namespace}
        assert len({watch.kind for watch in cluster.watches}) == 4
        assert all(0 <= time.time() - watch.last_activity < 15 for watch in cluster.watches)


async def test_a_defect_of_a_watch_reaches_the_consumer(
    cluster: KubernetesCluster, key: Key, owner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A programming error in one of the watches ends the whole watch loudly."""

    def broken(*_arguments: object) -> None:
        raise RuntimeError("a defect")

    monkeypatch.setattr(reflector, "trim", broken)
    await cluster.create(service(key.namespace, owner))

    with pytest.raises(RuntimeError, match="a defect"):
        async for _ in cluster.watch_children():
            pass


async def test_closing_the_watch_leaves_no_task(cluster: KubernetesCluster, key: Key, owner: str) -> None:
    """Ending the iteration ends all four watches."""
    await cluster.create(service(key.namespace, owner))
    before = asyncio.all_tasks()
    keys = cluster.watch_children()

    assert await anext(keys) == key
    await keys.aclose()  # type: ignore[attr-defined]

    assert asyncio.all_tasks() == before
