"""Many namespaces, one operator."""

import logging

import pytest
from tests.integration.controller.api import Api
from tests.integration.controller.conftest import Start, Watcher, deployment
from tests.integration.controller.hand_node import HandNode
from tests.integration.controller.process import FastClock


async def test_objects_of_the_same_name_in_two_namespaces_do_not_mix(  # noqa: PLR0917 - fixtures
    api: Api, node: HandNode, run: Start, clock: FastClock, cluster_namespace: str, second_namespace: str
) -> None:
    """Each has its own children and its own status; one that goes leaves the other alone."""
    other = HandNode(api, second_namespace, clock)
    await other.open()
    try:
        await run(cluster_namespace, second_namespace)
        await api.create("sdd", deployment(cluster_namespace))
        await api.create("sdd", deployment(second_namespace, replicas=1))
        await Watcher(api, cluster_namespace).until("Reconciling", "False", "Done")
        body = await Watcher(api, second_namespace).until("Reconciling", "False", "Done")
        assert body["status"]["replicas"] == 1
        await api.delete("sdd", cluster_namespace, "llama")
        assert (await Watcher(api, second_namespace).get())["status"]["readyReplicas"] == 1
    finally:
        await other.close()


async def test_objects_of_other_namespaces_are_not_touched(
    api: Api, node: HandNode, run: Start, cluster_namespace: str, second_namespace: str
) -> None:
    """An operator for one namespace sees no other."""
    await run(cluster_namespace)
    await api.create("sdd", deployment(second_namespace))
    await api.create("sdd", deployment(cluster_namespace))
    await Watcher(api, cluster_namespace).until("Ready", "True")
    assert "status" not in await Watcher(api, second_namespace).get()


async def test_a_whole_life_leaves_no_trace_of_kopf(
    api: Api, node: HandNode, run: Start, cluster_namespace: str, caplog: pytest.LogCaptureFixture
) -> None:
    """G5-05: no finalizer, no annotation, no foreign field in status, and no word of inconsistencies in the log."""
    with caplog.at_level(logging.DEBUG, logger="kopf"):
        await run()
        await api.create("sdd", deployment(cluster_namespace))
        watcher = Watcher(api, cluster_namespace)
        await watcher.until("Ready", "True")
        await api.patch("sdd", cluster_namespace, "llama", {"spec": {"service": {"port": 9000}}})
        body = await watcher.until("Ready", "True")
        assert "finalizers" not in body["metadata"]
        assert "annotations" not in body["metadata"]
        assert not any("kopf" in name for name in body["status"])
        await api.delete("sdd", cluster_namespace, "llama")
    assert "inconsistenc" not in caplog.text.lower()
    assert "patch" not in caplog.text.lower()
