"""Gaps in the metrics that are too short to tell anybody of. Pure.

A scrape that fails once takes its series away until the next one. Nothing is ever decided in a gap, but each would cost
a condition that flips and an event that tells of it.
"""

from specdec_operator.api.conditions import ConditionStatus, ConditionType
from specdec_operator.api.status import ConditionRecord, SpecDecDeploymentStatus
from specdec_operator.controller.snapshot import Snapshot
from specdec_operator.policy.signals import Unavailable
from specdec_operator.policy.smoothing import GRACE_SECONDS


def lost_at(snapshot: Snapshot) -> float | None:
    """Return since when the metrics are missing, None while they are there."""
    if not isinstance(snapshot.load, Unavailable):
        return None
    return snapshot.now if snapshot.memory.metrics_lost_at is None else snapshot.memory.metrics_lost_at


def bridged(snapshot: Snapshot, status: SpecDecDeploymentStatus) -> SpecDecDeploymentStatus:
    """Return the status with what was last said of the metrics, where they are missing since a moment ago."""
    before = {record.type: record for record in snapshot.status.conditions}
    if not _is_gap(snapshot, status, before.get(ConditionType.METRICS_AVAILABLE)):
        return status
    conditions = tuple(_kept(record, before.get(record.type)) for record in status.conditions)
    changes: dict[str, object] = {"conditions": conditions, "signals": snapshot.status.signals}
    reason = snapshot.load.reason if isinstance(snapshot.load, Unavailable) else None
    if status.decision is not None and status.decision.reason == reason:
        changes["decision"] = snapshot.status.decision
    return status.model_copy(update=changes)


def _is_gap(snapshot: Snapshot, status: SpecDecDeploymentStatus, metrics: ConditionRecord | None) -> bool:
    """Say whether the metrics were there until a moment ago, and the user has not changed anything since."""
    since = lost_at(snapshot)
    return (
        since is not None
        and snapshot.now - since < GRACE_SECONDS
        and metrics is not None
        and metrics.status is ConditionStatus.TRUE
        and metrics.observed_generation == status.observed_generation
        and snapshot.status.target == status.target
    )


def _kept(record: ConditionRecord, before: ConditionRecord | None) -> ConditionRecord:
    if before is None:
        return record
    if record.type == ConditionType.METRICS_AVAILABLE:
        return before
    speaks_of_signals = record.type == ConditionType.SPECULATION_ACTIVE
    return before if speaks_of_signals and (before.status, before.reason) == (record.status, record.reason) else record
