"""The switches in status: what starts, ends, or is given up, and how long a method then stays in quarantine. Pure."""

from dataclasses import dataclass

from specdec_operator.api.status import MethodStatus, RolloutKind, RolloutStatus, RolloutStep, SwitchRecord
from specdec_operator.controller.course import Course
from specdec_operator.controller.snapshot import Snapshot
from specdec_operator.controller.times import rfc3339
from specdec_operator.policy.signals import Load

KEPT_SWITCHES = 10
FIRST_QUARANTINE = 600.0
"""Seconds; doubled with each failure of the same method."""
LONGEST_QUARANTINE = 86_400.0
DONE, ROLLED_BACK, SUPERSEDED = "Done", "RolledBack", "Superseded"


@dataclass(frozen=True, slots=True)
class Progress:
    """The part of status that tells of switches and rollouts, and what changed in it by this pass."""

    switches: tuple[SwitchRecord, ...]
    rollout: RolloutStatus | None
    started: SwitchRecord | None = None
    finished: SwitchRecord | None = None


def quarantine_seconds(failures: int) -> float:
    """Return how long a method stays in quarantine after that many failures (from 1)."""
    seconds: float = min(LONGEST_QUARANTINE, FIRST_QUARANTINE * 2 ** min(failures - 1, 16))
    return seconds


def progress(snapshot: Snapshot, course: Course) -> Progress:
    """Return where switches and rollouts stand after this pass."""
    if course.given_up is not None:
        return _given_up(snapshot, course)
    if course.switches:
        return _started(snapshot, course)
    rollout = snapshot.status.rollout
    if rollout is not None and (course.held or _is_gone(snapshot)):
        return _finished(snapshot, rollout, SUPERSEDED)
    if rollout is not None and _is_over(snapshot, course):
        return _finished(snapshot, rollout, DONE)
    return Progress(switches=snapshot.status.switches, rollout=_going_on(snapshot, course))


def _is_gone(snapshot: Snapshot) -> bool:
    """Say whether there is nothing left to switch: scaled to zero. New pods start with the target."""
    return snapshot.spec.replicas == 0 and not snapshot.living


def _is_over(snapshot: Snapshot, course: Course) -> bool:
    """Say whether every replica is there, ready, and as it is to be."""
    complete = len(snapshot.pods) == len(snapshot.serving) == snapshot.spec.replicas
    return complete and course.plan.settled and course.plan.kind is None


def _started(snapshot: Snapshot, course: Course) -> Progress:
    now = rfc3339(snapshot.now)
    load = snapshot.load if isinstance(snapshot.load, Load) else None
    record = SwitchRecord(
        started_at=now,
        from_=course.standing,
        to=course.target,
        reason=course.decision.reason,
        message=course.decision.message,
        concurrency=number(load.concurrency, 1) if load else None,
        acceptance_length=number(load.acceptance_length, 2) if load else None,
    )
    before = _end_open(snapshot.status.switches, now, SUPERSEDED)
    rollout = RolloutStatus(kind=RolloutKind.SWITCH, from_=course.standing, to=course.target, started_at=now)
    return Progress(switches=(*before, record)[-KEPT_SWITCHES:], rollout=rollout, started=record)


def _given_up(snapshot: Snapshot, course: Course) -> Progress:
    now = rfc3339(snapshot.now)
    rollout = RolloutStatus(
        kind=RolloutKind.SWITCH,
        from_=course.standing,
        to=course.target,
        step=RolloutStep.REVERTING,
        started_at=now,
    )
    switches = _end_open(snapshot.status.switches, now, ROLLED_BACK)
    return Progress(switches=switches, rollout=rollout, finished=switches[-1] if switches else None)


def _finished(snapshot: Snapshot, rollout: RolloutStatus, outcome: str) -> Progress:
    switches = snapshot.status.switches
    if rollout.kind is not RolloutKind.SWITCH or not switches or switches[-1].outcome is not None:
        return Progress(switches=switches, rollout=None)
    switches = _end_open(switches, rfc3339(snapshot.now), outcome)
    return Progress(switches=switches, rollout=None, finished=switches[-1])


def _going_on(snapshot: Snapshot, course: Course) -> RolloutStatus | None:
    """Return the rollout as it stands; one that the planner has begun by itself gets a record of its own."""
    known, plan = snapshot.status.rollout, course.plan
    if known is None and plan.kind is None:
        return None
    kind = known.kind if known is not None else plan.kind or RolloutKind.ROLLOUT
    return RolloutStatus(
        kind=kind,
        from_=known.from_ if known is not None else None,
        to=course.target,
        step=RolloutStep(plan.phase) if plan.phase is not None else None,
        pod=plan.pod,
        started_at=known.started_at if known is not None else rfc3339(snapshot.now),
        updated_replicas=plan.updated_replicas,
    )


def _end_open(switches: tuple[SwitchRecord, ...], now: str, outcome: str) -> tuple[SwitchRecord, ...]:
    return tuple(
        record if record.outcome is not None else record.model_copy(update={"outcome": outcome, "finished_at": now})
        for record in switches
    )


def quarantined(snapshot: Snapshot, record: MethodStatus | None) -> tuple[str, int]:
    """Return until when a method that has just failed is in quarantine, and how often it has failed by now."""
    failures = (record.failures or 0 if record is not None else 0) + 1
    return rfc3339(snapshot.now + quarantine_seconds(failures)), failures


def number(value: float | None, digits: int) -> str | None:
    """Return a number as status writes it: rounded, and a string."""
    return None if value is None else f"{value:.{digits}f}"
