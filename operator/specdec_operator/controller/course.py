"""From a snapshot to a course: what the policy wants, what becomes the target, and what the pods need for it. Pure."""

from dataclasses import dataclass, replace

from specdec_operator.api.conditions import Condition, ConditionStatus, ConditionType, Reason
from specdec_operator.api.names import (
    CONFIG_ANNOTATION,
    METHOD_ANNOTATION,
    NONE_METHOD,
    SPEC_HASH_ANNOTATION,
    TOUCHED_ANNOTATION,
)
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
_ORDERS = frozenset({Reason.MODE_OFF, Reason.PINNED})
_ACTIVE_IS_GONE = frozenset({Reason.METHOD_REMOVED, Reason.UNSUPPORTED_BY_ENGINE_VERSION})


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
    held: bool = False
    """The only replica may not be restarted: it keeps what it runs, and a switch on its way ends here."""

    @property
    def switches(self) -> bool:
        """Say whether a switch starts with this pass."""
        return self.target != self.standing and self.given_up is None and not self.held


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
    course = Course(decision, active, standing, standing, plan(fleet_view(snapshot, standing)))
    return _hold(snapshot, _give_up(snapshot, course))


def _wanted(snapshot: Snapshot, decision: Decision, standing: str) -> str:
    """Return what should be in force: what the user orders, what the policy switches to, else what is.

    An order holds also where the pods obey it already: a switch on its way to something else turns round. Not so a
    way back from the method that is ordered: it ends before that is tried again.
    """
    if not usable(snapshot, standing):
        first = first_method(method_views(snapshot))
        return decision.target if usable(snapshot, decision.target) and _is_to_act(decision) else first
    if decision.reason in _ACTIVE_IS_GONE or decision.target == _left_behind(snapshot):
        return standing
    return decision.target if _is_to_act(decision) else standing


def _is_to_act(decision: Decision) -> bool:
    return decision.action is DecisionAction.SWITCH or decision.reason in _ORDERS


def _left_behind(snapshot: Snapshot) -> str | None:
    """Return the method that did not come up while the pods are on their way back from it."""
    rollout = snapshot.status.rollout
    return rollout.from_ if rollout is not None and _is_way_back(snapshot) else None


def _is_way_back(snapshot: Snapshot) -> bool:
    """Say whether the switch on its way was given up: its record has an outcome already."""
    rollout = snapshot.status.rollout
    switch = rollout is not None and rollout.kind is RolloutKind.SWITCH
    return switch and all(record.outcome is not None for record in snapshot.status.switches)


def _trial(snapshot: Snapshot, target: str, standing: str) -> FleetView:
    """Return the fleet as it will be once the StatefulSet carries the new target."""
    return replace(fleet_view(snapshot, target, fallback=standing), statefulset_current=True)


def _begin(snapshot: Snapshot, course: Course) -> Course:
    """Let the switch start, unless something holds it back."""
    stay = _stay(snapshot, course)
    if snapshot.spec.suspend:
        return replace(stay, held_back="spec.suspend is true")
    if not usable(snapshot, course.standing):
        return _hold(snapshot, course)
    limit = snapshot.maximum_concurrent_switches
    if snapshot.switching_elsewhere >= limit and snapshot.status.rollout is None:
        return replace(stay, held_back=f"maximumConcurrentSwitches ({limit}) other objects are switching")
    if course.plan.switching.reason is Reason.RESTART_NEEDS_OUTAGE:
        return replace(stay, plan=replace(stay.plan, switching=course.plan.switching))
    return course


def _stay(snapshot: Snapshot, course: Course) -> Course:
    """Leave in force what is; for a method that has left the spec the plan stays, as nothing can be rendered."""
    known = course.standing == NONE_METHOD or snapshot.spec.method(course.standing) is not None
    kept = plan(fleet_view(snapshot, course.standing)) if known else course.plan
    return replace(course, target=course.standing, plan=kept)


def _hold(snapshot: Snapshot, course: Course) -> Course:
    """Let the only replica keep what it runs where a restart is not allowed and nothing else is left to do.

    What runs becomes the target again, so that nothing waits for ever. Where it cannot (it has left the spec, or is in
    quarantine) new pods start with the target; if the spec asks for the change, only the user can let it go on.
    """
    if course.plan.switching.reason is not Reason.RESTART_NEEDS_OUTAGE or course.plan.kind is not None:
        return course
    runs = course.active or course.standing
    if usable(snapshot, runs):
        return replace(course, target=runs if _may_return(snapshot, runs) else course.target, held=True)
    message = course.plan.switching.message
    stalled = Condition(ConditionType.STALLED, ConditionStatus.TRUE, Reason.RESTART_NEEDS_OUTAGE, message)
    return replace(course, plan=replace(course.plan, stalled=course.plan.stalled or stalled), held=True)


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
    if _is_way_back(snapshot):
        return None
    return rollout.from_ if _may_return(snapshot, rollout.from_) else None


def _may_return(snapshot: Snapshot, name: str) -> bool:
    """Say whether the method may become the target again: it can run and is not in quarantine."""
    views = {view.name: view for view in method_views(snapshot)}
    view = views.get(name)
    return usable(snapshot, name) and (view is None or view.quarantined_until is None)


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
        budget_touched_at=unix((budget.get("metadata", {}).get("annotations") or {}).get(TOUCHED_ANNOTATION)),
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
