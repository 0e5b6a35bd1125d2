"""Kubernetes events about our objects. Pure."""

import hashlib
from datetime import UTC, datetime
from typing import Final

from specdec_operator.api.names import API_VERSION, DEPLOYMENT_KIND, GROUP
from specdec_operator.ports import ClusterEvent, JsonObject

CONTROLLER: Final = f"{GROUP}/specdec-operator"
MAX_NOTE: Final = 1024
"""Bytes; the API server refuses a longer note."""
SAME_WITHIN: Final = 60
"""Seconds within which the same event about the same object has the same name, and so exists once."""


def event_body(event: ClusterEvent, instance: str, now: float) -> JsonObject:
    """Return the object to create.

    Args:
        event: what happened.
        instance: which process says so, such as the operator's pod.
        now: Unix seconds.
    """
    moment = datetime.fromtimestamp(now, UTC)
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"namespace": event.key.namespace, "name": event_name(event, now)},
        "eventTime": moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "type": event.type.value,
        "reason": event.reason.value,
        "action": event.action[:128],
        "note": cut_bytes(event.message, MAX_NOTE),
        "reportingController": CONTROLLER,
        "reportingInstance": instance[:128],
        "regarding": {
            "apiVersion": API_VERSION,
            "kind": DEPLOYMENT_KIND,
            "namespace": event.key.namespace,
            "name": event.key.name,
            "uid": event.uid,
        },
    }


def event_name(event: ClusterEvent, now: float) -> str:
    """Return the same name for the same event within a minute, so that a repetition is refused by the server."""
    parts = (event.uid, event.type.value, event.reason.value, event.message, str(int(now // SAME_WITHIN)))
    return f"{event.key.name}.{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:16]}"


def cut_bytes(text: str, limit: int) -> str:
    """Return the text, cut so that its UTF-8 form has at most `limit` bytes."""
    raw = text.encode()
    if len(raw) <= limit:
        return text
    return raw[: limit - 3].decode(errors="ignore") + "..."
