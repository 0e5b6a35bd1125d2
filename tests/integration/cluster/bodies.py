"""Small objects for the tests. Their pods fit no node, so nothing starts whatever the cluster."""

from typing import Any

from specdec_operator.api.names import (
    API_VERSION,
    DEPLOYMENT_KIND,
    DEPLOYMENT_LABEL,
    MANAGED_BY,
    MANAGED_BY_LABEL,
    SERVING_LABEL,
)

JsonObject = dict[str, Any]


def deployment(namespace: str, name: str = "llama") -> JsonObject:
    """Return a SpecDecDeployment with labels, annotations and a finalizer of somebody else."""
    return {
        "apiVersion": API_VERSION,
        "kind": DEPLOYMENT_KIND,
        "metadata": {"name": name, "namespace": namespace, "labels": {"team": "x"}, "annotations": {"note": "mine"}},
        "spec": {
            "model": {"name": "meta-llama/Llama-3.1-8B-Instruct"},
            "engine": {"version": "0.32.0"},
            "speculation": {"methods": [{"name": "ngram", "method": "ngram", "numSpeculativeTokens": 4}]},
        },
    }


def labels(name: str) -> dict[str, str]:
    """Return the labels that every child carries."""
    return {MANAGED_BY_LABEL: MANAGED_BY, DEPLOYMENT_LABEL: name}


def metadata(namespace: str, name: str, owner_uid: str) -> JsonObject:
    """Return the metadata of a child labelled for the object `name`, owned by the object `llama` of the tests."""
    # The garbage collector deletes what an absent object owns.
    owner = {"apiVersion": API_VERSION, "kind": DEPLOYMENT_KIND, "name": "llama", "uid": owner_uid, "controller": True}
    return {"namespace": namespace, "name": name, "labels": labels(name), "ownerReferences": [owner]}


def service(namespace: str, owner_uid: str, name: str = "llama", **spec: Any) -> JsonObject:
    """Return a Service."""
    selector = {DEPLOYMENT_LABEL: name, SERVING_LABEL: "true"}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(namespace, name, owner_uid),
        "spec": {"selector": selector, "ports": [{"name": "http", "port": 8000}], **spec},
    }


def budget(namespace: str, owner_uid: str, name: str = "llama") -> JsonObject:
    """Return a PodDisruptionBudget."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata(namespace, name, owner_uid),
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {DEPLOYMENT_LABEL: name, SERVING_LABEL: "true"}}},
    }


def stateful_set(namespace: str, owner_uid: str, name: str = "llama", **pod_spec: Any) -> JsonObject:
    """Return a StatefulSet of two pods; `pod_spec` adds to the pod's spec."""
    template = {
        "metadata": {"labels": {**labels(name), SERVING_LABEL: "true"}},
        "spec": {
            "nodeSelector": {"specdec.dev/no-such-node": "true"},
            "containers": [{"name": "engine", "image": "nothing.invalid/engine:1"}],
            **pod_spec,
        },
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": metadata(namespace, name, owner_uid),
        "spec": {
            "serviceName": name,
            "replicas": 2,
            "podManagementPolicy": "Parallel",
            "updateStrategy": {"type": "OnDelete"},
            "selector": {"matchLabels": {DEPLOYMENT_LABEL: name}},
            "template": template,
        },
    }
