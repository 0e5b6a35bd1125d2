"""Writing: fences hold, nothing of anybody else is touched, and what is left out goes."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.integration.cluster.bodies import JsonObject, budget, service, stateful_set

from specdec_operator.adapters.cluster import KubernetesCluster
from specdec_operator.api.conditions import Reason
from specdec_operator.api.names import DRAIN_ANNOTATION, SERVING_LABEL
from specdec_operator.ports import Children, ClusterError, ClusterEvent, EventType, Failure, Key, PodPatch

Kubectl = Callable[..., str]
STRANGER = "11111111-1111-1111-1111-111111111111"


def _get(kubectl: Kubectl, namespace: str, what: str) -> JsonObject:
    return json.loads(kubectl("-n", namespace, "get", what, "-o", "json"))


def _status(body: JsonObject | None) -> JsonObject:
    return (body or {}).get("status") or {}


async def _refused(call: object) -> ClusterError:
    with pytest.raises(ClusterError) as caught:
        await call  # type: ignore[misc]
    return caught.value


async def _until(cluster: KubernetesCluster, key: Key, owner: str, condition: Callable[[Children], bool]) -> Children:
    """Read until the children are as wanted."""
    async with asyncio.timeout(20):
        while not condition(children := await cluster.read_children(key, owner)):  # noqa: ASYNC110 - it reads
            await asyncio.sleep(0.1)
    return children


async def _pods(cluster: KubernetesCluster, key: Key, owner: str) -> tuple[JsonObject, ...]:
    """Create the StatefulSet and wait for its two pods."""
    await cluster.create(stateful_set(key.namespace, owner))
    children = await _until(cluster, key, owner, lambda children: len(children.pods) == 2)
    return children.pods


def _patch(pod: JsonObject) -> PodPatch:
    read = pod["metadata"]
    return PodPatch(read["namespace"], read["name"], read["uid"], read["resourceVersion"], {SERVING_LABEL: None})


async def test_a_taken_name_is_a_conflict(cluster: KubernetesCluster, key: Key, owner: str) -> None:
    """Creating never changes an object that is there."""
    theirs = service(key.namespace, owner)
    del theirs["metadata"]["ownerReferences"]
    created = await cluster.create(theirs)

    error = await _refused(cluster.create(service(key.namespace, owner)))

    assert error.failure is Failure.CONFLICT
    live = (await cluster.read_children(key, owner)).service
    assert live is not None
    assert live["metadata"]["resourceVersion"] == created["metadata"]["resourceVersion"]


async def test_unknown_fields_are_refused(cluster: KubernetesCluster, key: Key, owner: str) -> None:
    """A misspelt field is an error with its path, on create and on apply, and never dropped in silence."""
    body = service(key.namespace, owner, selectr={})

    created = await _refused(cluster.create(body))
    await cluster.create(service(key.namespace, owner))
    applied = await _refused(cluster.apply(body))

    assert (created.failure, applied.failure) == (Failure.INVALID, Failure.INVALID)
    assert "spec.selectr" in str(created)
    assert ".spec.selectr" in str(applied)


async def test_an_invalid_value_is_refused(cluster: KubernetesCluster, key: Key, owner: str) -> None:
    """A 422 names the field and is Invalid."""
    error = await _refused(cluster.create(service(key.namespace, owner, ports=[{"port": 70_000}])))

    assert (error.failure, error.status) == (Failure.INVALID, 422)
    assert "spec.ports[0].port" in str(error)


async def test_a_namespace_that_is_not_there_is_not_found(cluster: KubernetesCluster, owner: str) -> None:
    """A create in a namespace that is gone is NotFound."""
    error = await _refused(cluster.create(service("no-such-namespace", owner)))

    assert error.failure is Failure.NOT_FOUND


async def test_apply_removes_what_create_had_set(cluster: KubernetesCluster, key: Key, owner: str) -> None:
    """Fields of the create that an apply leaves out go, and a volume can change its kind."""
    variables = [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]
    container = {"name": "engine", "image": "nothing.invalid/engine:1"}
    before = {"containers": [{**container, "env": variables}], "volumes": [{"name": "cache", "emptyDir": {}}]}
    claim = {"name": "cache", "persistentVolumeClaim": {"claimName": "models"}}
    await cluster.create(stateful_set(key.namespace, owner, **before))

    after = stateful_set(key.namespace, owner, containers=[{**container, "env": variables[:1]}], volumes=[claim])
    live = await cluster.apply(after)

    pod = live["spec"]["template"]["spec"]
    assert pod["containers"][0]["env"] == variables[:1]
    assert pod["volumes"] == [claim]
    ours = [entry for entry in live["metadata"]["managedFields"] if entry["manager"] == "specdec-operator"]
    assert [entry["operation"] for entry in ours] == ["Apply"]


async def test_applying_the_same_again_changes_nothing(cluster: KubernetesCluster, key: Key, owner: str) -> None:
    """An apply that says what is there leaves the resourceVersion."""
    body = service(key.namespace, owner)
    await cluster.create(body)
    first = await cluster.apply(body)

    second = await cluster.apply(body)

    assert first["metadata"]["resourceVersion"] == second["metadata"]["resourceVersion"]


async def test_apply_takes_back_what_others_changed(
    cluster: KubernetesCluster, kubectl: Kubectl, key: Key, owner: str
) -> None:
    """A selector that somebody changed by hand comes back; a label that somebody added stays."""
    body = service(key.namespace, owner)
    created = await cluster.create(body)
    patch = {"metadata": {"labels": {"team": "x"}}, "spec": {"selector": {SERVING_LABEL: "false"}}}
    kubectl("-n", key.namespace, "patch", "service", key.name, "--type=merge", "-p", json.dumps(patch))

    live = await cluster.apply({**body, "metadata": {**body["metadata"], "uid": created["metadata"]["uid"]}})

    assert live["spec"]["selector"] == body["spec"]["selector"]
    assert live["metadata"]["labels"]["team"] == "x"


async def test_apply_with_the_version_just_created(cluster: KubernetesCluster, key: Key, owner: str) -> None:
    """The fence holds against others, not against our own bookkeeping before the first apply."""
    body = service(key.namespace, owner)
    version = (await cluster.create(body))["metadata"]["resourceVersion"]
    fenced = {**body, "metadata": {**body["metadata"], "resourceVersion": version}}
    fenced["spec"] = {**body["spec"], "ports": [{"name": "http", "port": 9000}]}

    live = await cluster.apply(fenced)

    assert [port["port"] for port in live["spec"]["ports"]] == [9000]
    assert (await _refused(cluster.apply(fenced))).failure is Failure.CONFLICT


async def test_apply_never_takes_over_a_new_object_of_the_same_name(
    cluster: KubernetesCluster, kubectl: Kubectl, key: Key, owner: str
) -> None:
    """An object that was deleted and made again by somebody else refuses the apply and stays as it is."""
    body = service(key.namespace, owner)
    uid = (await cluster.create(body))["metadata"]["uid"]
    kubectl("-n", key.namespace, "delete", "service", key.name)
    kubectl("-n", key.namespace, "create", "service", "clusterip", key.name, "--tcp=1234")
    theirs = _get(kubectl, key.namespace, f"service/{key.name}")

    error = await _refused(cluster.apply({**body, "metadata": {**body["metadata"], "uid": uid}}))

    assert error.failure is Failure.CONFLICT
    assert _get(kubectl, key.namespace, f"service/{key.name}") == theirs


async def test_apply_with_a_uid_does_not_create(cluster: KubernetesCluster, key: Key, owner: str) -> None:
    """An object that is gone is not made again by an apply that means the old one."""
    body = service(key.namespace, owner)
    body["metadata"]["uid"] = STRANGER

    assert (await _refused(cluster.apply(body))).failure is Failure.CONFLICT
    assert (await cluster.read_children(key, owner)).service is None


async def test_a_pod_leaves_its_service_in_one_patch(cluster: KubernetesCluster, key: Key, owner: str) -> None:
    """One patch removes a label and sets an annotation, and leaves everything else."""
    pod, _ = await _pods(cluster, key, owner)

    live = await cluster.patch_pod(replace(_patch(pod), annotations={DRAIN_ANNOTATION: "2026-07-01T00:00:00Z"}))

    assert set(pod["metadata"]["labels"]) - set(live["metadata"]["labels"]) == {SERVING_LABEL}
    assert live["metadata"]["annotations"][DRAIN_ANNOTATION] == "2026-07-01T00:00:00Z"


async def test_a_pod_that_changed_refuses_the_patch(
    cluster: KubernetesCluster, kubectl: Kubectl, key: Key, owner: str
) -> None:
    """A stale resourceVersion is a Conflict and nothing is written."""
    pod, _ = await _pods(cluster, key, owner)
    kubectl("-n", key.namespace, "annotate", "pod", pod["metadata"]["name"], "someone=else")

    error = await _refused(cluster.patch_pod(_patch(pod)))

    assert error.failure is Failure.CONFLICT
    live = _get(kubectl, key.namespace, f"pod/{pod['metadata']['name']}")
    assert live["metadata"]["labels"][SERVING_LABEL] == "true"


async def test_a_successor_refuses_the_patch_of_its_predecessor(
    cluster: KubernetesCluster, key: Key, owner: str
) -> None:
    """A pod with the same name and another uid is a Conflict, even with its own resourceVersion."""
    pod, _ = await _pods(cluster, key, owner)

    error = await _refused(cluster.patch_pod(replace(_patch(pod), uid=STRANGER)))

    assert error.failure is Failure.CONFLICT


async def test_deleting_needs_the_right_uid(cluster: KubernetesCluster, key: Key, owner: str) -> None:
    """The pod of another uid stays, the right one goes, and one that is gone is no error."""
    pod, other = await _pods(cluster, key, owner)
    name, uid = pod["metadata"]["name"], pod["metadata"]["uid"]

    error = await _refused(cluster.delete_pod(key.namespace, name, other["metadata"]["uid"]))
    await cluster.delete_pod(key.namespace, name, uid, force=True)
    await cluster.delete_pod(key.namespace, "no-such-pod", uid)

    assert error.failure is Failure.CONFLICT
    pods = (await cluster.read_children(key, owner)).pods
    assert uid not in [found["metadata"]["uid"] for found in pods]


async def test_touching_the_budget_is_fenced_and_survives_an_apply(
    cluster: KubernetesCluster, key: Key, owner: str
) -> None:
    """A second touch with the old resourceVersion is a Conflict; an apply without the annotation leaves it."""
    body = budget(key.namespace, owner)
    await cluster.create(body)
    children = await _until(cluster, key, owner, lambda children: bool(_status(children.budget).get("conditions")))
    read = children.budget
    assert read is not None

    await cluster.annotate_budget(read, {"specdec.dev/touched-at": "1"})
    error = await _refused(cluster.annotate_budget(read, {"specdec.dev/touched-at": "2"}))
    live = await cluster.apply(body)

    assert error.failure is Failure.CONFLICT
    assert live["metadata"]["annotations"] == {"specdec.dev/touched-at": "1"}


async def test_status_is_written_alone(cluster: KubernetesCluster, kubectl: Kubectl, key: Key, owner: str) -> None:
    """Writing status with the bare minimum changes status only: labels, annotations and spec stay."""
    before = _get(kubectl, key.namespace, f"sdd/{key.name}")
    version = before["metadata"]["resourceVersion"]

    after = await cluster.write_status(key, owner, version, {"observedGeneration": 1, "replicas": 2})

    assert after["status"] == {"observedGeneration": 1, "replicas": 2}
    assert after["spec"] == before["spec"]
    kept = ("labels", "annotations", "generation", "uid", "creationTimestamp")
    assert [after["metadata"][name] for name in kept] == [before["metadata"][name] for name in kept]


async def test_the_same_status_again_is_no_change(cluster: KubernetesCluster, key: Key, owner: str) -> None:
    """Writing what is there leaves the resourceVersion, so it wakes nobody."""
    read = await cluster.read_deployment(key)
    assert read is not None
    first = await cluster.write_status(key, owner, read["metadata"]["resourceVersion"], {"replicas": 2})

    second = await cluster.write_status(key, owner, first["metadata"]["resourceVersion"], {"replicas": 2})

    assert first["metadata"]["resourceVersion"] == second["metadata"]["resourceVersion"]


async def test_status_is_fenced(cluster: KubernetesCluster, kubectl: Kubectl, key: Key, owner: str) -> None:
    """Status of an object that changed, of another uid, or of one that is gone is refused."""
    read = await cluster.read_deployment(key)
    assert read is not None
    version = read["metadata"]["resourceVersion"]
    kubectl("-n", key.namespace, "annotate", "sdd", key.name, "someone=else")

    stale = await _refused(cluster.write_status(key, owner, version, {"replicas": 2}))
    current = _get(kubectl, key.namespace, f"sdd/{key.name}")["metadata"]["resourceVersion"]
    other = await _refused(cluster.write_status(key, STRANGER, current, {"replicas": 2}))
    kubectl("-n", key.namespace, "delete", "sdd", key.name)
    gone = await _refused(cluster.write_status(key, owner, current, {"replicas": 2}))

    assert (stale.failure, other.failure, gone.failure) == (Failure.CONFLICT, Failure.CONFLICT, Failure.NOT_FOUND)


async def test_an_event_is_seen_once(cluster: KubernetesCluster, kubectl: Kubectl, key: Key, owner: str) -> None:
    """The event shows at the object; the same one again within the minute is dropped without an error."""
    event = ClusterEvent(key, owner, EventType.NORMAL, Reason.SWITCHED, "runs none: 31.4 requests per engine")

    await cluster.emit(event)
    await cluster.emit(event)

    (found,) = [
        entry
        for entry in _get(kubectl, key.namespace, "events")["items"]
        if entry["involvedObject"]["kind"] == "SpecDecDeployment"
    ]
    assert (found["reason"], found["message"]) == ("Switched", event.message)
    assert found["involvedObject"]["uid"] == owner


async def test_an_event_that_cannot_be_recorded_is_no_error(
    cluster: KubernetesCluster, caplog: pytest.LogCaptureFixture
) -> None:
    """An event of a namespace that is gone is logged and given up."""
    event = ClusterEvent(Key("no-such-namespace", "a"), "u", EventType.WARNING, Reason.NAME_TAKEN, "taken")

    await cluster.emit(event)

    assert "event NameTaken about no-such-namespace/a was not recorded" in caplog.text
