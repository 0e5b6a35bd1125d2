"""Which events a change of status deserves. Pure: they are emitted only after the status was written."""

from dataclasses import dataclass

from specdec_operator.api.conditions import ConditionStatus, ConditionType, Reason
from specdec_operator.api.status import ConditionRecord, DecisionAction, SpecDecDeploymentStatus, SwitchRecord
from specdec_operator.controller.history import DONE, ROLLED_BACK
from specdec_operator.ports import EventType

_BAD = {
    (ConditionType.READY, ConditionStatus.FALSE),
    (ConditionType.STALLED, ConditionStatus.TRUE),
    (ConditionType.CONFIG_VALID, ConditionStatus.FALSE),
    (ConditionType.METRICS_AVAILABLE, ConditionStatus.FALSE),
}
_GOOD = {
    (ConditionType.READY, ConditionStatus.TRUE),
    (ConditionType.METRICS_AVAILABLE, ConditionStatus.TRUE),
}
_TOLD_WHILE_IDLE = {Reason.RESTART_NEEDS_OUTAGE, Reason.BUDGET_SPENT}


@dataclass(frozen=True, slots=True)
class Notice:
    """An event to be."""

    type: EventType
    reason: Reason
    message: str


def notices(before: SpecDecDeploymentStatus, after: SpecDecDeploymentStatus) -> tuple[Notice, ...]:
    """Return the events for the step from one status to the next."""
    known = {record.type: record for record in before.conditions}
    found = [notice for record in after.conditions if (notice := _of_condition(known.get(record.type), record))]
    return (*found, *_of_decision(before, after), *_of_switches(before, after))


def _of_condition(before: ConditionRecord | None, after: ConditionRecord) -> Notice | None:
    if before is not None and (before.status, before.reason) == (after.status, after.reason):
        return None
    pair = (ConditionType(after.type), after.status)
    reason = Reason(after.reason)
    if pair in _BAD and reason is not Reason.STARTING:
        return Notice(EventType.WARNING, reason, after.message)
    flipped = before is None or before.status != after.status
    waits = pair[0] is ConditionType.SWITCHING and reason in _TOLD_WHILE_IDLE
    if (pair in _GOOD and flipped) or waits:
        return Notice(EventType.NORMAL, reason, after.message)
    return None


def _of_decision(before: SpecDecDeploymentStatus, after: SpecDecDeploymentStatus) -> tuple[Notice, ...]:
    now, then = after.decision, before.decision
    if now is None or now.action is not DecisionAction.RECOMMEND:
        return ()
    same = then is not None and (then.action, then.method) == (now.action, now.method)
    return () if same else (Notice(EventType.NORMAL, Reason.RECOMMENDED, now.message),)


def _of_switches(before: SpecDecDeploymentStatus, after: SpecDecDeploymentStatus) -> tuple[Notice, ...]:
    known = {(record.started_at, record.to): record for record in before.switches}
    found: list[Notice] = []
    for record in after.switches:
        then = known.get((record.started_at, record.to))
        if then is None:
            text = f"Switching from {record.from_} to {record.to}: {record.message}"
            found.append(Notice(EventType.NORMAL, Reason.SWITCH_STARTED, text))
        elif then.outcome != record.outcome:
            found += _of_outcome(record, after)
    return tuple(found)


def _of_outcome(record: SwitchRecord, after: SpecDecDeploymentStatus) -> list[Notice]:
    if record.outcome == DONE:
        text = f"Switched from {record.from_} to {record.to} ({record.reason}): {record.message}"
        return [Notice(EventType.NORMAL, Reason.SWITCHED, text)]
    if record.outcome == ROLLED_BACK:
        failed = next((method for method in after.methods if method.name == record.to), None)
        why = f" {failed.message}" if failed is not None and failed.message else ""
        text = f"Going back from {record.to} to {record.from_}.{why}"
        return [Notice(EventType.WARNING, Reason.ROLLED_BACK, text)]
    return []
