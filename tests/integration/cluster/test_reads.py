"""Reading live: what is ours, what is not, and what is not there."""

import json
from collections.abc import Callable

from tests.integration.cluster.bodies import deployment, labels, service, stateful_set
from tests.integration.cluster.conftest import Connect

from specdec_operator.adapters.cluster import KubernetesCluster, is_ours
from specdec_operator.ports import Children, Key

Kubectl = Callable[..., str]
STRANGER = "11111111-1111-1111-1111-111111111111"


async def test_nothing_there_is_none(cluster: KubernetesCluster, key: Key) -> None:
    """An object and children that do not exist are no error."""
    assert await cluster.read_deployment(key) is None
    assert await cluster.read_children(key, STRANGER) == Children()


async def test_the_object_is_read_whole(cluster: KubernetesCluster, key: Key, owner: str) -> None:
    """Spec, labels and annotations come as they were written."""
    body = await cluster.read_deployment(key)

    assert body is not None
    assert body["metadata"]["uid"] == owner
    assert body["spec"]["engine"] == {"version": "0.32.0"}


async def test_an_object_of_somebody_else_is_returned_and_not_ours(
    cluster: KubernetesCluster, kubectl: Kubectl, key: Key, owner: str
) -> None:
    """A StatefulSet that took the name is returned, so that it can be named; its pods are not."""
    body = stateful_set(key.namespace, owner)
    del body["metadata"]["ownerReferences"]
    kubectl("apply", "-f", "-", input=json.dumps(body))
    kubectl("-n", key.namespace, "wait", f"statefulset/{key.name}", "--for=jsonpath={.status.replicas}=2")

    children = await cluster.read_children(key, owner)

    assert children.stateful_set is not None
    assert not is_ours(children.stateful_set, owner)
    assert children.pods == ()


async def test_a_pod_with_our_label_alone_is_not_ours(
    cluster: KubernetesCluster, kubectl: Kubectl, key: Key, owner: str
) -> None:
    """Pods count by their owner, not by their label."""
    await cluster.create(stateful_set(key.namespace, owner))
    kubectl("-n", key.namespace, "wait", f"statefulset/{key.name}", "--for=jsonpath={.status.replicas}=2")
    stray = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "stray", "namespace": key.namespace, "labels": labels(key.name)},
        "spec": {"containers": [{"name": "c", "image": "nothing.invalid/c:1"}]},
    }
    kubectl("apply", "-f", "-", input=json.dumps(stray))

    pods = (await cluster.read_children(key, owner)).pods

    # A StatefulSet adopts pods by label only when their name is one of its own.
    assert sorted(pod["metadata"]["name"] for pod in pods) == [f"{key.name}-0", f"{key.name}-1"]
    assert {pod["kind"] for pod in pods} == {"Pod"}


async def test_objects_are_listed_where_we_watch(
    connect: Connect, kubectl: Kubectl, key: Key, owner: str, second_namespace: str
) -> None:
    """One namespace, two namespaces, or the whole cluster."""
    kubectl("apply", "-f", "-", input=json.dumps(deployment(second_namespace, "other")))

    async def listed(*namespaces: str) -> set[Key]:
        bodies = await (await connect(namespaces=namespaces)).list_deployments()
        return {Key(body["metadata"]["namespace"], body["metadata"]["name"]) for body in bodies}

    other = Key(second_namespace, "other")
    assert await listed(key.namespace) == {key}
    assert await listed(key.namespace, second_namespace) == {key, other}
    assert {key, other} <= await listed()


async def test_children_of_the_same_name_in_another_namespace_are_apart(
    connect: Connect, key: Key, owner: str, second_namespace: str
) -> None:
    """The same name in two namespaces is two objects."""
    cluster = await connect()
    await cluster.create(service(key.namespace, owner))

    assert (await cluster.read_children(Key(second_namespace, key.name), owner)).service is None
