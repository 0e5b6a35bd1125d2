"""What of a child is kept in the cache. Pure.

Kept of every kind: apiVersion, kind, metadata with name, namespace, uid, resourceVersion, generation,
creationTimestamp, deletionTimestamp, ownerReferences, and the labels and annotations of our own prefix (and
of Kubernetes' own that name a pod's ordinal and revision).

- StatefulSet: `spec.replicas`, labels and annotations of `spec.template.metadata`, `status`.
- Service: `spec`.
- PodDisruptionBudget: `spec`; `status` without conditions and disrupted pods.
- Pod: `spec.nodeName`, `spec.schedulingGates`, `spec.terminationGracePeriodSeconds`, of the engine's container
  its name and the failureThreshold of its startup probe; of `status` the phase, reason, message, podIP,
  startTime, conditions, and of each container its name, id, readiness, restarts and states (long messages are cut).

All but pods carry `digest`: 16 hex digits over labels, annotations, owners and spec as the server sent them,
so that a change of a field that is not kept still shows.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from specdec_operator.api.names import ENGINE_CONTAINER, GROUP, MANAGED_BY_LABEL
from specdec_operator.ports import ChildKind, JsonObject

MAX_TEXT: Final = 300

_METADATA: Final = (
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "ownerReferences",
)
_FOREIGN_LABELS: Final = (MANAGED_BY_LABEL, "apps.kubernetes.io/pod-index", "controller-revision-hash")
_CONDITION: Final = ("type", "status", "reason", "message", "lastTransitionTime")
_CONTAINER: Final = ("name", "ready", "started", "restartCount", "containerID", "state", "lastState")
_POD_SPEC: Final = ("nodeName", "schedulingGates", "terminationGracePeriodSeconds")
_POD_STATUS: Final = ("phase", "reason", "message", "podIP", "startTime")
_BUDGET_STATUS: Final = (
    "observedGeneration",
    "currentHealthy",
    "desiredHealthy",
    "disruptionsAllowed",
    "expectedPods",
)


def trim(kind: ChildKind, body: JsonObject) -> JsonObject:
    """Return a new object with the fields that the controller reads (see the module)."""
    kept: JsonObject = {"kind": kind.value, "metadata": _metadata(body.get("metadata", {}))}
    kept.update(_PARTS[kind](body))
    if kind is not ChildKind.POD:
        kept["digest"] = digest(body)
    return {name: _compact(value) for name, value in kept.items()}


def digest(body: JsonObject) -> str:
    """Return 16 hex digits that change with labels, annotations, owners or spec of the object."""
    metadata = body.get("metadata", {})
    meant = [metadata.get(name) for name in ("labels", "annotations", "ownerReferences")] + [body.get("spec")]
    text = json.dumps(meant, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def same(left: JsonObject, right: JsonObject) -> bool:
    """Say whether two trimmed objects are the same but for their resourceVersion."""
    return _without_version(left) == _without_version(right)


def _without_version(body: JsonObject) -> JsonObject:
    metadata = {name: value for name, value in body["metadata"].items() if name != "resourceVersion"}
    return {**body, "metadata": metadata}


def _metadata(metadata: Mapping[str, Any]) -> JsonObject:
    kept = _pick(metadata, _METADATA)
    for name in ("labels", "annotations"):
        entries = metadata.get(name) or {}
        ours = {key: value for key, value in entries.items() if key.startswith(f"{GROUP}/") or key in _FOREIGN_LABELS}
        if ours:
            kept[name] = ours
    return kept


def _stateful_set(body: JsonObject) -> JsonObject:
    spec = body.get("spec", {})
    template = _metadata(spec.get("template", {}).get("metadata", {}))
    return {
        "apiVersion": "apps/v1",
        "spec": {**_pick(spec, ("replicas",)), "template": {"metadata": template}},
        "status": body.get("status", {}),
    }


def _service(body: JsonObject) -> JsonObject:
    return {"apiVersion": "v1", "spec": body.get("spec", {})}


def _budget(body: JsonObject) -> JsonObject:
    status = _pick(body.get("status", {}), _BUDGET_STATUS)
    return {"apiVersion": "policy/v1", "spec": body.get("spec", {}), "status": status}


def _pod(body: JsonObject) -> JsonObject:
    status = body.get("status", {})
    kept = _pick(status, _POD_STATUS)
    kept["conditions"] = [_pick(entry, _CONDITION) for entry in status.get("conditions") or ()]
    for name in ("containerStatuses", "initContainerStatuses"):
        if status.get(name):
            kept[name] = [_container(entry) for entry in status[name]]
    spec = body.get("spec", {})
    kept_spec = _pick(spec, _POD_SPEC)
    probes = [_startup_probe(entry) for entry in spec.get("containers") or () if entry.get("name") == ENGINE_CONTAINER]
    if any(probes):
        kept_spec["containers"] = probes
    return {"apiVersion": "v1", "spec": kept_spec, "status": kept}


def _startup_probe(container: Mapping[str, Any]) -> JsonObject:
    probe = _pick(container.get("startupProbe") or {}, ("failureThreshold",))
    return {"name": ENGINE_CONTAINER, "startupProbe": probe} if probe else {}


def _container(entry: Mapping[str, Any]) -> JsonObject:
    kept = _pick(entry, _CONTAINER)
    for name in ("state", "lastState"):
        if kept.get(name):
            kept[name] = {state: _cut(detail) for state, detail in kept[name].items()}
    return kept


def _cut(detail: object) -> object:
    if not isinstance(detail, dict):
        return detail
    return {key: value[:MAX_TEXT] if isinstance(value, str) else value for key, value in detail.items()}


def _pick(source: Mapping[str, Any], names: Iterable[str]) -> JsonObject:
    picked = {name: source[name] for name in names if source.get(name) is not None}
    if isinstance(picked.get("message"), str):
        picked["message"] = picked["message"][:MAX_TEXT]
    return picked


def _compact(value: object) -> object:
    """Copy a JSON value so that the keys and words of all objects are one string in memory."""
    if isinstance(value, dict):
        return {sys.intern(key): _compact(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_compact(entry) for entry in value]
    # Words only: some releases of Python never free an interned string, and names and times are without end.
    if isinstance(value, str) and value.isalpha():
        return sys.intern(value)
    return value


_PARTS: Final[Mapping[ChildKind, Callable[[JsonObject], JsonObject]]] = {
    ChildKind.STATEFUL_SET: _stateful_set,
    ChildKind.SERVICE: _service,
    ChildKind.POD_DISRUPTION_BUDGET: _budget,
    ChildKind.POD: _pod,
}
