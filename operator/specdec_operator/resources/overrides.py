"""`pod.overrides`: a strategic-merge patch on the pod template, bounded to what merging alone can say."""

from collections.abc import Mapping
from typing import Any, Final

MERGE_KEYS: Final[Mapping[str, str]] = {
    "containers": "name",
    "initContainers": "name",
    "ephemeralContainers": "name",
    "volumes": "name",
    "env": "name",
    "imagePullSecrets": "name",
    "volumeMounts": "mountPath",
    "volumeDevices": "devicePath",
    "ports": "containerPort",
    "hostAliases": "ip",
    "topologySpreadConstraints": "topologyKey",
}
"""Lists whose items are merged by this key, as in Kubernetes' own patches; every other list is replaced."""


def merge_overrides(template: dict[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """Return `template` with `patch` merged into it: objects key by key, keyed lists item by item, null removes."""
    merged = dict(template)
    for key, change in patch.items():
        if change is None:
            merged.pop(key, None)
        else:
            merged[key] = _merge_value(key, merged.get(key), change)
    return merged


def _merge_value(key: str, current: Any, change: Any) -> Any:  # noqa: ANN401 - values of JSON
    if isinstance(change, Mapping):
        return merge_overrides(current if isinstance(current, dict) else {}, change)
    merge_key = MERGE_KEYS.get(key)
    if merge_key is not None and _keyed(current, merge_key) and _keyed(change, merge_key):
        return _merge_items(merge_key, current, change)
    return change


def _keyed(items: Any, merge_key: str) -> bool:  # noqa: ANN401 - values of JSON
    return isinstance(items, list) and all(isinstance(item, Mapping) and merge_key in item for item in items)


def _merge_items(merge_key: str, current: list[Any], changes: list[Any]) -> list[Any]:
    merged = list(current)
    for change in changes:
        name = change[merge_key]
        position = next((index for index, item in enumerate(merged) if item[merge_key] == name), None)
        if position is None:
            merged.append(merge_overrides({}, change))
        else:
            merged[position] = merge_overrides(merged[position], change)
    return merged
