"""Why a pod does not come up, whether the target method is to blame, and what to tell the user."""

from dataclasses import dataclass
from typing import Final

from specdec_operator.api.conditions import Condition, ConditionStatus, ConditionType, Reason
from specdec_operator.rollout.fleet import FleetView, GiveUpTarget, PodView
from specdec_operator.rollout.fleet_facts import (
    SCHEDULING_PATIENCE,
    Work,
    living,
    startup_timeout,
    updated_count,
    waits_for_node,
    work,
)
from specdec_operator.rollout.pods import (
    crash_looping,
    failed_starts,
    may_run_old,
    set_since_drain,
    starting_since,
)

_NOT_THE_METHOD: Final = frozenset(
    {
        "CreateContainerConfigError",
        "CreateContainerError",
        "ErrImageNeverPull",
        "ErrImagePull",
        "ImageInspectError",
        "ImagePullBackOff",
        "InvalidImageName",
        "RegistryUnavailable",
    }
)
"""Reasons of a waiting container that no speculative config can cause."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """A pod that does not come up."""

    pod: PodView
    reason: Reason
    message: str


def trouble(view: FleetView, pod: PodView) -> Trouble | None:
    """Return what keeps the pod from serving for longer than is normal, None when nothing does."""
    if pod.terminating or pod.node_lost or pod.ready:
        return None
    if not pod.scheduled:
        return _unscheduled(view, pod) if waits_for_node(pod, view.now) else None
    if crash_looping(pod):
        ended = f", last: {pod.last_exit}" if pod.last_exit else ""
        message = f"The engine of pod {pod.name} with method {pod.method!r} ended {_times(failed_starts(pod))}{ended}."
        return Trouble(pod, Reason.CRASH_LOOPING, message)
    if view.now >= starting_since(pod) + startup_timeout(view):
        return Trouble(pod, Reason.STARTUP_TIMEOUT, _too_slow(view, pod))
    return None


def _unscheduled(view: FleetView, pod: PodView) -> Trouble:
    why = pod.pending_reason or "the scheduler gives no reason"
    message = f"Pod {pod.name} has found no node since it was made: {why}. No other replica is given up meanwhile."
    return Trouble(pod, _scheduling_reason(view, pod), message)


def _scheduling_reason(view: FleetView, pod: PodView) -> Reason:
    if pod.pending_reason.startswith("SchedulingGated"):
        return Reason.SCHEDULING_GATED
    # Extended resources carry a domain: "Insufficient nvidia.com/gpu", not "Insufficient cpu".
    lacking = pod.pending_reason.partition("Insufficient ")[2].split(maxsplit=1)
    accelerator = bool(lacking) and "/" in lacking[0]
    others_hold_some = view.replicas == 1 or any(other.scheduled for other in living(view) if other is not pod)
    return Reason.ACCELERATOR_TAKEN if accelerator and others_hold_some else Reason.UNSCHEDULABLE


def _too_slow(view: FleetView, pod: PodView) -> str:
    why = pod.pending_reason or pod.waiting_reason or pod.last_exit
    return (
        f"Pod {pod.name} with method {pod.method!r} did not become Ready within rollout.startupTimeout "
        f"({view.rollout.startup_timeout}){f': {why}' if why else ''}."
    )


def _times(count: int) -> str:
    return "again and again" if count < 1 else "once" if count == 1 else f"{count} times"


def give_up(view: FleetView) -> GiveUpTarget | None:
    """Return the order to go back to the fallback if the target has shown on a pod that it does not come up."""
    if view.fallback is None or view.fallback.config == view.target.config:
        return None
    for pod in living(view):
        found = trouble(view, pod)
        if found is not None and _target_is_to_blame(view, found):
            return GiveUpTarget(method=view.target.name, reason=found.reason, message=found.message)
    return None


def _target_is_to_blame(view: FleetView, found: Trouble) -> bool:
    """Say whether the target itself is at fault.

    Not for what no method can cause, and not for an engine that had the target before the switch while others serve
    with it: after a switch was taken back, those that never left it fail for reasons of their own.
    """
    pod = found.pod
    if found.reason not in {Reason.CRASH_LOOPING, Reason.STARTUP_TIMEOUT} or work(view, pod) is not Work.NONE:
        return False
    if pod.waiting_reason in _NOT_THE_METHOD or not _has_run(view, pod):
        return False
    began = max(pod.created_at, pod.method_set_at or 0.0)
    new = set_since_drain(pod) or view.switch_started_at is None or began >= view.switch_started_at
    return new or updated_count(view) == 0


def _has_run(view: FleetView, pod: PodView) -> bool:
    """Say whether an engine has been started with the pod's present method at all."""
    if pod.container_id is not None:
        return not may_run_old(pod, view.now)
    return crash_looping(pod) or failed_starts(pod) >= 1


def stalled(view: FleetView) -> Condition | None:
    """Return Stalled=True for the first pod that does not come up, None when there is none."""
    for pod in living(view):
        found = trouble(view, pod)
        if found is not None:
            return Condition(ConditionType.STALLED, ConditionStatus.TRUE, found.reason, found.message)
    return None


def next_deadline(view: FleetView) -> float | None:
    """Return when the next pod that is on its way up will count as troubled, None when none is."""
    waiting = [pod for pod in living(view) if not pod.ready]
    due = [
        pod.created_at + SCHEDULING_PATIENCE if not pod.scheduled else starting_since(pod) + startup_timeout(view)
        for pod in waiting
    ]
    return min((deadline for deadline in due if deadline > view.now), default=None)
