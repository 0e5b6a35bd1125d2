"""Switches that cannot go on: each record comes to an end, and none of them keeps other objects from switching."""

from dataclasses import replace

import pytest
from tests.helpers.deployments import EAGLE, NGRAM
from tests.unit.controller.builders import (
    NOW,
    Body,
    condition,
    make_body,
    make_children,
    make_pod,
    make_reading,
    make_snapshot,
    message,
    running,
    settled,
    with_status,
)

from specdec_operator.controller.store import ObjectStore
from specdec_operator.controller.times import rfc3339
from specdec_operator.controller.work import work_out
from specdec_operator.ports import Children, Key

KEY = Key("serving", "llama")
PINNED = {"methods": [EAGLE, NGRAM], "mode": "Pinned", "pinned": "eagle3"}
TOO_NEW = {"name": "d", "method": "dflash", "model": "a/b", "numSpeculativeTokens": 3}


def counts(body: Body) -> bool:
    """Say whether the object takes one of the places for switches."""
    store = ObjectStore()
    store.put(KEY, body)
    return store.switching_elsewhere(Key("serving", "other")) == 1


def mid_switch(**spec: object) -> tuple[Body, Children]:
    """Return an object that has just begun to switch from eagle3 to none, with two pods that serve eagle3."""
    body, children = running(make_body())
    body["spec"] = {**body["spec"], "speculation": {"methods": [EAGLE, NGRAM], "mode": "Off"}}
    body = with_status(body, work_out(make_snapshot(body, children)))
    assert counts(body)
    body["spec"] = {**body["spec"], "speculation": {"methods": [EAGLE, NGRAM]}, **spec}
    return body, make_children(body, *children.pods, method="none")


def target(body: Body) -> str:
    """Return the method in force."""
    method: str = body["status"]["target"]["method"]
    return method


def outcomes(body: Body) -> list[str | None]:
    """Return how the switches ended."""
    return [record.get("outcome") for record in body["status"]["switches"]]


def test_scaling_to_zero_ends_the_switch() -> None:
    """New pods start with the target."""
    body, children = mid_switch(replicas=0)
    assert not counts(body)
    body = settled(body, replace(children, pods=()))
    assert (target(body), outcomes(body), body["status"].get("rollout")) == ("none", ["Superseded"], None)


def test_pods_that_are_still_there_after_scaling_to_zero_keep_the_record_open() -> None:
    """Scaled up again before the StatefulSet has acted, the switch goes on."""
    body, children = mid_switch(replicas=0)
    assert work_out(make_snapshot(body, children)).status.rollout is not None


@pytest.mark.parametrize("mode", ["Auto", "Off"])
def test_a_switch_that_scaling_leaves_with_one_replica_that_may_not_restart_ends(mode: str) -> None:
    """What runs is the target again; the pod never leaves its Service."""
    speculation = {"methods": [EAGLE, NGRAM], "mode": mode}
    body, children = mid_switch(replicas=1, speculation=speculation)
    children = make_children(body, children.pods[0], method="none")
    work = work_out(make_snapshot(body, children))
    assert (work.children, work.steps) == ((), ())
    body = with_status(body, work)
    assert (target(body), outcomes(body), body["status"].get("rollout")) == ("eagle3", ["Superseded"], None)
    assert not counts(body)

    body = settled(body, make_children(body, children.pods[0]))
    assert (target(body), outcomes(body)) == ("eagle3", ["Superseded"])
    work = work_out(make_snapshot(body, make_children(body, children.pods[0])))
    assert condition(work, "Reconciling") == ("False", "Done")
    assert condition(work, "Switching") == ("False", "Idle" if mode == "Auto" else "RestartNeedsOutage")


def test_a_held_replica_with_a_method_in_quarantine_does_not_make_it_the_target_again() -> None:
    """Pods that are made later start with what the way back leads to."""
    body, children = mid_switch(replicas=1)
    failed = {"name": "eagle3", "state": "Quarantined", "retryAt": rfc3339(NOW + 600), "failures": 1}
    body["status"] = {**body["status"], "methods": [failed]}
    body = settled(body, make_children(body, children.pods[0], method="none"))
    assert (target(body), outcomes(body)) == ("none", ["Superseded"])


def test_removing_the_method_of_an_only_replica_that_may_not_restart_begins_no_switch() -> None:
    """Only the user can let it go on: Stalled says so with the command, and the pod keeps serving."""
    body = make_body(replicas=1)
    pod = make_pod(body, 0)
    body = settled(body, make_children(body, pod))
    body = {**make_body(generation=2, replicas=1, speculation={"methods": [NGRAM]}), "status": body["status"]}
    body = settled(body, make_children(body, pod, method="ngram"))
    work = work_out(make_snapshot(body, make_children(body, pod, method="ngram")))

    assert (work.children, work.steps, work.status.rollout, work.status.switches) == ((), (), None, ())
    assert condition(work, "Reconciling") == ("False", "RestartNeedsOutage")
    assert condition(work, "Stalled") == ("True", "RestartNeedsOutage")
    assert "kubectl patch sdd llama" in message(work, "Stalled")
    assert not counts(body)


def test_suspending_half_way_keeps_the_record_but_frees_the_place() -> None:
    """Resumed, the switch goes on where it stopped."""
    body, children = mid_switch(suspend=True)
    body = settled(body, children)
    assert (target(body), outcomes(body), counts(body)) == ("none", [None], False)
    body["spec"] = {**body["spec"], "suspend": False}
    body = with_status(body, work_out(make_snapshot(body, children)))
    assert (target(body), outcomes(body), counts(body)) == ("none", [None], True)


def test_a_method_that_leaves_a_suspended_object_starts_nothing() -> None:
    """The target stays until the object is resumed."""
    body, children = running(make_body())
    body["spec"] = {**body["spec"], "speculation": {"methods": [NGRAM]}, "suspend": True}
    body = settled(body, children)
    assert (target(body), body["status"].get("rollout")) == ("eagle3", None)


def rolled_back() -> tuple[Body, Children]:
    """Return an object that goes back from the pinned eagle3, which two pods serve and one cannot start."""
    body = make_body(replicas=3, speculation=PINNED)
    broken = make_pod(body, 0, ready=False, drained=True)
    broken["metadata"]["annotations"] |= {
        "specdec.dev/method-set-at": rfc3339(NOW - 5),
        "specdec.dev/replaces-container": "id-old",
        "specdec.dev/restarts-when-set": "0",
    }
    broken["status"]["containerStatuses"][0] = {
        "name": "engine",
        "restartCount": 4,
        "state": {"waiting": {"reason": "CrashLoopBackOff"}},
    }
    began = rfc3339(NOW - 900)
    body["status"] = {
        "target": {"method": "eagle3"},
        "rollout": {"kind": "Switch", "from": "none", "to": "eagle3", "startedAt": began},
        "switches": [{"startedAt": began, "from": "none", "to": "eagle3", "reason": "Pinned", "message": "m"}],
    }
    children = make_children(body, broken, make_pod(body, 1), make_pod(body, 2))
    body = with_status(body, work_out(make_snapshot(body, children)))
    assert (target(body), outcomes(body)) == ("none", ["RolledBack"])
    return body, make_children(body, *children.pods, method="none")


@pytest.mark.parametrize("later", [1.0, 3600.0])
def test_an_order_does_not_turn_the_way_back_round(later: float) -> None:
    """Not while most pods still run the method that failed, nor when its quarantine ends meanwhile."""
    body, children = rolled_back()
    for second in range(3):
        work = work_out(make_snapshot(body, children, now=NOW + later + second))
        body = with_status(body, work)
        assert (target(body), outcomes(body)) == ("none", ["RolledBack"])
    assert [type(step).__name__ for step in work.steps] == ["SetMethod"]


def test_a_pinned_method_is_tried_again_after_the_way_back_and_its_quarantine() -> None:
    """Not before."""
    body, _ = rolled_back()
    back = make_children(body, *(make_pod(body, index, method="none") for index in range(3)), method="none")
    body = settled(body, back)
    assert target(body) == "none"
    assert target(settled(body, back, now=NOW + 3600)) == "eagle3"


@pytest.mark.parametrize("mode", [{"mode": "Auto"}, {"mode": "Pinned", "pinned": "d"}])
def test_a_change_of_engine_never_replaces_a_pod_by_one_with_a_method_that_cannot_start(mode: Body) -> None:
    """The first method that can run is recorded before any pod leaves, also where the other one is pinned."""
    speculation = {"methods": [TOO_NEW], **mode}
    body = make_body(speculation=speculation)
    pods = [make_pod(body, 0, method="d"), make_pod(body, 1, method="d")]
    body = settled(body, make_children(body, *pods, method="d"))
    assert target(body) == "d"
    changed = make_body(speculation=speculation, generation=2, engine={"version": "0.11.0"})
    body = {**changed, "status": body["status"]}
    work = work_out(make_snapshot(body, make_children(body, *pods, method="d")))

    assert (work.children, work.steps) == ((), ())
    assert condition(work, "ConfigValid") == ("False", "UnsupportedByEngineVersion")
    body = with_status(body, work)
    assert (target(body), body["status"]["decision"]["reason"]) == ("none", "UnsupportedByEngineVersion")


def test_a_replacement_on_its_way_does_not_change_its_aim_with_the_load() -> None:
    """The successor of a method that was taken away is chosen once."""
    ngram = {**NGRAM, "breakEvenConcurrency": 10}
    body, children = running(make_body())
    body["spec"] = {**body["spec"], "speculation": {"methods": [ngram]}}
    for load in (5.0, 50.0, 5.0):
        reading = make_reading(load, "llama-0", "llama-1")
        body = with_status(body, work_out(make_snapshot(body, children, reading=reading)))
        assert (target(body), outcomes(body)) == ("ngram", [None])
