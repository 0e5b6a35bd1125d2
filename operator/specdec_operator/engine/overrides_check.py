"""What `pod.overrides` may not say: anything that the operator owns, and patches that do more than merge."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from specdec_operator.api.names import ENGINE_CONTAINER, GROUP, MANAGED_BY_LABEL, OWN_VOLUME_PREFIX
from specdec_operator.engine.findings import Finding, error
from specdec_operator.engine.owned import ENGINE_FIELDS, LIVENESS_FIELDS, POD_FIELDS

_FIELD: Final = "spec.pod.overrides"
MAXIMUM_DEPTH: Final = 12
_KEYED_LISTS: Final = ("containers", "initContainers", "volumes")
_LEAVE_OUT: Final = "leave it out"


def check_overrides(overrides: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield an error for each place of the patch that cannot be merged into the pod template."""
    shape = list(_shape(overrides, _FIELD, 0))
    yield from shape
    for key in overrides:
        if key not in ("metadata", "spec"):
            yield _error(f"{_FIELD}.{key}", "is no part of a pod template", "put it under metadata or spec")
    if not shape:
        for key, check in (("metadata", _metadata), ("spec", _pod)):
            part = overrides.get(key, {})
            if isinstance(part, Mapping):
                yield from check(part)
            else:
                yield _error(f"{_FIELD}.{key}", "is no object", "write the fields to set, or leave it out")


def _shape(value: object, path: str, depth: int) -> Iterator[Finding]:
    """Refuse directives, deep nesting, and keyed lists whose items have no key."""
    if depth > MAXIMUM_DEPTH:
        yield _error(path, f"is nested more than {MAXIMUM_DEPTH} levels deep", _LEAVE_OUT)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if str(key).startswith("$"):
                yield _error(f"{path}.{key}", "is a directive; overrides only merge", "write the fields to set")
            elif key in _KEYED_LISTS:
                yield from _keyed_list(item, f"{path}.{key}")
            yield from _shape(item, f"{path}.{key}", depth + 1)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _shape(item, f"{path}[{index}]", depth + 1)


def _keyed_list(value: object, path: str) -> Iterator[Finding]:
    if not isinstance(value, list):
        yield _error(path, "is no list", "write a list of objects with a name each")
        return
    for index, item in enumerate(value):
        if not (isinstance(item, Mapping) and isinstance(item.get("name"), str)):
            yield _error(f"{path}[{index}]", "has no name to merge by", "give the item its name")


def _metadata(metadata: Mapping[str, Any]) -> Iterator[Finding]:
    for key in metadata:
        if key not in ("labels", "annotations"):
            yield _error(f"{_FIELD}.metadata.{key}", "belongs to the StatefulSet", _LEAVE_OUT)
    for kind in ("labels", "annotations"):
        path = f"{_FIELD}.metadata.{kind}"
        if kind in metadata and not isinstance(metadata[kind], Mapping):
            yield _error(path, "is no object", "write keys and texts")
        for key in _mapping(metadata.get(kind)):
            if key.startswith(f"{GROUP}/") or key == MANAGED_BY_LABEL:
                yield _error(f"{path}[{key}]", "belongs to the operator", _LEAVE_OUT)


def _pod(spec: Mapping[str, Any]) -> Iterator[Finding]:
    for key, value in spec.items():
        path = f"{_FIELD}.spec.{key}"
        if key in POD_FIELDS:
            yield _error(path, "belongs to the operator", POD_FIELDS[key])
        elif key == "containers":
            yield from _engine(value, path)
        elif key == "volumes":
            yield from _volumes(value, path)


def _engine(containers: list[dict[str, Any]], path: str) -> Iterator[Finding]:
    for index, container in enumerate(containers):
        if container["name"] != ENGINE_CONTAINER:
            continue
        for key, value in container.items():
            place = f"{path}[{index}].{key}"
            if key in ENGINE_FIELDS:
                yield _error(place, "belongs to the operator", ENGINE_FIELDS[key])
            elif key == "livenessProbe":
                yield from _liveness(value, place)


def _liveness(probe: object, path: str) -> Iterator[Finding]:
    allowed = ", ".join(sorted(LIVENESS_FIELDS))
    if not isinstance(probe, Mapping):
        yield _error(path, "belongs to the operator: the probe restarts the engine for a switch", f"set only {allowed}")
    for key in _mapping(probe):
        if key not in LIVENESS_FIELDS:
            said = "belongs to the operator: the probe restarts the engine for a switch"
            yield _error(f"{path}.{key}", said, f"set only {allowed}")


def _volumes(volumes: list[dict[str, Any]], path: str) -> Iterator[Finding]:
    for index, volume in enumerate(volumes):
        if volume["name"].startswith(OWN_VOLUME_PREFIX):
            said = f"{volume['name']!r} is a name of the operator's volumes"
            yield _error(f"{path}[{index}]", said, f"choose a name that does not begin with {OWN_VOLUME_PREFIX}")


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _error(field: str, message: str, remedy: str) -> Finding:
    return error(field, message, remedy, rule="overrides")
