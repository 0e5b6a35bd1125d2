"""What the API server's audit log says that the operator has written."""

import json
from datetime import datetime
from pathlib import Path

OPERATOR_USER = "system:serviceaccount:specdec-system:specdec-operator"
WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})


def operator_writes(path: str, *, namespace: str, since: float) -> list[str]:
    """Return "verb resource/name" of each write of the operator in a namespace since a Unix time."""
    found = []
    with Path(path).open() as lines:
        for line in lines:
            event = json.loads(line)
            about = event.get("objectRef", {})
            if event["user"]["username"] != OPERATOR_USER or about.get("namespace") != namespace:
                continue
            at = datetime.fromisoformat(event["requestReceivedTimestamp"]).timestamp()
            if at >= since and event["verb"] in WRITES:
                resource = "/".join(filter(None, (about.get("resource"), about.get("name"), about.get("subresource"))))
                found.append(f"{event['verb']} {resource}")
    return found
