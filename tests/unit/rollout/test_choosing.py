"""Who leaves the Service next, and who must not."""

from tests.unit.rollout.builders import (
    EAGLE,
    NONE,
    NOW,
    acts,
    crashing,
    draining,
    fleet,
    pending,
    pod,
    restarted,
    told,
)

from specdec_operator.api.conditions import ConditionStatus, Reason
from specdec_operator.rollout.fleet import MethodOnPod
from specdec_operator.rollout.plan import plan


def test_the_least_busy_pod_leaves_first_and_the_budget_is_touched() -> None:
    """One pod leaves; its PodDisruptionBudget is told in the same plan."""
    view = fleet(pod(0, requests=5.0), pod(1, requests=2.0), pod(2, requests=9.0))

    assert acts(plan(view)) == ["LeaveService llama-1", "TouchBudget"]


def test_the_highest_ordinal_leaves_first_among_equally_busy_pods() -> None:
    """Ties do not depend on the order of a list."""
    assert acts(plan(fleet(pod(1), pod(2), pod(0)))) == ["LeaveService llama-2", "TouchBudget"]


def test_a_pod_whose_requests_are_unknown_leaves_last() -> None:
    """Unknown is not idle."""
    view = fleet(pod(0, requests=50.0), pod(1, requests=None))

    assert acts(plan(view)) == ["LeaveService llama-0", "TouchBudget"]


def test_a_pod_that_does_not_serve_anyway_leaves_before_an_idle_one() -> None:
    """A broken replica costs nothing."""
    view = fleet(pod(0, ready=False, ready_changed_at=NOW - 300, requests=None), pod(1), pod(2))

    assert acts(plan(view)) == ["LeaveService llama-0", "TouchBudget"]


def test_no_further_pod_leaves_while_one_is_out() -> None:
    """`maxUnavailable` is 1 by default."""
    view = fleet(draining(0), pod(1), pod(2))

    assert acts(plan(view)) == []


def test_two_pods_leave_together_if_two_may_be_missing() -> None:
    """`maxUnavailable` 2 means two."""
    view = fleet(pod(0), pod(1), pod(2), rollout={"maxUnavailable": 2})

    assert acts(plan(view)) == ["LeaveService llama-2", "LeaveService llama-1", "TouchBudget"]


def test_no_pod_leaves_while_another_is_down_for_a_reason_of_its_own() -> None:
    """A replica that has the target but does not serve counts as missing."""
    starting = pod(1, NONE, ready=False, created_at=NOW - 30, ready_changed_at=NOW - 29, started_at=NOW - 20)

    result = plan(fleet(pod(0), starting, pod(2)))

    assert acts(result) == []
    assert result.switching.status is ConditionStatus.TRUE
    assert "llama-1 is not Ready" in result.switching.message
    assert not result.settled


def test_no_pod_leaves_while_a_replica_has_no_pod() -> None:
    """What is missing is missing, whoever deleted it."""
    result = plan(fleet(pod(0), pod(1), replicas=3))

    assert acts(result) == []
    assert "replica 2 has no pod" in result.switching.message


def test_no_pod_leaves_while_one_is_being_deleted() -> None:
    """A terminating pod serves nobody any more, and nothing is done to it."""
    assert acts(plan(fleet(pod(0), pod(1), pod(2, terminating=True)))) == []


def test_a_second_broken_pod_waits_until_the_first_has_come_up() -> None:
    """A target that turns out broken must not spread, not even to pods that are down."""
    down = {"ready": False, "ready_changed_at": NOW - 300, "requests": None}

    assert acts(plan(fleet(told(0, ready=False), pod(1, **down), pod(2, **down)))) == []


def test_a_pod_that_never_got_a_node_does_not_keep_a_fix_from_the_broken_ones() -> None:
    """It is told the target without any drain, and a crash-looping one follows in the same plan."""
    looping = {"method_set_at": None, "drain_started_at": None, "serving": True, "restarts": 9}
    view = fleet(crashing(0, EAGLE, **looping), crashing(1, EAGLE, **looping), pending(2))

    assert acts(plan(view)) == ["LeaveService llama-2", "LeaveService llama-1", "TouchBudget"]


def test_pods_that_are_being_scaled_away_are_left_alone() -> None:
    """Ordinals from `replicas` on are the StatefulSet's to delete; the budget may still count them."""
    view = fleet(pod(0, NONE), pod(1, NONE), pod(2), replicas=2)

    assert acts(plan(view)) == []
    assert plan(view).settled


def test_a_single_replica_is_held_and_the_user_is_told_the_command() -> None:
    """A restart of the only replica is an outage that the user has to allow."""
    result = plan(fleet(pod(0)))

    assert acts(result) == []
    assert result.switching.status is ConditionStatus.FALSE
    assert result.switching.reason is Reason.RESTART_NEEDS_OUTAGE
    assert (
        "kubectl patch sdd llama --namespace serving --type merge "
        """-p '{"spec":{"rollout":{"singleReplica":"Restart"}}}'""" in result.switching.message
    )
    assert result.phase is None
    assert not result.settled


def test_a_single_replica_restarts_where_the_user_allows_the_outage() -> None:
    """`singleReplica: Restart` drains and restarts it like any other."""
    view = fleet(pod(0), rollout={"singleReplica": "Restart"})

    assert acts(plan(view)) == ["LeaveService llama-0", "TouchBudget"]


def test_a_single_replica_that_serves_nobody_may_be_switched() -> None:
    """There is no outage to fear in a crash loop."""
    looping = {"method_set_at": None, "drain_started_at": None, "serving": True, "restarts": 9}

    assert acts(plan(fleet(crashing(0, EAGLE, **looping)))) == ["LeaveService llama-0", "TouchBudget"]


def test_a_drain_is_taken_back_when_scaling_down_makes_the_pod_the_only_replica() -> None:
    """With `singleReplica: Hold` the last one goes back as it is."""
    view = fleet(draining(0), pod(1), replicas=1)

    assert acts(plan(view)) == ["Rejoin llama-0"]


def test_a_changed_spec_replaces_a_single_replica_without_being_allowed_first() -> None:
    """The user changed the spec; there is no other way to take it up."""
    view = fleet(pod(0, NONE), spec_hash="h2")

    assert acts(plan(view)) == ["LeaveService llama-0", "TouchBudget"]


def test_a_pod_that_runs_the_config_under_another_name_is_renamed_without_a_restart() -> None:
    """Only the annotation with the name is written, on all pods at once."""
    off = MethodOnPod("off", NONE.config)
    view = fleet(pod(0, off), pod(1, off))

    result = plan(view)

    assert acts(result) == ["SetMethod llama-1 none", "SetMethod llama-0 none"]
    assert all(step.method.config == step.pod.config for step in result.steps)
    assert not result.settled


def test_nothing_is_done_while_suspended() -> None:
    """`suspend` freezes the fleet as it is, also half-way."""
    result = plan(fleet(draining(0), crashing(1), pod(2), suspended=True))

    assert acts(result) == []
    assert result.switching.reason is Reason.SUSPENDED


def test_nothing_is_done_with_zero_replicas() -> None:
    """There is nothing to switch."""
    result = plan(fleet(pod(0), replicas=0))

    assert acts(result) == []
    assert result.switching.reason is Reason.IDLE


def test_nothing_leaves_before_the_statefulset_carries_the_target() -> None:
    """A pod that were replaced now would come back as before; but what is done goes back into the Service."""
    assert acts(plan(fleet(pod(0), pod(1), statefulset_current=False))) == []
    assert acts(plan(fleet(draining(0), pod(1), statefulset_current=False))) == []
    assert acts(plan(fleet(restarted(0), pod(1), statefulset_current=False))) == ["Rejoin llama-0"]
    assert acts(plan(fleet(crashing(0), pod(1), statefulset_current=False))) == []
    assert not plan(fleet(pod(0, NONE), statefulset_current=False)).settled


def test_what_is_said_does_not_change_while_a_step_cannot_be_taken() -> None:
    """The same words a minute later: else each failed try would write the status."""
    views = [fleet(pod(0), pod(1), now=NOW + seconds) for seconds in (0, 60)]

    assert len({plan(view).switching.message for view in views}) == 1


def test_nothing_is_done_when_every_pod_runs_the_target() -> None:
    """Level-triggered: no memory, no step, no reason to look again."""
    result = plan(fleet(pod(0, NONE), pod(1, NONE)))

    assert acts(result) == []
    assert result.settled
    assert result.updated_replicas == 2
    assert (result.switching.status, result.switching.reason) == (ConditionStatus.FALSE, Reason.IDLE)
    assert (result.phase, result.pod, result.kind, result.look_again, result.stalled) == (None, None, None, None, None)


def test_a_switch_is_not_over_before_an_engine_has_come_up_with_the_target() -> None:
    """A pod made from the new template has the target at once, but proves nothing yet."""
    made = pod(0, NONE, ready=False, created_at=NOW - 5, ready_changed_at=NOW - 5, container_id=None, started_at=None)

    assert not plan(fleet(made)).settled
    assert plan(fleet(made, fallback=None)).settled


def test_a_pod_without_a_digest_of_its_spec_is_not_replaced() -> None:
    """What is not known to differ is left alone: an upgrade of the operator restarts nothing."""
    assert acts(plan(fleet(pod(0, NONE, spec_hash=""), spec_hash="h2"))) == []
    assert acts(plan(fleet(pod(0, NONE), spec_hash=""))) == []


def test_a_pod_on_a_lost_node_is_deleted_by_force() -> None:
    """Its StatefulSet would wait for its kubelet for ever; engines hold no state."""
    view = fleet(pod(0, NONE), pod(1, NONE, node_lost=True, ready=False, terminating=True))

    assert acts(plan(view)) == ["DeletePod llama-1 by force"]


def test_a_pod_that_is_only_terminating_is_never_deleted_by_force() -> None:
    """Its kubelet is alive and ends it in its own time."""
    assert acts(plan(fleet(pod(0, NONE), pod(1, NONE, terminating=True, ready=False)))) == []
