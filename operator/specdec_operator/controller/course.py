"""From a snapshot to a course: what the policy wants, what becomes the target, and what the pods need for it. Pure."""

from dataclasses import dataclass, replace

from specdec_operator.api.conditions import Reason
from specdec_operator.api.names import CONFIG_ANNOTATION, METHOD_ANNOTATION, SPEC_HASH_ANNOTATION
from specdec_operator.api.spec import SpeculationMode
from specdec_operator.api.status import DecisionAction, RolloutKind
from specdec_operator.controller.methods import (
    method_on_pod,
    method_views,
    running_method,
    standing_method,
    usable,
)
from specdec_operator.controller.snapshot import Snapshot
from specdec_operator.controller.times import unix
from specdec_operator.policy.decide import decide, first_method
from specdec_operator.policy.decision import Decision, PolicyInput
from specdec_operator.rollout.fleet import FleetView, GiveUpTarget, MethodOnPod, Plan
from specdec_operator.rollout.plan import plan

DAY_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class Course:
    """What one pass aims at."""

    decision: Decision
    active: str | None
    """What the pods run; None before any of them is ready."""
    standing: str
    """The method in force before this pass."""
    target: str
    """The method in force from now on; another one than `standing` when a switch starts or is given up."""
    plan: Plan
    given_up: GiveUpTarget | None = None
    """Set when the target before did not come up."""
    held_back: str | None = None
    """Why a switch that the policy wants does not start yet; None when nothing holds it."""

    @property
    def switches(self) -> bool:
        """Say whether a switch starts with this pass."""
        return self.target != self.standing and self.given_up is None


def chart(snapshot: Snapshot) -> Course:
    """Decide and plan; nothing is done yet."""
    standing, active = standing_method(snapshot), running_method(snapshot)
    first = first_method(method_views(snapshot))
    decision = decide(_policy_input(snapshot, active or standing or first))
    if standing is None:
        start = decision.target if decision.action is DecisionAction.SWITCH else first
        return Course(decision, active, start, start, plan(fleet_view(snapshot, start)))
    wanted = _wanted(snapshot, decision, standing)
    if wanted != standing:
        return _begin(snapshot, Course(decision, active, standing, wanted, plan(_trial(snapshot, wanted, standing))))
    return _give_up(snapshot, Course(decision, active, standing, standing, plan(fleet_view(snapshot, standing))))


def _wanted(snapshot: Snapshot, decision: Decision, standing: str) -> str:
    """Return what should be in force: what the user orders, what the policy switches to, else what is.

    An order holds also where the pods obey it already: a switch on its way to something else turns round.
    """
    ordered = snapshot.spec.speculation.mode in {SpeculationMode.OFF, SpeculationMode.PINNED}
    if decision.action is DecisionAction.SWITCH or ordered:
        return decision.target
    return standing if usable(snapshot, standing) else first_method(method_views(snapshot))


def _trial(snapshot: Snapshot, target: str, standing: str) -> FleetView:
    """Return the fleet as it will be once the StatefulSet carries the new target."""
    return replace(fleet_view(snapshot, target, fallback=standing), statefulset_current=True)


def _begin(snapshot: Snapshot, course: Course) -> Course:
    """Let the switch start, unless something holds it back."""
    if not usable(snapshot, course.standing):
        return course
    stay = replace(course, target=course.standing, plan=plan(fleet_view(snapshot, course.standing)))
    if snapshot.spec.suspend:
        return replace(stay, held_back="spec.suspend is true")
    limit = snapshot.maximum_concurrent_switches
    if snapshot.switching_elsewhere >= limit and snapshot.status.rollout is None:
        return replace(stay, held_back=f"maximumConcurrentSwitches ({limit}) other objects are switching")
    if course.plan.switching.reason is Reason.RESTART_NEEDS_OUTAGE:
        return replace(stay, plan=replace(stay.plan, switching=course.plan.switching))
    return course


def _give_up(snapshot: Snapshot, course: Course) -> Course:
    """Go back to the method before where the planner says that the target does not come up."""
    given_up = next((step for step in course.plan.steps if isinstance(step, GiveUpTarget)), None)
    before = fallback_of(snapshot)
    if given_up is None or before is None:
        return course
    return replace(course, target=before, given_up=given_up)


def fallback_of(snapshot: Snapshot) -> str | None:
    """Return the method to go back to while a switch is on its way; None when there is no way back.

    From a switch that was given up there is none, however long the way back takes: its record has an outcome already.
    """
    rollout = snapshot.status.rollout
    if rollout is None or rollout.kind is not RolloutKind.SWITCH or rollout.from_ is None:
        return None
    if all(record.outcome is not None for record in snapshot.status.switches):
        return None
    views = {view.name: view for view in method_views(snapshot)}
    view = views.get(rollout.from_)
    quarantined = view is not None and view.quarantined_until is not None
    return rollout.from_ if usable(snapshot, rollout.from_) and not quarantined else None


def fleet_view(snapshot: Snapshot, target: str, *, fallback: str | None = None) -> FleetView:
    """Return what the step planner is shown when `target` is what all pods are to run."""
    back = fallback if fallback is not None and usable(snapshot, fallback) else fallback_of(snapshot)
    method = method_on_pod(snapshot.spec, target)
    budget = snapshot.children.budget or {}
    status = budget.get("status") or {}
    return FleetView(
        now=snapshot.now,
        replicas=snapshot.spec.replicas,
        rollout=snapshot.spec.rollout,
        target=method,
        fallback=method_on_pod(snapshot.spec, back) if back is not None and back != target else None,
        spec_hash=snapshot.spec_hash,
        statefulset_current=_is_current(snapshot, method),
        budget_observed=status.get("observedGeneration") == budget.get("metadata", {}).get("generation"),
        budget_serving=status.get("currentHealthy"),
        suspended=snapshot.spec.suspend,
        namespace=snapshot.key.namespace,
        switch_started_at=_switch_started_at(snapshot),
        pods=snapshot.pods,
    )


def _switch_started_at(snapshot: Snapshot) -> float | None:
    rollout = snapshot.status.rollout
    return unix(rollout.started_at) if rollout is not None and rollout.kind is RolloutKind.SWITCH else None


def _is_current(snapshot: Snapshot, method: MethodOnPod) -> bool:
    stateful_set = snapshot.children.stateful_set
    if stateful_set is None:
        return False
    wanted = {
        METHOD_ANNOTATION: method.name,
        CONFIG_ANNOTATION: method.config,
        SPEC_HASH_ANNOTATION: snapshot.spec_hash,
    }
    annotations = stateful_set["spec"].get("template", {}).get("metadata", {}).get("annotations") or {}
    return wanted.items() <= annotations.items()


def _policy_input(snapshot: Snapshot, active: str) -> PolicyInput:
    return PolicyInput(
        now=snapshot.now,
        speculation=snapshot.spec.speculation,
        methods=method_views(snapshot),
        replicas=snapshot.spec.replicas,
        active=active,
        active_since=_last_switch_ended(snapshot),
        switches=_switches_today(snapshot),
        load=snapshot.load,
        frozen=frozen_reason(snapshot),
        memory=snapshot.memory.policy,
    )


def _last_switch_ended(snapshot: Snapshot) -> float | None:
    ends = [unix(record.finished_at) for record in snapshot.status.switches]
    return max((end for end in ends if end is not None), default=None)


def _switches_today(snapshot: Snapshot) -> tuple[float, ...]:
    """Return the starts of the last 24 hours; a retry that the user asks for starts the count afresh."""
    if snapshot.requested_anew is not None:
        return ()
    since = max(snapshot.now - DAY_SECONDS, unix(snapshot.status.budget_since) or 0.0)
    starts = (unix(record.started_at) for record in snapshot.status.switches)
    return tuple(start for start in starts if start is not None and start > since)


def frozen_reason(snapshot: Snapshot) -> str | None:
    """Say why nothing may be decided now, without numbers that tick; None when it may."""
    rollout = snapshot.status.rollout
    if rollout is not None:
        return f"a {rollout.kind.value.lower()} to {rollout.to} is on its way"
    replicas = snapshot.spec.replicas
    if len(snapshot.living) != replicas:
        return f"{len(snapshot.living)} of {replicas} replicas exist"
    if len(snapshot.serving) != replicas:
        return f"{len(snapshot.serving)} of {replicas} replicas serve"
    return None
