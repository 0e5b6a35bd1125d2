"""The conditions Ready, Reconciling and Stalled, in the sense of kstatus. Pure.

- `Ready` is True while the latest spec is in force and at least one replica serves; it follows the pods, not only
  changes of the object.
- `Reconciling` is True from a change of spec until all replicas have it and are ready. A switch by the operator
  leaves it False. It stays Done for that generation even if a pod fails later.
- `Stalled` is True when only a human, or other tenants of the cluster, can help. `Reconciling` is False then: tools
  take the first of the two that is True.
"""

from specdec_operator.api.conditions import Condition, ConditionStatus, ConditionType, Reason
from specdec_operator.controller.course import Course
from specdec_operator.controller.memory import Trouble
from specdec_operator.controller.methods import method_on_pod
from specdec_operator.controller.snapshot import Snapshot
from specdec_operator.rollout.fleet import PodView


def stalled_condition(course: Course | None, trouble: Trouble | None) -> Condition:
    """Return the condition Stalled."""
    if trouble is not None:
        return Condition(ConditionType.STALLED, ConditionStatus.TRUE, trouble.reason, trouble.message)
    if course is not None and course.plan.stalled is not None:
        return course.plan.stalled
    return Condition(ConditionType.STALLED, ConditionStatus.FALSE, Reason.NOT_STALLED, "Nothing is in the way.")


def reconciling_condition(snapshot: Snapshot, course: Course | None, stalled: Condition) -> Condition:
    """Return the condition Reconciling."""

    def told(status: ConditionStatus, reason: Reason, message: str) -> Condition:
        return Condition(ConditionType.RECONCILING, status, reason, message)

    done_before = _stored_done_generation(snapshot) == snapshot.metadata.generation
    if stalled.status is ConditionStatus.TRUE and not (done_before and course is not None):
        return told(ConditionStatus.FALSE, stalled.reason, "Stopped; see the condition Stalled.")
    if snapshot.understanding.spec is not None and snapshot.spec.suspend:
        text = "spec.suspend is true: nothing is changed until it is false."
        return told(ConditionStatus.FALSE, Reason.SUSPENDED, text)
    if course is not None and course.plan.reconciling is not None:
        return course.plan.reconciling
    if course is None or done_before or _is_done(snapshot, course):
        return told(ConditionStatus.FALSE, Reason.DONE, "The latest spec is in force.")
    reason = Reason.ROLLING_OUT if _was_done_once(snapshot) else Reason.STARTING
    text = f"{course.plan.updated_replicas} of {snapshot.spec.replicas} replicas serve the latest spec."
    return told(ConditionStatus.TRUE, reason, text)


def ready_condition(
    snapshot: Snapshot, course: Course | None, stalled: Condition, reconciling: Condition, trouble: Trouble | None
) -> Condition:
    """Return the condition Ready."""
    serving, wanted = len(snapshot.serving), _wanted(snapshot)
    if trouble is not None:
        return _ready_in_trouble(snapshot, trouble)
    if wanted == 0:
        return _ready(ConditionStatus.TRUE, Reason.SCALED_TO_ZERO, "spec.replicas is 0: nothing is to run.")
    if serving == 0:
        reason = _why_nothing_serves(stalled, reconciling)
        return _ready(ConditionStatus.FALSE, reason, _nothing_serves(snapshot, stalled))
    if course is None or in_force(snapshot):
        text = f"{serving} of {wanted} replicas serve {_running(course)}."
        return _ready(ConditionStatus.TRUE, Reason.AVAILABLE, text)
    return _not_in_force(snapshot, stalled, reconciling)


def _ready(status: ConditionStatus, reason: Reason, message: str) -> Condition:
    return Condition(ConditionType.READY, status, reason, message)


def _not_in_force(snapshot: Snapshot, stalled: Condition, reconciling: Condition) -> Condition:
    serving, wanted = len(snapshot.serving), _wanted(snapshot)
    text = f"The latest spec is not in force on every replica yet; {serving} of {wanted} replicas serve."
    if stalled.status is ConditionStatus.TRUE:
        return _ready(ConditionStatus.FALSE, Reason.ROLLOUT_STALLED, f"{text} {stalled.message}")
    if reconciling.reason is Reason.SUSPENDED:
        return _ready(ConditionStatus.UNKNOWN, Reason.SUSPENDED, f"{text} spec.suspend is true.")
    return _ready(ConditionStatus.UNKNOWN, Reason.ROLLING_OUT, text)


def _ready_in_trouble(snapshot: Snapshot, trouble: Trouble) -> Condition:
    """What ran keeps running; but the latest spec is not in force, and tools that wait for it must not go on."""
    serving = len(snapshot.serving)
    if serving == 0:
        return _ready(ConditionStatus.FALSE, trouble.reason, trouble.message)
    text = f"The latest spec is not in force; {serving} replicas keep serving as before. {trouble.message}"
    return _ready(ConditionStatus.FALSE, Reason.ROLLOUT_STALLED, text)


def _wanted(snapshot: Snapshot) -> int:
    return snapshot.spec.replicas if snapshot.understanding.spec is not None else len(snapshot.pods)


def _why_nothing_serves(stalled: Condition, reconciling: Condition) -> Reason:
    if reconciling.reason is Reason.SUSPENDED:
        return Reason.SUSPENDED
    if stalled.status is ConditionStatus.FALSE and reconciling.reason is Reason.STARTING:
        return Reason.STARTING
    return Reason.NO_REPLICA_READY


def _nothing_serves(snapshot: Snapshot, stalled: Condition) -> str:
    text = f"None of {snapshot.spec.replicas} replicas serves."
    if stalled.status is ConditionStatus.TRUE:
        return f"{text} {stalled.message}"
    told = [f"{pod.name}: {pod.pending_reason}" for pod in snapshot.living if pod.pending_reason]
    return f"{text} {told[0]}" if told else text


def _running(course: Course | None) -> str:
    method = course.active if course is not None else None
    return f"with method {method}" if method else "requests"


def in_force(snapshot: Snapshot) -> bool:
    """Say whether every pod runs what the latest spec says for its method, and none is missing its fields."""
    return bool(snapshot.pods) and all(_obeys(snapshot, pod) for pod in snapshot.living)


def _obeys(snapshot: Snapshot, pod: PodView) -> bool:
    try:
        method = method_on_pod(snapshot.spec, pod.method)
    except KeyError:
        return False
    return pod.spec_hash == snapshot.spec_hash and pod.config == method.config


def _is_done(snapshot: Snapshot, course: Course) -> bool:
    replicas = snapshot.spec.replicas
    complete = len(snapshot.living) == replicas == len(snapshot.serving) == len(snapshot.pods)
    return complete and course.plan.settled and not course.switches


def _was_done_once(snapshot: Snapshot) -> bool:
    """Say whether pods served before: else the object is still starting."""
    return snapshot.status.active is not None


def _stored_done_generation(snapshot: Snapshot) -> int | None:
    for record in snapshot.status.conditions:
        if record.type == ConditionType.RECONCILING and record.reason == Reason.DONE:
            return record.observed_generation
    return None
