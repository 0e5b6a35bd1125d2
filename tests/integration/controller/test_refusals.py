"""What cannot be done is said in status, with the way out, and what runs keeps running."""

import asyncio

from tests.integration.controller.api import Api, Body
from tests.integration.controller.conftest import Start, Watcher, condition, deployment, eventually
from tests.integration.controller.hand_node import HandNode


async def test_a_service_of_somebody_else_is_not_taken_over(
    api: Api, node: HandNode, run: Start, cluster_namespace: str
) -> None:
    """Its selector stays, no other child is made, and once it is gone the object comes up by itself."""
    theirs = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "llama", "namespace": cluster_namespace},
        "spec": {"selector": {"app": "theirs"}, "ports": [{"port": 80}]},
    }
    await api.create("service", theirs)
    await run()
    await api.create("sdd", deployment(cluster_namespace))
    body = await Watcher(api, cluster_namespace).until("Ready", "False", "NameTaken")
    assert "Service llama" in condition(body, "Ready")["message"]
    assert condition(body, "Stalled")["reason"] == "NameTaken"
    service = await api.get("service", cluster_namespace, "llama")
    assert service is not None
    assert service["spec"]["selector"] == {"app": "theirs"}
    assert await api.get("statefulset", cluster_namespace, "llama") is None
    await api.delete("service", cluster_namespace, "llama")
    await Watcher(api, cluster_namespace).until("Ready", "True")


async def test_a_bad_edit_touches_nothing_that_runs(
    api: Api, node: HandNode, run: Start, cluster_namespace: str
) -> None:
    """ConfigValid names the field; the children keep their resourceVersion; a good edit clears everything."""
    await run()
    await api.create("sdd", deployment(cluster_namespace))
    watcher = Watcher(api, cluster_namespace)
    await watcher.until("Reconciling", "False", "Done")
    await asyncio.sleep(0.5)
    before = await _versions(api, cluster_namespace)
    await api.patch("sdd", cluster_namespace, "llama", {"spec": {"engine": {"version": "0.5.0"}}})
    body = await watcher.until("ConfigValid", "False", "UnsupportedByEngineVersion")
    assert "spec.engine.version" in condition(body, "ConfigValid")["message"]
    assert condition(body, "Ready")["reason"] == "RolloutStalled"
    assert body["status"]["readyReplicas"] == 2
    await asyncio.sleep(1.5)
    assert await _versions(api, cluster_namespace) == before
    await api.patch("sdd", cluster_namespace, "llama", {"spec": {"engine": {"version": "0.32.0"}}})
    await watcher.until("Ready", "True")
    await watcher.until("Reconciling", "False", "Done")
    assert node.history == {"llama-0": ["eagle3"], "llama-1": ["eagle3"]}


async def _versions(api: Api, namespace: str) -> list[str]:
    kinds = ("statefulset", "service", "budget")
    bodies = [await api.get(kind, namespace, "llama") for kind in kinds] + await api.list("pod", namespace)
    return [body["metadata"]["resourceVersion"] for body in bodies if body is not None]


async def test_a_quota_that_is_spent_is_told_and_waited_for(
    api: Api, node: HandNode, run: Start, cluster_namespace: str
) -> None:
    """G5-07: the reason and the next try are in status; when the quota is raised the object comes up."""
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "none", "namespace": cluster_namespace},
        "spec": {"hard": {"services": "0"}},
    }
    path = f"/api/v1/namespaces/{cluster_namespace}/resourcequotas"
    await api.send("POST", path, body=quota)

    async def counted() -> Body | None:
        return (await api.send("GET", f"{path}/none")).get("status", {}).get("hard")

    await eventually(counted)
    await run()
    await api.create("sdd", deployment(cluster_namespace))
    body = await Watcher(api, cluster_namespace).until("Stalled", "True", "Forbidden")
    told = condition(body, "Stalled")["message"]
    assert "exceeded quota" in told
    assert "Next try at" in told
    await api.send("DELETE", f"{path}/none")
    await Watcher(api, cluster_namespace).until("Ready", "True")


async def test_missing_metrics_are_told_and_do_not_keep_the_object_from_starting(
    api: Api, node: HandNode, run: Start, cluster_namespace: str
) -> None:
    """G5-07: with Prometheus down from the start, status says so and the engines come up."""
    await run()
    await api.create("sdd", deployment(cluster_namespace))
    body = await Watcher(api, cluster_namespace).until("MetricsAvailable", "False", "SourceUnreachable")
    assert "Prometheus cannot be reached" in condition(body, "MetricsAvailable")["message"]
    body = await Watcher(api, cluster_namespace).until("Ready", "True")
    assert condition(body, "MetricsAvailable")["status"] == "False"


async def test_ready_follows_the_pods_both_ways(api: Api, node: HandNode, run: Start, cluster_namespace: str) -> None:
    """G3-20: with no change of the object Ready goes False when all pods fail, and comes back with them."""
    await run()
    await api.create("sdd", deployment(cluster_namespace))
    watcher = Watcher(api, cluster_namespace)
    await watcher.until("Reconciling", "False", "Done")
    node.unready |= {"llama-0", "llama-1"}
    down = await watcher.until("Ready", "False", "NoReplicaReady")
    assert down["status"]["readyReplicas"] == 0
    since = condition(down, "Ready")["lastTransitionTime"]
    await asyncio.sleep(2)
    assert condition(await watcher.get(), "Ready")["lastTransitionTime"] == since
    node.unready.clear()
    await watcher.until("Ready", "True", "Available")


async def test_a_suspended_object_is_left_alone(api: Api, node: HandNode, run: Start, cluster_namespace: str) -> None:
    """Only status is written until it is resumed."""
    running = await run()
    await api.create("sdd", deployment(cluster_namespace, suspend=True))
    watcher = Watcher(api, cluster_namespace)
    await watcher.until("Reconciling", "False", "Suspended")
    await asyncio.sleep(1)
    assert {verb for verb, _ in running.writes} <= {"status", "event"}
    await api.patch("sdd", cluster_namespace, "llama", {"spec": {"suspend": False}})
    await watcher.until("Ready", "True")
