"""One pass: what is read, what is written, in which order, and what is remembered."""

from dataclasses import replace

import pytest
from tests.helpers.deployments import EAGLE, NGRAM
from tests.unit.controller.builders import (
    NO_METRICS,
    NOW,
    make_body,
    make_children,
    make_pod,
    running,
)
from tests.unit.controller.fakes import FakeClock, FakeCluster, FakeProbe

from specdec_operator.controller.reconcile import Reconciler
from specdec_operator.controller.store import ObjectStore
from specdec_operator.ports import Children, ClusterError, Failure, Key
from specdec_operator.telemetry.metrics import Metrics

KEY = Key("serving", "llama")
PINNED = {"methods": [EAGLE, NGRAM], "mode": "Pinned", "pinned": "ngram"}


class Shop:
    """A reconciler with everything around it by hand."""

    def __init__(self, body: dict, children: Children | None = None) -> None:
        self.cluster = FakeCluster(body, children or Children())
        self.store, self.clock, self.probe, self.metrics = ObjectStore(), FakeClock(NOW), FakeProbe(), Metrics()
        self.store.put(KEY, body)
        self.reconciler = Reconciler(
            cluster=self.cluster, store=self.store, probe=self.probe, clock=self.clock, metrics=self.metrics
        )
        self.reconciler.reading = NO_METRICS

    async def reconcile(self) -> float | None:
        """Do one pass."""
        return await self.reconciler.reconcile(KEY)


async def test_an_object_at_rest_is_read_live_once_and_never_again() -> None:
    """After the first look at the children the caches are enough, until they say something else."""
    body, children = running(make_body())
    shop = Shop(body, children)
    await shop.reconcile()
    assert shop.cluster.named("read_deployment", "read_children") == ["read_deployment", "read_children"]
    for _ in range(3):
        await shop.reconcile()
    assert len(shop.cluster.calls) == 2
    service = {**(children.service or {}), "spec": {"selector": {}}}
    shop.cluster.children = replace(children, service=service)
    await shop.reconcile()
    assert shop.cluster.named() == ["apply"]


async def test_children_come_first_then_status_then_events() -> None:
    """Events follow a status that was written; of an object that is new nothing has to be read."""
    shop = Shop(make_body())
    assert await shop.reconcile() == 1.0
    assert shop.cluster.named("read_deployment", "read_children") == []
    assert shop.cluster.named() == ["create", "create", "create", "write_status", "emit"]
    _, (key, uid, resource_version, _) = next(call for call in shop.cluster.calls if call[0] == "write_status")
    assert (key, uid, resource_version) == (KEY, "uid-1", "7")
    stored = shop.store.get(KEY)
    assert stored is not None
    assert stored["metadata"]["resourceVersion"] == "7+"


async def test_no_event_is_told_when_the_status_could_not_be_written() -> None:
    """A conflict is raised for the queue; the next pass starts from what it reads."""
    shop = Shop(make_body())
    shop.cluster.fails["write_status"] = ClusterError(Failure.CONFLICT, "changed", status=409)
    with pytest.raises(ClusterError):
        await shop.reconcile()
    assert "emit" not in shop.cluster.named()


async def test_the_live_object_decides_not_the_cached_one() -> None:
    """The cache says Pinned; the user has taken it back since: no switch is recorded."""
    body, children = running(make_body())
    edited = {**body, "spec": {**body["spec"], "speculation": PINNED}}
    edited["metadata"] = {**body["metadata"], "generation": 0}
    shop = Shop(edited, children)
    shop.cluster.body = body
    await shop.reconcile()
    assert shop.cluster.named() == []


@pytest.mark.parametrize("gone", [True, False])
async def test_an_object_that_is_going_is_forgotten(*, gone: bool) -> None:
    """Nothing is written about it, and no metric of it stays."""
    body, children = running(make_body())
    shop = Shop(body, children)
    await shop.reconcile()
    assert shop.reconciler.knows(KEY)
    shop.cluster.calls.clear()
    if gone:
        shop.store.remove(KEY)
    else:
        metadata = {**body["metadata"], "deletionTimestamp": "2026-12-01T00:00:00Z"}
        shop.store.put(KEY, {**body, "metadata": metadata})
    assert await shop.reconcile() is None
    assert not shop.reconciler.knows(KEY)
    assert shop.cluster.calls == []


async def test_an_object_deleted_between_look_and_read_is_forgotten() -> None:
    """The live read finds nothing."""
    body, children = running(make_body())
    shop = Shop(body, children)
    shop.cluster.body = None
    assert await shop.reconcile() is None
    assert shop.cluster.named() == []


async def test_a_drain_is_looked_at_live_and_the_pod_itself_is_asked() -> None:
    """Every look, because the cache cannot know whether requests are still running."""
    body, _ = running(make_body())
    body["spec"] = {**body["spec"], "speculation": PINNED}
    pods = [make_pod(body, 0), make_pod(body, 1, drained=True)]
    shop = Shop(body, make_children(body, *pods, method="eagle3"))
    await shop.reconcile()
    shop.cluster.children = make_children(body, *pods, method="ngram")
    shop.cluster.children.budget["status"]["currentHealthy"] = 1
    shop.probe.answer = 3.0
    for _ in range(2):
        await shop.reconcile()
    assert shop.probe.asked == ["10.0.0.2"] * 3
    assert "patch_pod" not in shop.cluster.named()
    shop.probe.answer = 0.0
    await shop.reconcile()
    patch = next(argument for name, argument in shop.cluster.calls if name == "patch_pod")
    assert (patch.name, patch.uid, patch.resource_version) == ("llama-1", "pod-1", "1")
    assert patch.annotations["specdec.dev/method"] == "ngram"
    assert patch.annotations["specdec.dev/replaces-container"] == "id-1"


async def test_a_lasting_refusal_is_reported_in_the_same_pass_and_waited_for() -> None:
    """G5-07: status says why and when it is tried again, and nothing is tried before."""
    shop = Shop(make_body())
    shop.cluster.fails["create"] = ClusterError(Failure.FORBIDDEN, "exceeded quota: services", status=403)
    wait = await shop.reconcile()
    assert wait is not None
    assert 5 < wait <= 15
    assert shop.cluster.named()[:2] == ["create", "write_status"]
    status = shop.cluster.body["status"]
    stalled = next(each for each in status["conditions"] if each["type"] == "Stalled")
    assert (stalled["status"], stalled["reason"]) == ("True", "Forbidden")
    assert "exceeded quota" in stalled["message"]
    assert "Next try at" in stalled["message"]

    shop.cluster.calls.clear()
    await shop.reconcile()
    assert shop.cluster.calls == []
    shop.clock.time += 20
    await shop.reconcile()
    assert "create" in shop.cluster.named()


async def test_a_lasting_refusal_is_tried_again_at_once_when_the_spec_changes() -> None:
    """The user may just have repaired it."""
    shop = Shop(make_body())
    shop.cluster.fails["create"] = ClusterError(Failure.INVALID, "spec.x: Invalid value", status=422)
    await shop.reconcile()
    del shop.cluster.fails["create"]
    edited = make_body(generation=2, status=shop.cluster.body["status"])
    shop.cluster.body = edited
    shop.store.put(KEY, edited)
    shop.cluster.calls.clear()
    await shop.reconcile()
    assert shop.cluster.named().count("create") == 3


async def test_a_lasting_refusal_is_tried_less_and_less_often() -> None:
    """The waits grow."""
    shop = Shop(make_body())
    shop.cluster.fails["create"] = ClusterError(Failure.FORBIDDEN, "no", status=403)
    waits = []
    for _ in range(4):
        waits.append(await shop.reconcile())
        shop.clock.time += 1000
    assert waits == sorted(waits)
    assert waits[-1] > 4 * waits[0]


async def test_a_passing_failure_is_raised_for_the_queue() -> None:
    """Nothing is written about a server that is busy."""
    shop = Shop(make_body())
    shop.cluster.fails["create"] = ClusterError(Failure.SERVER, "busy", status=503)
    with pytest.raises(ClusterError):
        await shop.reconcile()
    assert "write_status" not in shop.cluster.named()


async def test_distrust_makes_the_next_pass_read_live() -> None:
    """After a timeout nobody knows whether a write arrived."""
    body, children = running(make_body())
    shop = Shop(body, children)
    await shop.reconcile()
    await shop.reconcile()
    shop.cluster.calls.clear()
    shop.reconciler.distrust(KEY)
    await shop.reconcile()
    assert shop.cluster.named("read_children") == ["read_children"]


async def test_two_objects_do_not_take_the_same_last_place() -> None:
    """While the write that begins a switch is under way it counts already."""
    body, children = running(make_body())
    body = {**body, "spec": {**body["spec"], "speculation": PINNED}}
    shop = Shop(body, children)
    other = Key("serving", "other")
    with shop.store.reserving(other, switch=True):
        assert shop.store.switching_elsewhere(KEY) == 1
        assert shop.store.switching_elsewhere(other) == 0
    assert shop.store.switching_elsewhere(KEY) == 0
    await shop.reconcile()
    assert shop.store.switching_elsewhere(other) == 1


async def test_a_switch_that_is_stuck_does_not_keep_the_others_from_switching() -> None:
    """Stalled=True frees its place."""
    body, _ = running(make_body())
    shop = Shop(body)
    rollout = {"kind": "Switch", "to": "ngram", "startedAt": "2026-12-01T00:00:00Z"}
    stalled = [{"type": "Stalled", "status": "True"}]
    for conditions, count in (([], 1), (stalled, 0)):
        shop.store.put(KEY, {**body, "status": {"rollout": rollout, "conditions": conditions}})
        assert shop.store.switching_elsewhere(Key("serving", "other")) == count


async def test_an_object_of_the_same_name_starts_with_nothing_remembered() -> None:
    """Deleted and made again between two passes: the uid tells."""
    shop = Shop(make_body())
    shop.cluster.fails["create"] = ClusterError(Failure.FORBIDDEN, "no", status=403)
    await shop.reconcile()
    del shop.cluster.fails["create"]
    fresh = make_body()
    fresh["metadata"] = {**fresh["metadata"], "uid": "uid-2"}
    shop.cluster.body = fresh
    shop.store.put(KEY, fresh)
    shop.cluster.calls.clear()
    await shop.reconcile()
    assert shop.cluster.named().count("create") == 3


async def test_the_metrics_show_the_object_and_count_its_switch() -> None:
    """By namespace and name, and gone with the object."""
    body, children = running(make_body())
    shop = Shop({**body, "spec": {**body["spec"], "speculation": PINNED}}, children)
    shop.cluster.body = shop.store.get(KEY)
    await shop.reconcile()
    labels = {"namespace": "serving", "name": "llama", "from": "eagle3", "to": "ngram", "reason": "Pinned"}
    assert shop.metrics.registry.get_sample_value("specdec_switches_total", labels) == 1
    shop.store.remove(KEY)
    await shop.reconcile()
    assert shop.metrics.registry.get_sample_value("specdec_switches_total", labels) is None


async def test_status_at_rest_needs_few_passes() -> None:
    """From a new object to rest: each pass writes status at most once."""
    body = make_body()
    children = make_children(body, make_pod(body, 0), make_pod(body, 1))
    shop = Shop(body, children)
    for _ in range(4):
        await shop.reconcile()
    writes = shop.cluster.named("write_status")
    assert 1 <= len(writes) <= 2


async def test_a_name_that_is_taken_is_found_out_by_creating_and_then_read() -> None:
    """The refusal says that something is there; the live read says what, and nothing else is tried."""
    stranger = {"kind": "Service", "metadata": {"name": "llama", "namespace": "serving", "uid": "x"}, "spec": {}}
    shop = Shop(make_body())
    shop.cluster.fails["create"] = ClusterError(Failure.CONFLICT, "already exists", status=409)
    shop.cluster.hidden = Children(service=stranger)
    assert await shop.reconcile() is None
    names = [name for name, _ in shop.cluster.calls if name != "emit"]
    assert names == ["create", "read_deployment", "read_children", "write_status"]
    ready = next(each for each in shop.cluster.body["status"]["conditions"] if each["type"] == "Ready")
    assert ready["reason"] == "NameTaken"


async def test_children_that_were_just_made_are_awaited_from_the_watch() -> None:
    """For a few seconds their absence is the watch's delay; after that it is looked up."""
    shop = Shop(make_body())
    await shop.reconcile()
    shop.cluster.calls.clear()
    shop.clock.time += 3
    await shop.reconcile()
    assert shop.cluster.calls == []
    shop.clock.time += 3
    await shop.reconcile()
    assert "read_children" in shop.cluster.named("read_children")


async def test_leftovers_of_a_deleted_object_of_the_same_name_are_waited_for() -> None:
    """The garbage collector is at work: this is looked up again much sooner than a stranger's object."""
    owner = {"kind": "SpecDecDeployment", "name": "llama", "uid": "uid-0", "controller": True}
    metadata = {"name": "llama", "namespace": "serving", "uid": "x", "ownerReferences": [owner]}
    shop = Shop(make_body(status={"observedGeneration": 1}))
    shop.cluster.children = Children(service={"kind": "Service", "metadata": metadata, "spec": {}})
    await shop.reconcile()
    ready = next(each for each in shop.cluster.body["status"]["conditions"] if each["type"] == "Ready")
    assert ready["reason"] == "NameTaken"
    assert "it goes soon" in ready["message"]
    assert await shop.reconcile() == 2.0
