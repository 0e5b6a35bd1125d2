"""What happens to a pod that is out of its Service."""

import pytest
from tests.unit.rollout.builders import EAGLE, NONE, NOW, acts, crashing, draining, fleet, pod, restarted, told

from specdec_operator.api.conditions import ConditionStatus, Reason
from specdec_operator.api.status import RolloutKind, RolloutStep
from specdec_operator.rollout.fleet import PodView
from specdec_operator.rollout.plan import keep_running, plan


def test_running_requests_are_waited_for() -> None:
    """The pod drains, the user is told since when and until when, and the planner looks again soon."""
    result = plan(fleet(draining(0), pod(1)))

    assert acts(result) == []
    assert (result.phase, result.pod, result.kind) == (RolloutStep.DRAINING, "llama-0", RolloutKind.SWITCH)
    assert (result.switching.status, result.switching.reason) == (ConditionStatus.TRUE, Reason.DRAINING)
    assert result.switching.message == (
        "Switching to none: pod llama-0 (1 of 2) has left its Service and finishes its requests, "
        "since 1970-01-02T03:46:20Z, until 1970-01-02T03:56:20Z at the latest."
    )
    assert result.details == {"requests": "3"}
    assert result.look_again is not None
    assert result.look_again <= 2


def test_the_message_stays_the_same_while_only_the_number_of_requests_moves() -> None:
    """Else each look would be a write of the status."""
    messages = {plan(fleet(draining(0, requests=count), pod(1))).switching.message for count in (1.0, 2.0, 7.0)}

    assert len(messages) == 1


def test_an_idle_pod_is_told_the_target() -> None:
    """Zero running and waiting requests end the drain."""
    result = plan(fleet(draining(0, requests=0.0), pod(1)))

    assert acts(result) == ["SetMethod llama-0 none"]
    assert result.phase is RolloutStep.RESTARTING


def test_a_pod_that_left_a_moment_ago_is_not_idle_yet() -> None:
    """Proxies learn of it with a delay: a request may still be on its way."""
    assert acts(plan(fleet(draining(0, drain_started_at=NOW - 2, requests=0.0), pod(1)))) == []


def test_a_pod_whose_requests_are_unknown_is_waited_for_within_bounds() -> None:
    """Neither idle at once nor busy for ever."""
    assert acts(plan(fleet(draining(0, requests=None), pod(1)))) == []
    overdue = draining(0, requests=None, drain_started_at=NOW - 600)
    assert acts(plan(fleet(overdue, pod(1)))) == ["SetMethod llama-0 none"]


def test_a_drain_ends_at_the_drain_timeout() -> None:
    """A request that never ends cannot hold a switch up for ever."""
    view = fleet(draining(0, drain_started_at=NOW - 60), pod(1), rollout={"drainTimeout": "1m"})

    assert acts(plan(view)) == ["SetMethod llama-0 none"]


def test_the_drain_goes_on_only_once_the_budget_has_seen_the_pod_leave() -> None:
    """Until then an eviction of another pod might be let through; the budget is touched again."""
    idle = draining(0, requests=0.0)

    assert acts(plan(fleet(idle, pod(1), budget_serving=2))) == ["TouchBudget"]
    assert acts(plan(fleet(idle, pod(1), budget_observed=False))) == ["TouchBudget"]
    assert plan(fleet(idle, pod(1), budget_serving=2)).phase is RolloutStep.LEAVING
    assert acts(plan(fleet(idle, pod(1), budget_serving=None))) == ["SetMethod llama-0 none"]


@pytest.mark.parametrize(
    ("touched", "expected"), [(None, 1), (NOW, 0), (NOW - 19, 0), (NOW - 20, 1), (NOW + 5, 1)], ids=str
)
def test_a_budget_that_does_not_count_right_is_touched_every_20_seconds(touched: float | None, expected: int) -> None:
    """Its controller may be slow or down: a write in every look would not make it faster."""
    view = fleet(draining(0, requests=0.0), pod(1), budget_serving=2, budget_touched_at=touched)

    assert acts(plan(view)) == ["TouchBudget"] * expected
    assert plan(view).phase is RolloutStep.LEAVING


def test_a_pod_that_leaves_touches_the_budget_at_once() -> None:
    """Whenever it was last touched: the controller has not looked since this label went."""
    view = fleet(pod(0), pod(1), budget_touched_at=NOW)

    assert acts(plan(view)) == ["LeaveService llama-1", "TouchBudget"]


def test_an_idle_pod_waits_60_seconds_for_a_budget_that_does_not_count_right() -> None:
    """A controller that is down, or a pod of somebody else that is counted, holds a switch up no longer than that."""
    wrong = {"budget_serving": 2, "budget_touched_at": NOW}

    assert acts(plan(fleet(draining(0, requests=0.0, drain_started_at=NOW - 59), pod(1), **wrong))) == []
    idle = draining(0, requests=0.0, drain_started_at=NOW - 60)
    assert acts(plan(fleet(idle, pod(1), **wrong))) == ["SetMethod llama-0 none"]


def test_a_busy_pod_finishes_its_requests_whatever_the_budget_counts() -> None:
    """The wait for the budget and the wait for requests are two waits; the budget is touched on."""
    busy = draining(0, drain_started_at=NOW - 60)

    result = plan(fleet(busy, pod(1), budget_serving=2, budget_touched_at=NOW - 20))

    assert acts(result) == ["TouchBudget"]
    assert result.phase is RolloutStep.DRAINING


@pytest.mark.parametrize(
    "broken",
    [
        draining(0, ready=False, ready_changed_at=NOW - 60, requests=None),
        draining(0, ready=False, ready_changed_at=NOW - 60, requests=4.0),
        draining(0, ready=False, ready_changed_at=None),
        draining(0, ready=False, container_id=None, started_at=None, restarts=3, last_exit="OOMKilled (exit code 137)"),
    ],
    ids=["silent", "stale-count", "no-time-known", "ended"],
)
def test_the_drain_of_a_broken_engine_is_skipped(broken: PodView) -> None:
    """There is nothing to protect, neither requests nor a place in the budget."""
    assert acts(plan(fleet(broken, pod(1), budget_serving=2))) == ["SetMethod llama-0 none"]


def test_an_engine_that_missed_a_few_probes_still_finishes_its_requests() -> None:
    """Under full load readiness can blink while streams go on."""
    assert acts(plan(fleet(draining(0, ready=False, ready_changed_at=NOW - 10), pod(1)))) == []


def test_a_pod_does_not_go_back_while_the_container_that_is_to_end_still_runs() -> None:
    """`ready` is that of the old engine until the restart."""
    result = plan(fleet(told(0), pod(1)))

    assert acts(result) == []
    assert (result.phase, result.switching.reason) == (RolloutStep.RESTARTING, Reason.RESTARTING)


def test_a_pod_goes_back_when_another_container_is_ready() -> None:
    """The restart has taken place and the engine answers."""
    assert acts(plan(fleet(restarted(0), pod(1)))) == ["Rejoin llama-0"]


def test_a_pod_does_not_go_back_before_its_new_engine_is_ready() -> None:
    """Loading a model takes minutes."""
    assert acts(plan(fleet(restarted(0, ready=False, ready_changed_at=NOW - 50), pod(1)))) == []


def test_a_container_that_started_just_when_the_method_was_set_is_watched_before_the_pod_goes_back() -> None:
    """It may have been made from the earlier value; then the kubelet is about to end it."""
    just = {"started_at": NOW - 60, "replaces_container": "", "method_set_at": NOW - 60}

    assert acts(plan(fleet(restarted(0, **just), pod(1)))) == []
    assert acts(plan(fleet(restarted(0, **just, ready_changed_at=NOW - 61), pod(1)))) == ["Rejoin llama-0"]


def test_a_container_that_the_kubelet_leaves_alone_for_longer_than_any_end_takes_runs_the_value_already() -> None:
    """Grace period and margin have passed since it was ready and told: both values are equal."""
    assert acts(plan(fleet(told(0, method_set_at=NOW - 700, drain_started_at=NOW - 800), pod(1)))) == []
    equal = told(0, method_set_at=NOW - 746, drain_started_at=NOW - 800)
    assert acts(plan(fleet(equal, pod(1)))) == ["Rejoin llama-0"]


def test_the_target_that_changes_back_during_the_drain_costs_no_restart() -> None:
    """The pod runs what is wanted: it goes back as it is."""
    view = fleet(draining(0, EAGLE), pod(1), target=EAGLE, fallback=None)

    assert acts(plan(view)) == ["Rejoin llama-0"]


def test_the_target_that_changes_back_after_the_order_waits_for_the_restart_first() -> None:
    """Setting the old value back before the kubelet has acted would leave nothing to see whether it had."""
    told_pod, view = told(0), {"target": EAGLE, "fallback": None}

    assert acts(plan(fleet(told_pod, pod(1), **view))) == []
    assert plan(fleet(told_pod, pod(1), **view)).phase is RolloutStep.REVERTING
    assert acts(plan(fleet(restarted(0), pod(1), **view))) == ["SetMethod llama-0 eagle3"]


def test_the_wait_for_a_restart_that_does_not_come_is_bounded() -> None:
    """After `startupTimeout` the other value is set all the same."""
    view = fleet(
        told(0, ready=False, ready_changed_at=NOW - 1900, method_set_at=NOW - 1800, drain_started_at=NOW - 1900),
        pod(1),
        target=EAGLE,
        fallback=None,
    )

    assert acts(plan(view)) == ["SetMethod llama-0 eagle3"]


def test_a_record_from_before_the_drain_means_nothing() -> None:
    """The pod was switched five minutes ago; its container has not been told anything since it left."""
    old = {"method_set_at": NOW - 300, "replaces_container": "containerd://first-0", "restarts_when_set": 0}

    assert acts(plan(fleet(draining(0, requests=0.0, **old), pod(1)))) == ["SetMethod llama-0 none"]
    assert acts(plan(fleet(draining(0, NONE, **old), pod(1)))) == ["Rejoin llama-0"]


def test_the_next_pod_leaves_only_after_the_last_one_is_back() -> None:
    """Going back and leaving never share a plan."""
    assert acts(plan(fleet(restarted(0), pod(1), pod(2)))) == ["Rejoin llama-0"]
    assert acts(plan(fleet(pod(0, NONE), pod(1), pod(2)))) == ["LeaveService llama-2", "TouchBudget"]


def test_a_pod_that_the_user_took_out_of_the_service_is_not_put_back() -> None:
    """Without our drain's record it is not ours to put back."""
    assert acts(plan(fleet(pod(0, NONE, serving=False), pod(1, NONE)))) == []


def test_a_pod_to_be_replaced_drains_and_is_deleted() -> None:
    """The same steps with a deletion in place of the restart."""
    busy, idle = draining(0, NONE), draining(0, NONE, requests=0.0)

    assert acts(plan(fleet(busy, pod(1, NONE), spec_hash="h2"))) == []
    result = plan(fleet(idle, pod(1, NONE), spec_hash="h2"))
    assert acts(result) == ["DeletePod llama-0"]
    assert (result.phase, result.kind) == (RolloutStep.REPLACING, RolloutKind.ROLLOUT)


def test_a_pod_that_needs_both_a_new_method_and_a_new_spec_is_replaced_once() -> None:
    """Its successor has the target from the template."""
    assert acts(plan(fleet(draining(0, EAGLE, requests=0.0), pod(1), spec_hash="h2"))) == ["DeletePod llama-0"]


def test_a_change_of_spec_is_reconciling_and_no_switch() -> None:
    """Tools that wait for the spec look at Reconciling; a switch must not make them wait."""
    result = plan(fleet(draining(0, NONE), pod(1, NONE), spec_hash="h2"))

    assert result.reconciling is not None
    assert (result.reconciling.status, result.reconciling.reason) == (ConditionStatus.TRUE, Reason.ROLLING_OUT)
    assert "Taking up the changed spec: pod llama-0 (1 of 2)" in result.reconciling.message
    assert result.switching.reason is Reason.IDLE
    assert plan(fleet(draining(0), pod(1))).reconciling is None


def test_the_next_replacement_waits_until_the_successor_is_ready() -> None:
    """A new pod that is still loading is a missing replica."""
    successor = pod(0, NONE, uid="new", spec_hash="h2", ready=False, created_at=NOW - 60, ready_changed_at=NOW - 59)

    result = plan(fleet(successor, pod(1, NONE), spec_hash="h2"))

    assert acts(result) == []
    assert (result.phase, result.pod, result.kind) == (RolloutStep.REPLACING, "llama-0", RolloutKind.ROLLOUT)


def test_a_pod_crash_looping_with_the_given_up_target_gets_the_old_value_at_once() -> None:
    """No drain and no wait: it serves nobody and nothing runs."""
    view = fleet(crashing(0), pod(1), target=EAGLE, fallback=None)

    result = plan(view)

    assert acts(result) == ["SetMethod llama-0 eagle3"]
    assert result.phase is RolloutStep.REVERTING


def test_an_unusable_spec_in_the_middle_of_a_switch_leaves_no_pod_out_of_service() -> None:
    """What can serve goes back as it runs; what is about to restart goes back once it has; a lost node is given up."""
    pods = (draining(0), told(1), restarted(2), crashing(3), pod(4), pod(5, node_lost=True, terminating=True))

    steps = keep_running(pods, NOW)

    assert [(type(step).__name__, step.pod.ordinal) for step in steps] == [
        ("DeletePod", 5),
        ("Rejoin", 0),
        ("Rejoin", 2),
    ]
