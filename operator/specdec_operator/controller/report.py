"""The one place that says what `status` is to be: computed whole, from a snapshot and a course. Pure."""

from specdec_operator.api.conditions import Condition, ConditionStatus, ConditionType, Reason
from specdec_operator.api.names import NONE_METHOD
from specdec_operator.api.status import (
    ActiveMethod,
    ConditionRecord,
    DecisionStatus,
    MethodState,
    MethodStatus,
    SignalsStatus,
    SpecDecDeploymentStatus,
    TargetMethod,
)
from specdec_operator.controller.course import Course
from specdec_operator.controller.history import Progress, number, progress, quarantined
from specdec_operator.controller.memory import Trouble
from specdec_operator.controller.methods import quarantined_until
from specdec_operator.controller.outdated import outdated_times
from specdec_operator.controller.readiness import ready_condition, reconciling_condition, stalled_condition
from specdec_operator.controller.snapshot import Snapshot
from specdec_operator.controller.times import rfc3339, unix
from specdec_operator.controller.validity import config_valid_condition
from specdec_operator.engine.render import render_method
from specdec_operator.engine.version import EngineVersion, parse_engine_version
from specdec_operator.policy.join import metrics_condition
from specdec_operator.policy.signals import Load
from specdec_operator.resources import selector

FORGIVEN_AFTER = 3600.0
"""Seconds of service after which the failures of a method are forgotten."""


def report(snapshot: Snapshot, course: Course, trouble: Trouble | None = None) -> SpecDecDeploymentStatus:
    """Return the status of an object whose spec can be used."""
    moved = progress(snapshot, course)
    active = _active(snapshot, course)
    stalled = stalled_condition(course, trouble)
    reconciling = reconciling_condition(snapshot, course, stalled)
    conditions = (
        ready_condition(snapshot, course, stalled, reconciling, trouble),
        reconciling,
        stalled,
        config_valid_condition(snapshot.understanding, outdated_times(snapshot)),
        metrics_condition(snapshot.load),
        _speculation_active(snapshot, course),
        _switching(course, moved),
    )
    return SpecDecDeploymentStatus(
        **_common(snapshot, conditions),
        active=active,
        target=_target(snapshot, course),
        break_even_concurrency=_shown_break_even(snapshot, course),
        signals=_signals(snapshot),
        methods=_methods(snapshot, course, active),
        decision=_decision(snapshot, course),
        switches=moved.switches,
        rollout=moved.rollout,
        last_requested_at=snapshot.requested_anew or snapshot.status.last_requested_at,
        budget_since=rfc3339(snapshot.now) if snapshot.requested_anew else snapshot.status.budget_since,
    )


def report_trouble(snapshot: Snapshot, trouble: Trouble) -> SpecDecDeploymentStatus:
    """Return the status of an object that must not be touched: what was decided stays, what runs is still reported."""
    stalled = stalled_condition(None, trouble)
    reconciling = reconciling_condition(snapshot, None, stalled)
    conditions = (
        ready_condition(snapshot, None, stalled, reconciling, trouble),
        reconciling,
        stalled,
        config_valid_condition(snapshot.understanding, outdated_times(snapshot)),
        metrics_condition(snapshot.load),
    )
    kept = tuple(
        record.model_copy(update={"observed_generation": snapshot.metadata.generation})
        for record in snapshot.status.conditions
        if record.type in _KEPT_IN_TROUBLE
    )
    common = _common(snapshot, conditions)
    return snapshot.status.model_copy(update={**common, "conditions": (*_records(snapshot, conditions), *kept)})


_KEPT_IN_TROUBLE = (ConditionType.SPECULATION_ACTIVE, ConditionType.SWITCHING)


def _common(snapshot: Snapshot, conditions: tuple[Condition, ...]) -> dict[str, object]:
    pairs = sorted(selector(snapshot.key.name).items())
    spec = snapshot.understanding.spec
    version = parse_engine_version(spec.engine) if spec is not None else None
    return {
        "engine_version": version.text if isinstance(version, EngineVersion) else None,
        "observed_generation": snapshot.metadata.generation,
        "conditions": _records(snapshot, conditions),
        "replicas": len(snapshot.pods),
        "ready_replicas": sum(pod.ready for pod in snapshot.living),
        "selector": ",".join(f"{name}={value}" for name, value in pairs),
    }


def _records(snapshot: Snapshot, conditions: tuple[Condition, ...]) -> tuple[ConditionRecord, ...]:
    return tuple(_record(snapshot, condition) for condition in conditions)


def _record(snapshot: Snapshot, condition: Condition) -> ConditionRecord:
    """Return the condition as it is stored: the time moves only when the status flips."""
    before = next((each for each in snapshot.status.conditions if each.type == condition.type), None)
    same = before is not None and before.status == condition.status
    return ConditionRecord(
        type=condition.type,
        status=condition.status,
        reason=condition.reason,
        message=condition.message,
        observed_generation=snapshot.metadata.generation,
        last_transition_time=before.last_transition_time if before and same else rfc3339(snapshot.now),
    )


def _active(snapshot: Snapshot, course: Course) -> ActiveMethod | None:
    before = snapshot.status.active
    if course.active is None:
        return before
    tokens = _tokens(snapshot, course.active)
    if before is not None and before.method == course.active:
        return before.model_copy(update={"num_speculative_tokens": tokens})
    return ActiveMethod(method=course.active, num_speculative_tokens=tokens, since=rfc3339(snapshot.now))


def _target(snapshot: Snapshot, course: Course) -> TargetMethod:
    return TargetMethod(method=course.target, num_speculative_tokens=_tokens(snapshot, course.target))


def _tokens(snapshot: Snapshot, name: str) -> int | None:
    try:
        return render_method(snapshot.spec, name).num_speculative_tokens
    except KeyError:
        return None


def _signals(snapshot: Snapshot) -> SignalsStatus | None:
    load = snapshot.load
    if not isinstance(load, Load):
        return None
    return SignalsStatus(
        concurrency=number(load.concurrency, 1),
        acceptance_rate=number(load.acceptance_rate, 2),
        acceptance_length=number(load.acceptance_length, 2),
        waiting=number(load.waiting, 1),
        tokens_per_second=number(load.tokens_per_second, 0),
        sampled_at=rfc3339(load.sampled_at),
    )


def _decision(snapshot: Snapshot, course: Course) -> DecisionStatus:
    decision, before = course.decision, snapshot.status.decision
    held = f" It waits: {course.held_back}." if course.held_back else ""
    same = before is not None and (before.action, before.method, before.reason) == (
        decision.action,
        decision.target,
        decision.reason,
    )
    return DecisionStatus(
        action=decision.action,
        method=decision.target,
        reason=decision.reason,
        message=f"{decision.message}{held}",
        since=before.since if before and same else rfc3339(snapshot.now),
    )


def _speculation_active(snapshot: Snapshot, course: Course) -> Condition:
    """Return what the policy says about what runs; while nothing runs, that nothing does."""
    if course.active is not None:
        return course.decision.speculation_active
    reason = Reason.STARTING if snapshot.status.active is None else Reason.NO_REPLICA_READY
    text = f"No engine serves; they start with {course.target}."
    return Condition(ConditionType.SPECULATION_ACTIVE, ConditionStatus.UNKNOWN, reason, text)


def _switching(course: Course, moved: Progress) -> Condition:
    """Return what the planner says; while nothing goes on, why nothing does."""
    said = course.plan.switching
    if said.reason is not Reason.IDLE or moved.rollout is not None:
        return said
    if course.decision.reason is Reason.BUDGET_SPENT:
        return _not_switching(Reason.BUDGET_SPENT, course.decision.message)
    if moved.switches and moved.switches[-1].outcome == Reason.ROLLED_BACK:
        last = moved.switches[-1]
        return _not_switching(Reason.ROLLED_BACK, f"{last.to} did not come up and {last.from_} was put back.")
    return said


def _not_switching(reason: Reason, message: str) -> Condition:
    return Condition(ConditionType.SWITCHING, ConditionStatus.FALSE, reason, message)


def _shown_break_even(snapshot: Snapshot, course: Course) -> int | None:
    """Return that of the active method or, while none is active, of the first one that may come back."""
    active = course.active or course.target
    found = course.decision.break_even
    names = [method.name for method in snapshot.spec.speculation.methods]
    wanted = [active] if active != NONE_METHOD else [name for name in names if name in found]
    return next((found[name].concurrency for name in wanted if name in found), None)


def _methods(snapshot: Snapshot, course: Course, active: ActiveMethod | None) -> tuple[MethodStatus, ...]:
    names = [method.name for method in snapshot.spec.speculation.methods]
    return tuple(_method(snapshot, course, name, active) for name in (*names, NONE_METHOD))


def _method(snapshot: Snapshot, course: Course, name: str, active: ActiveMethod | None) -> MethodStatus:
    before = next((record for record in snapshot.status.methods if record.name == name), None)
    break_even = course.decision.break_even.get(name)
    known: dict[str, object] = {
        "name": name,
        "break_even_concurrency": break_even.concurrency if break_even else None,
        "break_even_source": break_even.source if break_even else None,
    }
    refused = snapshot.understanding.unsupported.get(name)
    if refused is not None:
        text = f"{refused.message.rstrip('.')}; {refused.remedy.rstrip('.')}."
        return MethodStatus(**known, state=MethodState.UNSUPPORTED, reason=refused.reason, message=text)
    if course.given_up is not None and name == course.given_up.method:
        until, failures = quarantined(snapshot, before)
        known |= {"reason": course.given_up.reason, "message": course.given_up.message}
        return MethodStatus(**known, state=MethodState.QUARANTINED, retry_at=until, failures=failures)
    if before is not None and quarantined_until(snapshot, before) is not None:
        known |= {"reason": before.reason, "message": before.message}
        return MethodStatus(**known, state=MethodState.QUARANTINED, retry_at=before.retry_at, failures=before.failures)
    is_active = active is not None and name == active.method
    state = MethodState.ACTIVE if is_active else MethodState.ELIGIBLE
    return MethodStatus(**known, state=state, failures=_failures(snapshot, before, active if is_active else None))


def _failures(snapshot: Snapshot, before: MethodStatus | None, active: ActiveMethod | None) -> int | None:
    """Return how often the method has failed; forgotten once it has served for a while, or the user asked anew."""
    if before is None or before.failures is None or snapshot.requested_anew is not None:
        return None
    since = unix(active.since) if active is not None else None
    return None if since is not None and snapshot.now - since > FORGIVEN_AFTER else before.failures
