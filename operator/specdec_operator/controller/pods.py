"""Pods as the step planner sees them, from what the API server says about them."""

from collections.abc import Mapping
from typing import Any

from specdec_operator.api.names import (
    CONFIG_ANNOTATION,
    DRAIN_ANNOTATION,
    ENGINE_CONTAINER,
    METHOD_ANNOTATION,
    REPLACES_ANNOTATION,
    RESTARTS_ANNOTATION,
    SERVING_LABEL,
    SPEC_HASH_ANNOTATION,
    SWITCHED_ANNOTATION,
)
from specdec_operator.controller.times import unix
from specdec_operator.ports import JsonObject
from specdec_operator.rollout.fleet import PodView

DEFAULT_GRACE_SECONDS = 600.0
"""Taken where the pod as read does not say its grace period."""
NODE_LOST_MARGIN = 30.0
"""Seconds past the end of its grace period after which the node of an evicted pod counts as lost."""


def pod_view(pod: JsonObject, *, now: float, requests: float | None = None) -> PodView:
    """Read one pod; `requests` is what was found out about its requests in flight.

    Pods read from a watch may lack anything but their metadata's name and uid.
    """
    metadata, status = pod["metadata"], pod.get("status") or {}
    annotations, labels = metadata.get("annotations") or {}, metadata.get("labels") or {}
    engine = _engine_status(status)
    running = (engine.get("state") or {}).get("running")
    waiting = (engine.get("state") or {}).get("waiting") or {}
    conditions = _conditions(status)
    unscheduled = conditions.get("PodScheduled", {}).get("status") == "False"
    return PodView(
        name=metadata["name"],
        uid=metadata["uid"],
        resource_version=metadata.get("resourceVersion", ""),
        ordinal=_ordinal(metadata["name"]),
        method=annotations.get(METHOD_ANNOTATION, ""),
        config=annotations.get(CONFIG_ANNOTATION, ""),
        serving=labels.get(SERVING_LABEL) == "true",
        ready=conditions.get("Ready", {}).get("status") == "True",
        created_at=unix(metadata.get("creationTimestamp")) or now,
        terminating=metadata.get("deletionTimestamp") is not None,
        scheduled=not unscheduled and bool((pod.get("spec") or {}).get("nodeName")),
        pending_reason=_pending_reason(conditions, waiting, running),
        container_id=engine.get("containerID") if running is not None else None,
        started_at=unix(running.get("startedAt")) if running is not None else None,
        restarts=engine.get("restartCount", 0),
        waiting_reason=waiting.get("reason", ""),
        last_exit=_last_exit(engine),
        ready_changed_at=unix(conditions.get("Ready", {}).get("lastTransitionTime")),
        grace_seconds=(pod.get("spec") or {}).get("terminationGracePeriodSeconds", DEFAULT_GRACE_SECONDS),
        drain_started_at=unix(annotations.get(DRAIN_ANNOTATION)),
        method_set_at=unix(annotations.get(SWITCHED_ANNOTATION)),
        replaces_container=annotations.get(REPLACES_ANNOTATION),
        restarts_when_set=_count(annotations.get(RESTARTS_ANNOTATION)),
        spec_hash=annotations.get(SPEC_HASH_ANNOTATION, ""),
        node_lost=_node_lost(metadata, conditions, now),
        requests=requests,
    )


def is_draining(pod: JsonObject) -> bool:
    """Say whether the operator has taken the pod out of its Service."""
    return DRAIN_ANNOTATION in (pod["metadata"].get("annotations") or {})


def _engine_status(status: Mapping[str, Any]) -> Mapping[str, Any]:
    containers = status.get("containerStatuses") or ()
    return next((container for container in containers if container.get("name") == ENGINE_CONTAINER), {})


def _conditions(status: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {condition["type"]: condition for condition in status.get("conditions") or ()}


def _ordinal(name: str) -> int:
    suffix = name.rpartition("-")[2]
    return int(suffix) if suffix.isdigit() else 0


def _count(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdigit() else None


def _pending_reason(
    conditions: Mapping[str, Mapping[str, Any]], waiting: Mapping[str, Any], running: Mapping[str, Any] | None
) -> str:
    if running is not None:
        return ""
    scheduled = conditions.get("PodScheduled", {})
    told = scheduled if scheduled.get("status") == "False" else waiting
    return ": ".join(part for part in (told.get("reason", ""), told.get("message", "")) if part)


def _last_exit(engine: Mapping[str, Any]) -> str:
    state = engine.get("state") or {}
    ended = state.get("terminated") or (engine.get("lastState") or {}).get("terminated")
    if not ended:
        return ""
    return f"{ended.get('reason', 'Ended')} (exit code {ended.get('exitCode', '?')})"


def _node_lost(metadata: Mapping[str, Any], conditions: Mapping[str, Mapping[str, Any]], now: float) -> bool:
    """Say whether the pod was evicted from an unreachable node and its kubelet has not ended it in time.

    `deletionTimestamp` already contains the grace period; a living kubelet ends the pod before it.
    """
    due = unix(metadata.get("deletionTimestamp"))
    evicted = conditions.get("DisruptionTarget", {}).get("reason") == "DeletionByTaintManager"
    return evicted and due is not None and now > due + NODE_LOST_MARGIN
