"""Nothing to do means nothing is written, whoever starts when."""

import asyncio

from tests.integration.controller.api import Api
from tests.integration.controller.conftest import Start, Watcher, deployment, eventually
from tests.integration.controller.hand_node import HandNode
from tests.integration.controller.process import FastClock, HandSource


async def test_an_object_at_rest_is_not_written(
    api: Api, node: HandNode, run: Start, clock: FastClock, cluster_namespace: str
) -> None:
    """Ticks, resyncs and moving numbers cause no write of any kind."""
    source = HandSource(clock, 5.0, {(cluster_namespace, f"llama-{index}") for index in (0, 1)})
    running = await run(source=source, resyncSeconds=10)
    await api.create("sdd", deployment(cluster_namespace))
    await Watcher(api, cluster_namespace).until("Reconciling", "False", "Done")
    await Watcher(api, cluster_namespace).until("MetricsAvailable", "True")
    await asyncio.sleep(1)
    running.writes.clear()
    for concurrency in (4.5, 5.5, 5.0, 4.8, 5.2):
        source.concurrency = concurrency
        await asyncio.sleep(1)
    assert running.writes == []


async def test_a_restarted_operator_finds_its_work_done(
    api: Api, node: HandNode, run: Start, cluster_namespace: str
) -> None:
    """A new process reads everything once and writes nothing."""
    first = await run()
    await api.create("sdd", deployment(cluster_namespace))
    await Watcher(api, cluster_namespace).until("Reconciling", "False", "Done")
    await Watcher(api, cluster_namespace).until("MetricsAvailable", "False", "SourceUnreachable")
    await asyncio.sleep(1)
    await first.stop()
    second = await run()
    metrics = second.operator.metrics.registry
    await eventually(lambda: _passes(metrics, 2))
    await asyncio.sleep(2)
    assert second.writes == []
    assert node.history == {"llama-0": ["eagle3"], "llama-1": ["eagle3"]}


async def _passes(registry: object, count: int) -> bool:
    value = registry.get_sample_value("specdec_reconciles_total", {"result": "Done"})  # type: ignore[attr-defined]
    return (value or 0) >= count


async def test_what_was_edited_by_hand_is_put_right(
    api: Api, node: HandNode, run: Start, cluster_namespace: str
) -> None:
    """A child that says something else is applied again; fields of others stay."""
    await run()
    await api.create("sdd", deployment(cluster_namespace))
    await Watcher(api, cluster_namespace).until("Reconciling", "False", "Done")
    await api.patch("statefulset", cluster_namespace, "llama", {"spec": {"replicas": 1}})
    await api.patch("service", cluster_namespace, "llama", {"spec": {"selector": {"specdec.dev/serving": "no"}}})
    note = {"metadata": {"annotations": {"team": "x"}}}
    await api.patch("service", cluster_namespace, "llama", note)
    await api.delete("budget", cluster_namespace, "llama")

    async def healed() -> bool:
        children = [await api.get(kind, cluster_namespace, "llama") for kind in ("statefulset", "service", "budget")]
        if not all(children):
            return False
        stateful_set, service, _ = children
        right = service["spec"]["selector"]["specdec.dev/serving"] == "true"
        return right and stateful_set["spec"]["replicas"] == 2

    await eventually(healed)
    service = await api.get("service", cluster_namespace, "llama")
    assert service is not None
    assert service["metadata"]["annotations"]["team"] == "x"


async def test_after_a_burst_of_edits_the_last_one_is_in_force(
    api: Api, node: HandNode, run: Start, cluster_namespace: str
) -> None:
    """G5-09: three edits in a moment, one of them taken back: only the final spec counts."""
    await run()
    await api.create("sdd", deployment(cluster_namespace))
    watcher = Watcher(api, cluster_namespace)
    await watcher.until("Reconciling", "False", "Done")
    for change in (
        {"replicas": 3},
        {"service": {"port": 9000}},
        {"replicas": 1},
        {"replicas": 2, "service": {"port": 9001}},
    ):
        await api.patch("sdd", cluster_namespace, "llama", {"spec": change})
    body = await watcher.until("Reconciling", "False", "Done")
    assert body["status"]["observedGeneration"] == body["metadata"]["generation"] == 5

    async def final() -> bool:
        service = await api.get("service", cluster_namespace, "llama")
        stateful_set = await api.get("statefulset", cluster_namespace, "llama")
        assert service is not None
        assert stateful_set is not None
        return service["spec"]["ports"][0]["port"] == 9001 and stateful_set["spec"]["replicas"] == 2

    await eventually(final)


async def test_two_operators_at_once_do_no_step_twice(
    api: Api, node: HandNode, run: Start, cluster_namespace: str
) -> None:
    """The resourceVersion is the fence: each engine restarts once, one pod at a time."""
    await run()
    await run()
    await api.create("sdd", deployment(cluster_namespace))
    watcher = Watcher(api, cluster_namespace)
    await watcher.until("Reconciling", "False", "Done")
    await api.patch("sdd", cluster_namespace, "llama", {"spec": {"speculation": {"mode": "Off"}}})

    async def over() -> bool:
        body = await watcher.get()
        switches = body["status"].get("switches", [])
        return bool(switches) and all(record.get("outcome") for record in switches) and "rollout" not in body["status"]

    await eventually(over, seconds=60)
    assert node.history == {"llama-0": ["eagle3", "none"], "llama-1": ["eagle3", "none"]}
    assert len((await watcher.get())["status"]["switches"]) == 1


async def test_an_operator_killed_at_any_moment_is_continued_by_the_next(
    api: Api, node: HandNode, run: Start, cluster_namespace: str
) -> None:
    """Killed every half second through a switch, it ends right: one restart an engine, one record."""
    running = await run()
    await api.create("sdd", deployment(cluster_namespace))
    watcher = Watcher(api, cluster_namespace)
    await watcher.until("Reconciling", "False", "Done")
    await api.patch("sdd", cluster_namespace, "llama", {"spec": {"speculation": {"mode": "Off"}}})
    for pause in (0.3, 0.5, 0.7, 0.4, 0.6, 0.8):
        await asyncio.sleep(pause)
        await running.kill()
        running = await run()

    async def over() -> bool:
        status = (await watcher.get())["status"]
        return "rollout" not in status and status["active"]["method"] == "none"

    await eventually(over, seconds=60)
    assert node.history == {"llama-0": ["eagle3", "none"], "llama-1": ["eagle3", "none"]}
    assert [record["outcome"] for record in (await watcher.get())["status"]["switches"]] == ["Done"]
