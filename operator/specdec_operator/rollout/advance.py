"""The next step of a pod that is out of its Service by our act."""

from dataclasses import dataclass
from typing import Final

from specdec_operator.api.status import RolloutKind, RolloutStep
from specdec_operator.rollout.fleet import DeletePod, FleetView, PodView, Rejoin, SetMethod, Step, TouchBudget
from specdec_operator.rollout.fleet_facts import Work, budget_counts_right, drain_timeout, held, startup_timeout, work
from specdec_operator.rollout.pods import broken, may_run_old, set_since_drain, starting_since, up

LEAVE_SETTLE: Final = 5.0
"""Seconds for which requests may still arrive after the label is gone: proxies learn of it with a delay."""
DRAIN_POLL: Final = 1.0
RESTART_POLL: Final = 10.0
TOUCH_PERIOD: Final = 20.0
"""Seconds between two touches of a budget that does not count right."""
BUDGET_PATIENCE: Final = 60.0
"""Seconds of a drain after which an idle pod no longer waits for the budget: its controller may be down, or a pod that
is not ours is counted."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Where a pod stands: its next step, if one is due, and since when and until when it waits (Unix seconds).

    A stage that begins with its own step has no `since` yet.
    """

    pod: PodView
    kind: RolloutKind
    phase: RolloutStep
    doing: str
    """What happens, for the message: a phrase after "pod llama-0 (1 of 3) "."""
    since: float | None = None
    until: float | None = None
    step: Step | None = None
    look_again: float = DRAIN_POLL


def advance(view: FleetView, pod: PodView) -> Stage:
    """Return the next step of a pod that is out of service. Depends on nothing but the view."""
    left, waits = work(view, pod), held(view, pod)
    if left is Work.REPLACE and not waits:
        return _once_idle(view, pod, DeletePod(pod))
    if may_run_old(pod, view.now) and (left is Work.NONE or not _restart_overdue(view, pod)):
        return _restarting(view, pod, f"ends its engine to start it again with {pod.method}")
    if left is Work.SWITCH and not waits:
        return _once_idle(view, pod, SetMethod(pod, view.target))
    if up(pod, view.now):
        return _going_back(view, pod)
    return _restarting(view, pod, f"starts its engine with {pod.method}")


def _restart_overdue(view: FleetView, pod: PodView) -> bool:
    return view.now >= (pod.method_set_at or 0.0) + startup_timeout(view)


def _kind(view: FleetView, pod: PodView) -> RolloutKind:
    return RolloutKind.ROLLOUT if work(view, pod) is Work.REPLACE else RolloutKind.SWITCH


def _restarting(view: FleetView, pod: PodView, doing: str) -> Stage:
    since = starting_since(pod)
    return Stage(
        pod=pod,
        kind=_kind(view, pod),
        phase=RolloutStep.RESTARTING if work(view, pod) is Work.NONE else RolloutStep.REVERTING,
        doing=doing,
        since=since,
        until=since + startup_timeout(view),
        look_again=RESTART_POLL,
    )


def _going_back(view: FleetView, pod: PodView) -> Stage:
    return Stage(
        pod=pod,
        kind=_kind(view, pod),
        phase=RolloutStep.RESTARTING,
        doing=f"is Ready with {pod.method} and goes back into its Service",
        since=_left_at(pod),
        step=Rejoin(pod),
    )


def _left_at(pod: PodView) -> float:
    return pod.drain_started_at or pod.created_at


def _once_idle(view: FleetView, pod: PodView, step: SetMethod | DeletePod) -> Stage:
    """Let the running requests end first, within bounds; an engine that answers nothing has none."""
    since = max(_left_at(pod), pod.started_at or 0.0)
    until = since + drain_timeout(view)
    if broken(pod, view.now) or view.now >= until or _is_idle(view, pod):
        return _acting(view, pod, step)
    seen = _budget_let_go(view, pod)
    return Stage(
        pod=pod,
        kind=_kind(view, pod),
        phase=RolloutStep.DRAINING if seen else RolloutStep.LEAVING,
        doing="has left its Service and finishes its requests" if seen else "leaves its Service",
        since=since,
        until=until,
        step=TouchBudget() if _touch_due(view) else None,
        look_again=min(DRAIN_POLL, until - view.now),
    )


def _is_idle(view: FleetView, pod: PodView) -> bool:
    return _budget_let_go(view, pod) and pod.requests == 0 and view.now >= _left_at(pod) + LEAVE_SETTLE


def _budget_let_go(view: FleetView, pod: PodView) -> bool:
    return budget_counts_right(view) or view.now >= _left_at(pod) + BUDGET_PATIENCE


def _touch_due(view: FleetView) -> bool:
    """Say whether to touch the budget again; a touch in the future is from a clock that was wrong."""
    touched = view.budget_touched_at
    waits = touched is not None and 0 <= view.now - touched < TOUCH_PERIOD
    return not waits and not budget_counts_right(view)


def _acting(view: FleetView, pod: PodView, step: SetMethod | DeletePod) -> Stage:
    if isinstance(step, DeletePod):
        phase, doing = RolloutStep.REPLACING, "is deleted to make room for its successor"
    else:
        phase = RolloutStep.REVERTING if set_since_drain(pod) else RolloutStep.RESTARTING
        doing = f"is told to run {step.method.name}"
    return Stage(pod=pod, kind=_kind(view, pod), phase=phase, doing=doing, step=step)
