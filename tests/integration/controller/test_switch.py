"""Switches on a real API server: decided, recorded, carried out pod by pod, finished."""

from tests.integration.controller.api import Api, Body
from tests.integration.controller.conftest import EAGLE, NGRAM, Start, Watcher, condition, deployment, eventually
from tests.integration.controller.hand_node import HandNode
from tests.integration.controller.process import FastClock, HandSource

from specdec_operator.api.names import DRAIN_ANNOTATION, METHOD_ANNOTATION, SERVING_LABEL

POLICY = {
    "trigger": "Threshold",
    "disableAfter": "15s",
    "enableAfter": "15s",
    "minimumDwell": "15s",
    "maximumSwitchesPerDay": 10,
}
METHODS = [{**EAGLE, "breakEvenConcurrency": 20, "expectedAcceptanceLength": "2.4"}]


def by_load(namespace: str, name: str = "llama", **spec: object) -> Body:
    """Return an object that is switched by its load at 20 running requests per engine."""
    return deployment(namespace, name, speculation={"methods": METHODS, "policy": POLICY}, **spec)


def measured(clock: FastClock, namespace: str, *pods: str) -> HandSource:
    """Return metrics of these pods at low load."""
    return HandSource(clock, 2.0, {(namespace, pod) for pod in pods})


async def test_a_load_past_the_break_even_switches_the_same_pods_off_and_back_on(
    api: Api, node: HandNode, run: Start, clock: FastClock, cluster_namespace: str
) -> None:
    """The pods keep uid and node, one at a time leaves the Service, and status tells the story with numbers."""
    source = measured(clock, cluster_namespace, "llama-0", "llama-1")
    await run(source=source)
    await api.create("sdd", by_load(cluster_namespace))
    watcher = Watcher(api, cluster_namespace)
    await watcher.until("Reconciling", "False", "Done")
    await watcher.until("MetricsAvailable", "True", "Found")
    before = {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in await api.list("pod", cluster_namespace)}

    source.concurrency = 60.0
    started = await watcher.until("Switching", "True")
    assert started["status"]["rollout"]["kind"] == "Switch"
    assert condition(started, "Reconciling")["status"] == "False"
    source.speculating = False
    finished = await eventually(lambda: _finished(watcher, 1), seconds=40)
    assert finished["status"]["active"]["method"] == "none"
    assert condition(finished, "SpeculationActive")["reason"] == "PastBreakEven"
    record = finished["status"]["switches"][0]
    assert (record["from"], record["to"], record["reason"]) == ("eagle3", "none", "PastBreakEven")
    assert float(record["concurrency"]) == 60.0
    assert "20" in record["message"]

    source.concurrency = 2.0
    back = await eventually(lambda: _finished(watcher, 2), seconds=60)
    assert back["status"]["active"]["method"] == "eagle3"
    pods = await api.list("pod", cluster_namespace)
    assert {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in pods} == before
    for pod in pods:
        assert pod["metadata"]["labels"][SERVING_LABEL] == "true"
        assert pod["metadata"]["annotations"][METHOD_ANNOTATION] == "eagle3"
        assert DRAIN_ANNOTATION not in pod["metadata"]["annotations"]
    assert node.history == {"llama-0": ["eagle3", "none", "eagle3"], "llama-1": ["eagle3", "none", "eagle3"]}
    reasons = {event["reason"] for event in await api.list("event", cluster_namespace)}
    assert {"SwitchStarted", "Switched", "Available"} <= reasons


async def _finished(watcher: Watcher, count: int) -> Body | None:
    body = await watcher.get()
    done = [record for record in body["status"].get("switches", []) if record.get("outcome") == "Done"]
    return body if len(done) == count and "rollout" not in body["status"] else None


async def test_switches_change_nothing_but_status_of_the_object(
    api: Api, node: HandNode, run: Start, clock: FastClock, cluster_namespace: str
) -> None:
    """G6-02: spec, labels, annotations and generation stay as the user wrote them, however often it switches."""
    source = measured(clock, cluster_namespace, "llama-0", "llama-1")
    await run(source=source)
    made = await api.create("sdd", by_load(cluster_namespace))
    watcher = Watcher(api, cluster_namespace)
    await watcher.until("Reconciling", "False", "Done")
    for count in range(1, 5):
        source.concurrency = 60.0 if count % 2 else 2.0
        await eventually(lambda count=count: _finished(watcher, count), seconds=60)
        source.speculating = count % 2 == 0
    body = await watcher.get()
    assert body["metadata"]["generation"] == 1
    assert body["spec"] == made["spec"]
    for name in ("labels", "annotations", "finalizers"):
        assert body["metadata"].get(name) == made["metadata"].get(name)


async def test_mode_off_and_pinned_switch_without_metrics(
    api: Api, node: HandNode, run: Start, cluster_namespace: str
) -> None:
    """What the user orders needs no numbers."""
    await run()
    await api.create("sdd", deployment(cluster_namespace))
    watcher = Watcher(api, cluster_namespace)
    await watcher.until("Reconciling", "False", "Done")
    await api.patch("sdd", cluster_namespace, "llama", {"spec": {"speculation": {"mode": "Off"}}})
    off = await eventually(lambda: _finished(watcher, 1), seconds=40)
    assert condition(off, "SpeculationActive")["reason"] == "ModeOff"
    pinned = {"spec": {"speculation": {"mode": "Pinned", "pinned": "ngram"}}}
    await api.patch("sdd", cluster_namespace, "llama", pinned)
    body = await eventually(lambda: _finished(watcher, 2), seconds=40)
    assert body["status"]["active"] | {"since": ""} == {"method": "ngram", "numSpeculativeTokens": 4, "since": ""}
    assert [record["reason"] for record in body["status"]["switches"]] == ["ModeOff", "Pinned"]


async def test_a_method_that_does_not_come_up_is_put_back_and_kept_in_quarantine(
    api: Api, node: HandNode, run: Start, cluster_namespace: str
) -> None:
    """One replica shows that the method is broken; the other one never leaves the Service for it."""
    node.broken.add("ngram")
    await run()
    await api.create("sdd", deployment(cluster_namespace))
    watcher = Watcher(api, cluster_namespace)
    await watcher.until("Reconciling", "False", "Done")
    pinned = {"spec": {"speculation": {"mode": "Pinned", "pinned": "ngram", "methods": [EAGLE, NGRAM]}}}
    await api.patch("sdd", cluster_namespace, "llama", pinned)

    async def reverted() -> Body | None:
        body = await watcher.get()
        records = body["status"].get("switches", [])
        over = records and records[0].get("outcome") == "RolledBack" and "rollout" not in body["status"]
        return body if over else None

    body = await eventually(reverted, seconds=60)
    assert body["status"]["active"]["method"] == "eagle3"
    assert body["status"]["target"]["method"] == "eagle3"
    method = next(method for method in body["status"]["methods"] if method["name"] == "ngram")
    assert (method["state"], method["failures"]) == ("Quarantined", 1)
    assert method["retryAt"]
    assert condition(body, "Switching")["reason"] == "RolledBack"
    assert condition(body, "Ready")["status"] == "True"
    assert sum("ngram" in starts for starts in node.history.values()) == 1
    assert "RolledBack" in {event["reason"] for event in await api.list("event", cluster_namespace)}


async def test_a_single_replica_is_not_restarted_without_leave(
    api: Api, node: HandNode, run: Start, cluster_namespace: str
) -> None:
    """The switch is wanted but not begun: status says so and prints the patch that allows it."""
    await run()
    await api.create("sdd", deployment(cluster_namespace, replicas=1))
    watcher = Watcher(api, cluster_namespace)
    await watcher.until("Reconciling", "False", "Done")
    await api.patch("sdd", cluster_namespace, "llama", {"spec": {"speculation": {"mode": "Off"}}})
    body = await watcher.until("Switching", "False", "RestartNeedsOutage")
    assert "kubectl patch sdd llama" in condition(body, "Switching")["message"]
    assert body["status"]["target"]["method"] == "eagle3"
    assert "rollout" not in body["status"]
    await api.patch("sdd", cluster_namespace, "llama", {"spec": {"rollout": {"singleReplica": "Restart"}}})
    await watcher.until("SpeculationActive", "False", "ModeOff", seconds=40)
    assert node.history == {"llama-0": ["eagle3", "none"]}


async def test_no_more_objects_switch_at_once_than_allowed(
    api: Api, node: HandNode, run: Start, clock: FastClock, cluster_namespace: str
) -> None:
    """A peak that all objects share does not restart all of them together; each gets its turn."""
    names = ["a", "b", "c"]
    source = measured(clock, cluster_namespace, *(f"{name}-{index}" for name in names for index in (0, 1)))
    node.start_seconds = 10.0
    await run(source=source, maximumConcurrentSwitches=1)
    for name in names:
        await api.create("sdd", by_load(cluster_namespace, name))
    for name in names:
        await Watcher(api, cluster_namespace, name).until("Reconciling", "False", "Done")
    source.concurrency = 60.0
    most = 0

    async def all_done() -> bool:
        nonlocal most
        bodies = [await Watcher(api, cluster_namespace, name).get() for name in names]
        most = max(most, sum("rollout" in body["status"] for body in bodies))
        return all(body["status"]["active"]["method"] == "none" and "rollout" not in body["status"] for body in bodies)

    await eventually(all_done, seconds=60)
    assert most == 1
