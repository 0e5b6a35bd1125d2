"""When a pod counts as failed, who is to blame, and what the user is told."""

import pytest
from tests.unit.rollout.builders import EAGLE, NONE, NOW, acts, crashing, draining, fleet, pending, pod, restarted, told

from specdec_operator.api.conditions import Reason
from specdec_operator.rollout.fleet import GiveUpTarget, PodView
from specdec_operator.rollout.plan import plan

GIVES_UP = ["GiveUpTarget none"]


def test_a_crash_loop_with_the_target_gives_the_target_up() -> None:
    """One pod has tried it; the other ones are not touched."""
    result = plan(fleet(crashing(0), pod(1), pod(2)))

    assert acts(result) == GIVES_UP
    order = result.steps[0]
    assert isinstance(order, GiveUpTarget)
    assert order.reason is Reason.CRASH_LOOPING
    assert order.message == "The engine of pod llama-0 with method 'none' ended once, last: Error (exit code 1)."
    assert "Going back from none to eagle3" in result.switching.message


def test_two_ended_engines_give_the_target_up_also_before_the_kubelet_speaks_of_a_loop() -> None:
    """The third one is starting right now."""
    third = restarted(0, ready=False, ready_changed_at=NOW - 50, restarts=3, started_at=NOW - 2)

    assert acts(plan(fleet(third, pod(1)))) == GIVES_UP


def test_one_ended_engine_may_be_chance() -> None:
    """The second one is starting right now."""
    second = restarted(0, ready=False, ready_changed_at=NOW - 50, restarts=2, started_at=NOW - 2)

    assert acts(plan(fleet(second, pod(1)))) == []


def test_the_back_off_after_two_quick_switches_is_no_crash_loop() -> None:
    """The kubelet delays the start of the target's first engine: nothing of the target has run."""
    delayed = crashing(0, restarts=0, last_exit="Completed (exit code 0)")

    assert acts(plan(fleet(delayed, pod(1)))) == []


def test_exits_from_before_the_method_was_set_do_not_count() -> None:
    """The pod has a past."""
    assert acts(plan(fleet(crashing(0, restarts=7, restarts_when_set=7), pod(1)))) == []
    assert acts(plan(fleet(crashing(0, restarts=8, restarts_when_set=7), pod(1)))) == GIVES_UP


def test_the_first_engine_after_an_order_to_a_pod_in_which_none_ran_proves_nothing() -> None:
    """The kubelet may have made it from the earlier value and ended it for that."""
    assert acts(plan(fleet(crashing(0, replaces_container="", restarts=1), pod(1)))) == []
    assert acts(plan(fleet(crashing(0, replaces_container="", restarts=2), pod(1)))) == GIVES_UP


def test_a_target_that_does_not_get_ready_in_time_is_given_up() -> None:
    """`startupTimeout` counts from the order."""
    slow = {"ready": False, "ready_changed_at": NOW - 1790, "started_at": NOW - 1790, "drain_started_at": NOW - 1900}

    assert acts(plan(fleet(restarted(0, method_set_at=NOW - 1799, **slow), pod(1)))) == []
    result = plan(fleet(restarted(0, method_set_at=NOW - 1800, **slow), pod(1)))
    assert acts(result) == GIVES_UP
    order = result.steps[0]
    assert isinstance(order, GiveUpTarget)
    assert order.reason is Reason.STARTUP_TIMEOUT
    assert "rollout.startupTimeout (30m)" in order.message


def test_the_planner_looks_again_when_the_startup_time_is_over() -> None:
    """No event tells of a time that has passed."""
    slow = restarted(0, ready=False, ready_changed_at=NOW - 50, method_set_at=NOW - 1797, drain_started_at=NOW - 1900)

    assert plan(fleet(slow, pod(1))).look_again == 3


def test_a_target_without_fallback_is_reported_and_left_to_the_user() -> None:
    """At the first start there is nothing to go back to."""
    result = plan(fleet(crashing(0), pod(1, NONE), fallback=None))

    assert acts(result) == []
    assert result.stalled is not None
    assert result.stalled.reason is Reason.CRASH_LOOPING
    assert "Error (exit code 1)" in result.stalled.message


@pytest.mark.parametrize("reason", ["ImagePullBackOff", "CreateContainerConfigError"])
def test_what_no_method_can_cause_does_not_give_the_target_up(reason: str) -> None:
    """A missing secret or image is named, and the method stays innocent."""
    stuck = crashing(
        0,
        waiting_reason=reason,
        pending_reason=f"{reason}: secret hf-token not found",
        method_set_at=NOW - 1800,
        drain_started_at=NOW - 1900,
    )

    result = plan(fleet(stuck, pod(1)))

    assert acts(result) == []
    assert result.stalled is not None
    assert result.stalled.reason is Reason.STARTUP_TIMEOUT
    assert "secret hf-token not found" in result.stalled.message


def test_a_pod_made_from_the_template_speaks_against_the_target_too() -> None:
    """The pod in hand was evicted; its successor starts with the target."""
    successor = crashing(0, serving=True, drain_started_at=None, method_set_at=None, created_at=NOW - 90, restarts=2)

    assert acts(plan(fleet(successor, pod(1)))) == GIVES_UP


def test_a_pod_that_had_the_target_before_the_switch_does_not_speak_against_it_while_others_serve() -> None:
    """A switch that was taken back: llama-0 never left the target and fails for a reason of its own."""
    old = crashing(0, serving=True, drain_started_at=None, method_set_at=None, created_at=1000.0, restarts=2)

    assert acts(plan(fleet(old, pod(1, NONE), pod(2)))) == []
    assert acts(plan(fleet(old, pod(1), pod(2)))) == GIVES_UP


def test_a_pod_that_is_to_be_replaced_anyway_does_not_speak_against_the_target() -> None:
    """The changed spec may be the cure."""
    assert acts(plan(fleet(crashing(0), pod(1, NONE), spec_hash="h2"))) == ["DeletePod llama-0"]


def test_a_restart_that_the_kubelet_does_not_begin_is_not_blamed_on_the_target() -> None:
    """Nothing of the target has run."""
    waiting = told(0, ready=False, ready_changed_at=NOW - 1900, method_set_at=NOW - 1800, drain_started_at=NOW - 1900)

    result = plan(fleet(waiting, pod(1)))

    assert acts(result) == []
    assert result.stalled is not None
    assert result.stalled.reason is Reason.STARTUP_TIMEOUT


def test_after_the_target_was_given_up_only_the_failed_pod_is_worked_on() -> None:
    """The second plan, with the fallback as target, touches nobody else."""
    back = {"target": EAGLE, "fallback": None}

    assert acts(plan(fleet(crashing(0), pod(1), pod(2), **back))) == ["SetMethod llama-0 eagle3"]
    again = restarted(0, EAGLE, restarts=3, restarts_when_set=2)
    assert acts(plan(fleet(again, pod(1), pod(2), **back))) == ["Rejoin llama-0"]


@pytest.mark.parametrize(
    ("pending_reason", "reason"),
    [
        ("Unschedulable: 0/3 nodes are available: 3 Insufficient nvidia.com/gpu.", Reason.ACCELERATOR_TAKEN),
        ("Unschedulable: 0/3 nodes are available: 3 Insufficient cpu.", Reason.UNSCHEDULABLE),
        ("Unschedulable: 0/3 nodes are available: 3 node(s) had untolerated taint {a: b}.", Reason.UNSCHEDULABLE),
        ("SchedulingGated: Scheduling is blocked due to non-empty scheduling gates", Reason.SCHEDULING_GATED),
        ("", Reason.UNSCHEDULABLE),
    ],
)
def test_a_successor_without_a_node_stops_the_rollout_and_says_why(pending_reason: str, reason: Reason) -> None:
    """After two minutes; no second replica is given up, however many may be missing."""
    successor = pending(0, NONE, uid="new", spec_hash="h2", pending_reason=pending_reason)
    view = fleet(successor, pod(1, NONE), pod(2, NONE), spec_hash="h2", rollout={"maxUnavailable": 3})

    result = plan(view)

    assert acts(result) == []
    assert result.stalled is not None
    assert result.stalled.reason is reason
    assert pending_reason in result.stalled.message
    assert result.kind is not None


def test_a_replica_that_drains_for_its_replacement_goes_back_when_an_earlier_successor_finds_no_node() -> None:
    """With `maxUnavailable` 2 both were on their way."""
    successor = pending(0, NONE, uid="new", spec_hash="h2")
    view = fleet(successor, draining(1, NONE), pod(2, NONE), spec_hash="h2", rollout={"maxUnavailable": 2})

    assert acts(plan(view)) == ["Rejoin llama-1"]


def test_a_successor_gets_two_minutes_to_find_a_node() -> None:
    """Scheduling takes a moment; the planner looks again when it should be over."""
    result = plan(fleet(pending(0, NONE, uid="new", spec_hash="h2", created_at=NOW - 100), spec_hash="h2"))

    assert result.stalled is None
    assert result.look_again == 20


def test_no_accelerator_in_the_whole_cluster_is_unschedulable_rather_than_taken() -> None:
    """At the first start of two replicas none of them ever had one."""
    result = plan(fleet(pending(0, NONE), pending(1, NONE), fallback=None))

    assert result.stalled is not None
    assert result.stalled.reason is Reason.UNSCHEDULABLE


@pytest.mark.parametrize("healthy", [pod(0, NONE), draining(0, EAGLE), told(0), restarted(0)])
def test_a_ready_pod_is_no_trouble(healthy: PodView) -> None:
    """Whatever step it stands at."""
    assert plan(fleet(healthy, pod(1, NONE))).stalled is None
