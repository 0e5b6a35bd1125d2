"""The planner's messages. They change only when a step is taken, so that they cause no write while one waits."""

from datetime import UTC, datetime

from specdec_operator.api.conditions import Condition, ConditionStatus, ConditionType, Reason
from specdec_operator.api.status import RolloutKind, RolloutStep
from specdec_operator.rollout.advance import Stage
from specdec_operator.rollout.fleet import FleetView, GiveUpTarget, PodView
from specdec_operator.rollout.fleet_facts import available_count, living, members, updated_count
from specdec_operator.rollout.pods import available

_DRAINING = frozenset({RolloutStep.LEAVING, RolloutStep.DRAINING})


def clock(seconds: float) -> str:
    """Return Unix seconds as "2026-12-01T09:30:00Z"."""
    return datetime.fromtimestamp(seconds, tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def switching(view: FleetView, stage: Stage) -> Condition:
    """Return Switching=True for the pod in hand."""
    reason = Reason.DRAINING if stage.phase in _DRAINING else Reason.RESTARTING
    return Condition(ConditionType.SWITCHING, ConditionStatus.TRUE, reason, _about(view, stage))


def rolling_out(view: FleetView, stage: Stage) -> Condition:
    """Return Reconciling=True for the pod in hand."""
    return Condition(ConditionType.RECONCILING, ConditionStatus.TRUE, Reason.ROLLING_OUT, _about(view, stage))


def _about(view: FleetView, stage: Stage) -> str:
    number = min(updated_count(view) + 1, view.replicas)
    aim = f"Switching to {view.target.name}" if stage.kind is RolloutKind.SWITCH else "Taking up the changed spec"
    since = f", since {clock(stage.since)}" if stage.since is not None else ""
    until = f", until {clock(stage.until)} at the latest" if stage.until is not None else ""
    return f"{aim}: pod {stage.pod.name} ({number} of {view.replicas}) {stage.doing}{since}{until}."


def not_switching(reason: Reason, message: str) -> Condition:
    """Return Switching=False."""
    return Condition(ConditionType.SWITCHING, ConditionStatus.FALSE, reason, message)


def idle(view: FleetView) -> Condition:
    """Return Switching=False/Idle."""
    return not_switching(Reason.IDLE, f"No switch is on its way; the method is {view.target.name}.")


def needs_outage(view: FleetView, pod: PodView) -> Condition:
    """Return Switching=False/RestartNeedsOutage with the command that allows it."""
    name = pod.name.rpartition("-")[0]
    place = f" --namespace {view.namespace}" if view.namespace else ""
    patch = '{"spec":{"rollout":{"singleReplica":"Restart"}}}'
    return not_switching(
        Reason.RESTART_NEEDS_OUTAGE,
        f"Pod {pod.name} is the only replica and keeps {pod.method}: switching to {view.target.name} would restart "
        f"its engine, an outage. Add a replica, or allow it: "
        f"kubectl patch sdd {name}{place} --type merge -p '{patch}'",
    )


def missing(view: FleetView) -> str:
    """Name the replicas that do not serve, and why."""
    there = {pod.ordinal for pod in members(view)}
    absent = [f"replica {ordinal} has no pod" for ordinal in range(view.replicas) if ordinal not in there]
    down = [f"pod {pod.name} {_why(pod)}" for pod in members(view) if not available(pod)]
    named = [*down, *absent][:3]
    more = view.replicas - available_count(view) - len(named)
    return ", ".join(named) + (f" and {more} more" if more > 0 else "")


def _why(pod: PodView) -> str:
    if pod.terminating or pod.node_lost:
        return "ends"
    if not pod.scheduled:
        return f"has no node ({pod.pending_reason or 'not scheduled yet'})"
    if not pod.ready:
        return f"is not Ready ({pod.waiting_reason})" if pod.waiting_reason else "is not Ready"
    return "is out of its Service"


def waiting_for_others(view: FleetView, kind: RolloutKind) -> Condition:
    """Return the condition for a fleet in which the next pod may not leave because others are down."""
    aim = f"Switching to {view.target.name}" if kind is RolloutKind.SWITCH else "Taking up the changed spec"
    done = f"{updated_count(view)} of {view.replicas} replicas are done"
    message = f"{aim}: {done}; the next one keeps serving while {missing(view)}."
    if kind is RolloutKind.SWITCH:
        return Condition(ConditionType.SWITCHING, ConditionStatus.TRUE, Reason.RESTARTING, message)
    return Condition(ConditionType.RECONCILING, ConditionStatus.TRUE, Reason.ROLLING_OUT, message)


def first_down(view: FleetView) -> PodView | None:
    """Return the living pod that the fleet waits for, None when it has none yet."""
    return next((pod for pod in living(view) if not available(pod)), None)


def giving_up(view: FleetView, order: GiveUpTarget) -> Condition:
    """Return the condition for a fleet whose target does not come up."""
    back = view.fallback.name if view.fallback else ""
    message = f"{order.message} Going back from {order.method} to {back}; the other replicas keep serving."
    return Condition(ConditionType.SWITCHING, ConditionStatus.TRUE, Reason.RESTARTING, message)
