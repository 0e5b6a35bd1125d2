"""What follows from the fleet's view: who belongs to it, what is left to do for each pod, what must not be done."""

from enum import StrEnum
from typing import Final

from specdec_operator.api.quantities import parse_duration
from specdec_operator.api.spec import SingleReplica
from specdec_operator.rollout.fleet import FleetView, PodView
from specdec_operator.rollout.pods import available, taken_out, up

SCHEDULING_PATIENCE: Final = 120.0
"""Seconds that a pod may wait for a node before the fleet counts as stalled."""


class Work(StrEnum):
    """What is left to do for a pod."""

    NONE = "None"
    SWITCH = "Switch"
    """Its engine has to restart with the target method."""
    REPLACE = "Replace"
    """The pod has to make room for one made from the present spec."""


def members(view: FleetView) -> tuple[PodView, ...]:
    """Return the pods that the fleet is to keep, highest ordinal first; those being scaled away are not among them."""
    return tuple(sorted((pod for pod in view.pods if pod.ordinal < view.replicas), key=lambda pod: -pod.ordinal))


def living(view: FleetView) -> tuple[PodView, ...]:
    """Return the members that are not about to end."""
    return tuple(pod for pod in members(view) if not pod.terminating and not pod.node_lost)


def out_of_service(view: FleetView) -> tuple[PodView, ...]:
    """Return the members that we took out of the Service."""
    return tuple(pod for pod in members(view) if taken_out(pod))


def available_count(view: FleetView) -> int:
    """Count the members that serve."""
    return sum(available(pod) for pod in members(view))


def work(view: FleetView, pod: PodView) -> Work:
    """Return what is left to do for the pod. A pod without a digest of its spec is not known to differ."""
    if view.spec_hash and pod.spec_hash and pod.spec_hash != view.spec_hash:
        return Work.REPLACE
    return Work.NONE if pod.config == view.target.config else Work.SWITCH


def updated_count(view: FleetView) -> int:
    """Count the members that serve with the target and the present spec."""
    return sum(available(pod) and work(view, pod) is Work.NONE for pod in members(view))


def settled(view: FleetView) -> bool:
    """Say whether the switch or rollout is over: nothing is left to do for any pod there is.

    A switch is only over when an engine has come up with the target; until then the fallback may be needed.
    """
    done = all(work(view, pod) is Work.NONE and not taken_out(pod) for pod in members(view))
    return done and (view.fallback is None or updated_count(view) > 0)


def waits_for_node(pod: PodView, now: float) -> bool:
    """Say whether the pod has waited for a node for longer than scheduling takes."""
    return not pod.scheduled and not pod.terminating and now >= pod.created_at + SCHEDULING_PATIENCE


def held(view: FleetView, pod: PodView) -> bool:
    """Say whether the work on this pod must wait because it can serve as it is.

    A switch waits if it is the only replica and the user has not allowed the outage; a replacement waits while an
    earlier one finds no node: it would only give a second accelerator away.
    """
    if not up(pod, view.now):
        return False
    if work(view, pod) is Work.REPLACE:
        return any(waits_for_node(other, view.now) for other in view.pods if other.ordinal < view.replicas)
    return work(view, pod) is Work.SWITCH and outage_refused(view)


def outage_refused(view: FleetView) -> bool:
    """Say whether restarting a serving engine would be an outage that the user has not allowed."""
    return view.replicas == 1 and view.rollout.single_replica is SingleReplica.HOLD


def budget_counts_right(view: FleetView) -> bool:
    """Say whether the PodDisruptionBudget's controller has seen every pod that left the Service.

    It counts Ready pods that have the serving label, also those that are being scaled away.
    """
    in_service = sum(available(pod) for pod in view.pods)
    return view.budget_observed and (view.budget_serving is None or view.budget_serving <= in_service)


def drain_timeout(view: FleetView) -> float:
    """Return `rollout.drainTimeout` in seconds."""
    return parse_duration(view.rollout.drain_timeout)


def startup_timeout(view: FleetView) -> float:
    """Return `rollout.startupTimeout` in seconds."""
    return parse_duration(view.rollout.startup_timeout)
