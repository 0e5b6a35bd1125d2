"""From an applied object to children that run, and back to nothing."""

from tests.integration.controller.api import Api
from tests.integration.controller.conftest import Start, Watcher, condition, deployment, eventually
from tests.integration.controller.hand_node import HandNode


async def test_children_appear_and_the_object_becomes_ready(
    api: Api, node: HandNode, run: Start, cluster_namespace: str
) -> None:
    """An applied object gets a StatefulSet, a Service and a budget of its own, and says Ready once its pods are."""
    await run()
    made = await api.create("sdd", deployment(cluster_namespace))
    body = await Watcher(api, cluster_namespace).until("Ready", "True", "Available")
    for kind in ("statefulset", "service", "budget"):
        child = await api.get(kind, cluster_namespace, "llama")
        assert child is not None
        owner = child["metadata"]["ownerReferences"][0]
        assert (owner["uid"], owner["controller"]) == (made["metadata"]["uid"], True)
    status = body["status"]
    assert condition(body, "Reconciling")["status"] in {"True", "False"}
    assert status["observedGeneration"] == 1
    assert status["target"] == {"method": "eagle3", "numSpeculativeTokens": 3}
    done = await Watcher(api, cluster_namespace).until("Reconciling", "False", "Done")
    assert done["status"]["replicas"] == done["status"]["readyReplicas"] == 2
    assert done["status"]["active"]["method"] == "eagle3"
    assert condition(done, "Stalled")["status"] == "False"
    assert condition(done, "MetricsAvailable")["reason"] == "SourceUnreachable"


async def test_a_deleted_object_takes_its_children_along_and_can_come_back(
    api: Api, node: HandNode, run: Start, cluster_namespace: str
) -> None:
    """Deletion needs nothing from the operator, and an object of the same name starts afresh."""
    await run()
    first = await api.create("sdd", deployment(cluster_namespace))
    await Watcher(api, cluster_namespace).until("Ready", "True")
    assert not first["metadata"].get("finalizers")
    await api.delete("sdd", cluster_namespace, "llama")

    async def gone() -> bool:
        left = [await api.get(kind, cluster_namespace, "llama") for kind in ("sdd", "statefulset", "service", "budget")]
        return not any(left)

    await eventually(gone, seconds=60)
    second = await api.create("sdd", deployment(cluster_namespace, replicas=1))
    body = await Watcher(api, cluster_namespace).until("Ready", "True")
    assert body["metadata"]["uid"] == second["metadata"]["uid"] != first["metadata"]["uid"]
    assert body["status"]["readyReplicas"] == 1
