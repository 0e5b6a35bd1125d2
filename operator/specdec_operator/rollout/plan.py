"""The step planner: what to do next with the pods of one object so that all of them run what is wanted.

Level-triggered: the plan depends on what is there now and on nothing remembered, so an operator that is killed
between any two steps goes on where it stopped. Every step names the pod as it was read; a pod that has changed
since refuses it.
"""

from dataclasses import replace

from specdec_operator.api.conditions import Condition, Reason
from specdec_operator.api.status import RolloutKind, RolloutStep
from specdec_operator.rollout import words
from specdec_operator.rollout.advance import Stage, advance
from specdec_operator.rollout.choose import next_to_leave
from specdec_operator.rollout.fleet import (
    DeletePod,
    FleetView,
    GiveUpTarget,
    LeaveService,
    Plan,
    PodView,
    Rejoin,
    SetMethod,
    Step,
    TouchBudget,
)
from specdec_operator.rollout.fleet_facts import (
    Work,
    held,
    living,
    members,
    out_of_service,
    settled,
    updated_count,
    work,
)
from specdec_operator.rollout.pods import taken_out, up
from specdec_operator.rollout.trouble import give_up, next_deadline, stalled

ACT_AGAIN = 1.0
"""Seconds after which the effect of a step is looked at."""


def plan(view: FleetView) -> Plan:
    """Return the next steps and what to say about them.

    At most one step per pod. While the StatefulSet does not carry the target and the spec yet, nothing is taken out
    of service and nothing restarts; pods that are done still go back into their Service.
    """
    if view.suspended:
        message = "spec.suspend is true: pods stay as they are, also those that are out of their Service."
        return _resting(view, words.not_switching(Reason.SUSPENDED, message))
    if view.replicas == 0:
        return _resting(view, words.idle(view), _by_force(view.pods))
    if not view.statefulset_current:
        return _only_what_serves(_proceed(view))
    order = give_up(view)
    return _proceed(view) if order is None else _give_up(view, order)


def keep_running(pods: tuple[PodView, ...], now: float) -> tuple[Step, ...]:
    """Return the steps that are right whatever the spec says, for an object whose spec cannot be used now.

    A pod that is out of its Service goes back if it can serve as it is; one on a lost node makes room.
    """
    back = (Rejoin(pod) for pod in pods if taken_out(pod) and up(pod, now))
    return (*_by_force(pods), *back)


def _by_force(pods: tuple[PodView, ...]) -> tuple[Step, ...]:
    """Delete pods whose node is lost: their StatefulSet would wait for them for ever."""
    return tuple(DeletePod(pod, force=True) for pod in pods if pod.node_lost)


def _only_what_serves(wanted: Plan) -> Plan:
    """Keep the steps that bring pods back: a pod told or replaced now might come up with what was wanted before."""
    steps = tuple(step for step in wanted.steps if isinstance(step, Rejoin) or _is_forced(step))
    return replace(wanted, steps=steps, look_again=ACT_AGAIN, settled=False)


def _is_forced(step: Step) -> bool:
    return isinstance(step, DeletePod) and step.force


def _resting(view: FleetView, condition: Condition, steps: tuple[Step, ...] = ()) -> Plan:
    return Plan(
        steps=steps,
        switching=condition,
        updated_replicas=updated_count(view),
        look_again=ACT_AGAIN if steps else None,
        stalled=stalled(view),
        settled=settled(view),
    )


def _give_up(view: FleetView, order: GiveUpTarget) -> Plan:
    failing = next(iter(out_of_service(view)), None)
    return Plan(
        steps=(*_by_force(view.pods), order),
        switching=words.giving_up(view, order),
        phase=RolloutStep.REVERTING,
        pod=failing.name if failing else None,
        updated_replicas=updated_count(view),
        look_again=ACT_AGAIN,
        kind=RolloutKind.SWITCH,
    )


def _proceed(view: FleetView) -> Plan:
    stages = (
        *(advance(view, pod) for pod in out_of_service(view)),
        *(_leaving(view, pod) for pod in next_to_leave(view)),
    )
    steps = (*_by_force(view.pods), *_steps(stages), *_renames(view))
    switch = next((stage for stage in stages if stage.kind is RolloutKind.SWITCH), None)
    rollout = next((stage for stage in stages if stage.kind is RolloutKind.ROLLOUT), None)
    if not stages:
        return _nothing_in_hand(view, steps)
    return Plan(
        steps=steps,
        switching=words.switching(view, switch) if switch else words.idle(view),
        phase=stages[0].phase,
        pod=stages[0].pod.name,
        updated_replicas=updated_count(view),
        look_again=_look_again(view, steps, stages),
        stalled=stalled(view),
        kind=stages[0].kind,
        reconciling=words.rolling_out(view, rollout) if rollout else None,
        details=_details(stages[0].pod),
    )


def _leaving(view: FleetView, pod: PodView) -> Stage:
    kind = RolloutKind.ROLLOUT if work(view, pod) is Work.REPLACE else RolloutKind.SWITCH
    return Stage(pod, kind, RolloutStep.LEAVING, "leaves its Service", step=LeaveService(pod))


def _steps(stages: tuple[Stage, ...]) -> tuple[Step, ...]:
    """Return the steps that are due; the budget is touched once, after all pods that leave."""
    due = [stage.step for stage in stages if stage.step is not None]
    pods = tuple(step for step in due if not isinstance(step, TouchBudget))
    touch = any(isinstance(step, (LeaveService, TouchBudget)) for step in due)
    return (*pods, TouchBudget()) if touch else pods


def _renames(view: FleetView) -> tuple[Step, ...]:
    """Return the annotations to correct where the same config goes by another name: nothing restarts."""
    return tuple(
        SetMethod(pod, view.target)
        for pod in living(view)
        if not taken_out(pod) and work(view, pod) is Work.NONE and pod.method != view.target.name
    )


def _nothing_in_hand(view: FleetView, steps: tuple[Step, ...]) -> Plan:
    waiting = _waiting_kind(view)
    outage = next((pod for pod in living(view) if work(view, pod) is Work.SWITCH and held(view, pod)), None)
    condition = words.idle(view) if outage is None else words.needs_outage(view, outage)
    down = words.first_down(view)
    if waiting is RolloutKind.SWITCH:
        condition = words.waiting_for_others(view, waiting)
    return Plan(
        steps=steps,
        switching=condition,
        phase=_WAITING_PHASE[waiting] if waiting else None,
        pod=down.name if waiting and down else None,
        updated_replicas=updated_count(view),
        look_again=_look_again(view, steps, ()),
        stalled=stalled(view),
        kind=waiting,
        reconciling=words.waiting_for_others(view, waiting) if waiting is RolloutKind.ROLLOUT else None,
        settled=not steps and settled(view),
    )


_WAITING_PHASE = {RolloutKind.SWITCH: RolloutStep.RESTARTING, RolloutKind.ROLLOUT: RolloutStep.REPLACING}


def _waiting_kind(view: FleetView) -> RolloutKind | None:
    """Return what is left to do once other replicas serve again, None when nothing is."""
    left = {work(view, pod) for pod in members(view) if not (work(view, pod) is Work.SWITCH and held(view, pod))}
    if Work.REPLACE in left:
        return RolloutKind.ROLLOUT
    return RolloutKind.SWITCH if Work.SWITCH in left else None


def _look_again(view: FleetView, steps: tuple[Step, ...], stages: tuple[Stage, ...]) -> float | None:
    deadline = next_deadline(view)
    waits = [stage.look_again for stage in stages]
    if steps:
        waits.append(ACT_AGAIN)
    if deadline is not None:
        waits.append(deadline - view.now)
    return min(waits, default=None)


def _details(pod: PodView) -> dict[str, str]:
    return {} if pod.requests is None else {"requests": f"{pod.requests:g}"}
