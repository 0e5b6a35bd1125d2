"""What follows from one pod's view alone: is it in service, does it run what its annotation says, is it broken."""

from typing import Final

from specdec_operator.rollout.fleet import PodView

UNREADY_PATIENCE: Final = 30.0
"""Seconds for which a running engine that is not Ready may still be busy rather than broken: an engine under full
load can miss a few probes while it answers a hundred streams."""
COMPARE_PATIENCE: Final = 60.0
"""Seconds in which the kubelet has compared a new annotation with a container's environment and ended the container
if they differ: refresh of the downward-API file, a few probes, the preStop pause."""
ENDING_MARGIN: Final = 120.0
"""Seconds on top of its grace period after which a container that still runs was not told to end."""
_BACK_OFF: Final = 10.0
"""The kubelet's first back-off between two starts, in seconds."""
CRASH_LOOP: Final = "CrashLoopBackOff"


def available(pod: PodView) -> bool:
    """Say whether the Service sends it requests and it can answer them."""
    return pod.serving and pod.ready and not pod.terminating and not pod.node_lost


def taken_out(pod: PodView) -> bool:
    """Say whether it is out of its Service by our act and still has a future."""
    return pod.drain_started_at is not None and not pod.serving and not pod.terminating and not pod.node_lost


def never_started(pod: PodView) -> bool:
    """Say whether no engine has run in it yet: it waits for a node, an image or a secret."""
    return pod.container_id is None and pod.restarts == 0 and not pod.last_exit


def set_since_drain(pod: PodView) -> bool:
    """Say whether a method was set since it left its Service. Earlier records of SetMethod mean nothing."""
    if pod.method_set_at is None or pod.serving:
        return False
    return pod.drain_started_at is None or pod.method_set_at >= pod.drain_started_at


def may_run_old(pod: PodView, now: float) -> bool:
    """Say whether the running container may have started with an earlier value than the annotation has now.

    Such a container is about to be ended by the kubelet, whatever `ready` says, unless the kubelet has had ample
    time to compare and left it alone: then both values are equal.
    """
    if pod.container_id is None or not set_since_drain(pod):
        return False
    patience = _patience(pod)
    if patience is None:
        return False
    if not pod.ready or pod.ready_changed_at is None:
        return True
    # The kubelet compares only in engines that have started up once, so the time counts from Ready.
    return now < max(pod.method_set_at or 0.0, pod.ready_changed_at) + patience


def _patience(pod: PodView) -> float | None:
    """Return how long the container may run before it counts as equal, None when it surely started after the set."""
    if pod.container_id == pod.replaces_container:
        return pod.grace_seconds + ENDING_MARGIN
    # A container that crashed just when the method was set may have a successor made from the earlier value.
    margin = 0.0 if pod.replaces_container else 1.0
    if pod.started_at is not None and pod.started_at <= (pod.method_set_at or 0.0) + margin:
        return COMPARE_PATIENCE
    return None


def up(pod: PodView, now: float) -> bool:
    """Say whether its engine answers and runs what the annotations say."""
    return pod.ready and pod.container_id is not None and not pod.terminating and not may_run_old(pod, now)


def broken(pod: PodView, now: float) -> bool:
    """Say whether it has no requests that are worth waiting for: nothing runs, or not Ready for a while."""
    if pod.container_id is None:
        return True
    return not pod.ready and (pod.ready_changed_at is None or now >= pod.ready_changed_at + UNREADY_PATIENCE)


def failed_starts(pod: PodView) -> int:
    """Count the engines that surely had the present method and ended: since it was set, or since the pod was made.

    The container that the order ended is not among them, nor, where none ran at the order, the next one: the kubelet
    may have made it from the earlier value and ended it for that.
    """
    running = 0 if pod.container_id is None else 1
    if pod.method_set_at is None:
        return 0 if never_started(pod) else pod.restarts + 1 - running
    if pod.restarts_when_set is None:
        return 0
    doubtful = 0 if pod.replaces_container else 1
    return max(pod.restarts - pod.restarts_when_set - running - doubtful, 0)


def crash_looping(pod: PodView) -> bool:
    """Say whether its engine ends again and again with the present method.

    The kubelet's back-off alone proves nothing: it also delays the start after two switches in a row.
    """
    if pod.ready:
        return False
    if pod.waiting_reason == CRASH_LOOP:
        unknown = pod.method_set_at is not None and pod.restarts_when_set is None
        return unknown or failed_starts(pod) >= 1
    return failed_starts(pod) >= 2 and (set_since_drain(pod) or _restarted_while_unready(pod))


def _restarted_while_unready(pod: PodView) -> bool:
    if pod.started_at is None or pod.ready_changed_at is None:
        return False
    return pod.started_at > pod.ready_changed_at + _BACK_OFF


def starting_since(pod: PodView) -> float:
    """Return since when it has been trying to become Ready with its present method."""
    if set_since_drain(pod) and pod.method_set_at is not None:
        return pod.method_set_at
    return max(pod.created_at, pod.started_at or 0.0, pod.ready_changed_at or 0.0)
