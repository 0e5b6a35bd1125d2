"""Field ownership between our create and our first server-side apply. Pure.

Creating an object notes its fields under our manager as an `Update`. A later `Apply` of the same manager would
then share them, and a field left out of it would stay in the object. So the `Update` entry is turned into an
`Apply` entry once, before the first apply.
"""

from typing import Any

from specdec_operator.api.names import FIELD_MANAGER
from specdec_operator.ports import JsonObject


def adopted(managed_fields: list[JsonObject]) -> list[JsonObject] | None:
    """Return the entries with what we created counted as applied; None when there is nothing to change."""
    created = [entry for entry in managed_fields if _is_ours(entry, "Update")]
    if not created:
        return None
    applied = [entry for entry in managed_fields if _is_ours(entry, "Apply")]
    others = [entry for entry in managed_fields if entry not in created and entry not in applied]
    fields: JsonObject = {}
    for entry in (*applied, *created):
        fields = _union(fields, entry.get("fieldsV1") or {})
    return [*others, {**created[-1], "operation": "Apply", "fieldsV1": fields}]


def _is_ours(entry: JsonObject, operation: str) -> bool:
    ours = entry.get("manager") == FIELD_MANAGER and not entry.get("subresource")
    return ours and entry.get("operation") == operation


def _union(left: JsonObject, right: JsonObject) -> JsonObject:
    merged: dict[str, Any] = dict(left)
    for name, value in right.items():
        known = merged.get(name)
        merged[name] = _union(known, value) if isinstance(known, dict) and isinstance(value, dict) else value
    return merged
