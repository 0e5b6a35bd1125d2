"""Which pod leaves its Service next."""

import math

from specdec_operator.rollout.fleet import FleetView, PodView
from specdec_operator.rollout.fleet_facts import SCHEDULING_PATIENCE, Work, available_count, held, living, work
from specdec_operator.rollout.pods import available, never_started, taken_out


def next_to_leave(view: FleetView) -> tuple[PodView, ...]:
    """Return the pods to take out of service now.

    Pods that do not serve anyway come first. A pod that serves leaves only while fewer than `maxUnavailable` of all
    replicas are missing, for whatever reason.
    """
    ready_to_begin = candidates(view)
    down = [pod for pod in ready_to_begin if not available(pod)]
    free = [pod for pod in down if _only_annotated(view, pod)]
    broken = sorted((pod for pod in down if not _only_annotated(view, pod)), key=_least_busy)[: _slots(view, down)]
    serving = sorted((pod for pod in ready_to_begin if available(pod)), key=_least_busy)
    missing = view.replicas - available_count(view)
    return (*free, *broken, *serving[: max(view.rollout.max_unavailable - missing, 0)])


def candidates(view: FleetView) -> tuple[PodView, ...]:
    """Return the pods with work left that may begin."""
    return tuple(
        pod for pod in living(view) if not taken_out(pod) and work(view, pod) is not Work.NONE and not held(view, pod)
    )


def _only_annotated(view: FleetView, pod: PodView) -> bool:
    """Say whether the switch of this pod disturbs nothing: no engine has run in it, the next one takes the target."""
    return never_started(pod) and work(view, pod) is Work.SWITCH


def _slots(view: FleetView, down: list[PodView]) -> int:
    """Return how many more pods that do not serve may begin.

    Replicas on their way up count, so that a target that turns out broken has spread no further; replicas that got
    stuck before an engine ever ran do not, or a fix could never reach the others.
    """
    waiting = {pod.uid for pod in down}
    stuck = sum(pod.uid not in waiting and _stuck_before_start(view, pod) for pod in living(view))
    busy = view.replicas - available_count(view) - len(down) - stuck
    return max(view.rollout.max_unavailable - busy, 0)


def _stuck_before_start(view: FleetView, pod: PodView) -> bool:
    return never_started(pod) and not pod.ready and view.now >= pod.created_at + SCHEDULING_PATIENCE


def _least_busy(pod: PodView) -> tuple[float, int]:
    return (math.inf if pod.requests is None else pod.requests, -pod.ordinal)
