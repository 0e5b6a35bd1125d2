"""How children say whose they are: labels, selectors, the owner reference and the digest of the spec."""

import hashlib
import json
from typing import Any

from specdec_operator.api.names import (
    API_VERSION,
    DEPLOYMENT_KIND,
    DEPLOYMENT_LABEL,
    MANAGED_BY,
    MANAGED_BY_LABEL,
    RESTARTED_AT_ANNOTATION,
    SERVING_LABEL,
)
from specdec_operator.api.objects import SpecDecDeployment

_POD_FIELDS = ("model", "engine", "resources", "pod")
"""Fields of `spec` that a running pod cannot take up."""


def selector(name: str) -> dict[str, str]:
    """Return the labels that every pod of the object `name` has, and no other pod."""
    return {MANAGED_BY_LABEL: MANAGED_BY, DEPLOYMENT_LABEL: name}


def serving_selector(name: str) -> dict[str, str]:
    """Return the labels of the pods that may be sent requests."""
    return {**selector(name), SERVING_LABEL: "true"}


def labels(name: str) -> dict[str, str]:
    """Return the labels of every child.

    Not app.kubernetes.io/instance: Argo CD may take an object that carries it for a part of the app of that name.
    """
    return {**selector(name), "app.kubernetes.io/name": "vllm"}


def owner_reference(deployment: SpecDecDeployment) -> dict[str, Any]:
    """Return the controller reference of every child.

    `blockOwnerDeletion` stays false: true needs the right to change the owner's finalizers on some clusters.
    """
    return {
        "apiVersion": API_VERSION,
        "kind": DEPLOYMENT_KIND,
        "name": deployment.metadata.name,
        "uid": deployment.metadata.uid,
        "controller": True,
        "blockOwnerDeletion": False,
    }


def child_metadata(deployment: SpecDecDeployment) -> dict[str, Any]:
    """Return the metadata of a child that has the object's name."""
    return {
        "name": deployment.metadata.name,
        "namespace": deployment.metadata.namespace,
        "labels": labels(deployment.metadata.name),
        "ownerReferences": [owner_reference(deployment)],
    }


def spec_hash(deployment: SpecDecDeployment) -> str:
    """Return a digest of what only a new pod can take up: those fields of `spec`, and `specdec.dev/restartedAt`.

    It is made from what the user wrote, not from what is rendered, so another version of the operator gives the same
    digest; a field set to its default gives the same digest as the field left out.
    """
    dump = deployment.spec.model_dump(
        mode="json", by_alias=True, exclude_none=True, exclude_defaults=True, include=set(_POD_FIELDS)
    )
    content: dict[str, Any] = {key: value for key, value in dump.items() if value}
    restarted_at = deployment.metadata.annotations.get(RESTARTED_AT_ANNOTATION)
    if restarted_at is not None:
        content["restartedAt"] = restarted_at
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
