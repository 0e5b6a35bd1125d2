"""What is kept of the children."""

import copy
import json

import pytest

from specdec_operator.adapters.cluster.trim import MAX_TEXT, digest, same, trim
from specdec_operator.api.names import CONFIG_ANNOTATION, DEPLOYMENT_LABEL, MANAGED_BY_LABEL, SERVING_LABEL
from specdec_operator.ports import ChildKind, JsonObject


def _metadata() -> JsonObject:
    return {
        "name": "a-0",
        "namespace": "n",
        "uid": "u",
        "resourceVersion": "7",
        "generation": 2,
        "creationTimestamp": "2026-07-01T00:00:00Z",
        "labels": {DEPLOYMENT_LABEL: "a", SERVING_LABEL: "true", MANAGED_BY_LABEL: "specdec-operator", "team": "x"},
        "annotations": {CONFIG_ANNOTATION: "null", "kubectl.kubernetes.io/last-applied-configuration": "{...}"},
        "ownerReferences": [{"uid": "o", "controller": True}],
        "managedFields": [{"manager": "x", "fieldsV1": {"f:spec": {}}}],
    }


def _pod() -> JsonObject:
    status = {
        "phase": "Running",
        "podIP": "10.0.0.1",
        "hostIP": "10.0.0.2",
        "conditions": [{"type": "Ready", "status": "True", "lastProbeTime": None, "message": "m" * 900}],
        "containerStatuses": [
            {
                "name": "engine",
                "ready": True,
                "restartCount": 1,
                "containerID": "containerd://1",
                "image": "vllm/vllm-openai:v0.32.0",
                "state": {"running": {"startedAt": "2026-07-01T00:00:00Z"}},
                "lastState": {"terminated": {"exitCode": 1, "reason": "Error", "message": "x" * 4000}},
            }
        ],
    }
    probe = {"failureThreshold": 901, "periodSeconds": 2, "exec": {"command": ["sh"]}}
    containers = [{"name": "engine", "image": "x", "startupProbe": probe}, {"name": "other", "startupProbe": probe}]
    spec = {"nodeName": "node-1", "terminationGracePeriodSeconds": 630, "containers": containers}
    return {"metadata": _metadata(), "spec": spec, "status": status}


def test_a_pod_keeps_what_the_planner_reads() -> None:
    """Node, times, conditions and container states stay; the rest of the container's definition goes."""
    kept = trim(ChildKind.POD, _pod())

    assert (kept["kind"], kept["apiVersion"]) == ("Pod", "v1")
    assert kept["spec"] == {
        "nodeName": "node-1",
        "terminationGracePeriodSeconds": 630,
        "containers": [{"name": "engine", "startupProbe": {"failureThreshold": 901}}],
    }
    assert kept["status"]["podIP"] == "10.0.0.1"
    assert "hostIP" not in kept["status"]
    engine = kept["status"]["containerStatuses"][0]
    assert engine["state"] == {"running": {"startedAt": "2026-07-01T00:00:00Z"}}
    assert engine["lastState"]["terminated"]["exitCode"] == 1
    assert "image" not in engine


def test_long_messages_are_cut() -> None:
    """A log tail in a termination message does not stay in memory."""
    kept = trim(ChildKind.POD, _pod())

    assert len(kept["status"]["containerStatuses"][0]["lastState"]["terminated"]["message"]) == MAX_TEXT
    assert len(kept["status"]["conditions"][0]["message"]) == MAX_TEXT


def test_only_our_labels_and_annotations_stay() -> None:
    """Labels and annotations of others go, and so does managedFields."""
    metadata = trim(ChildKind.POD, _pod())["metadata"]

    assert set(metadata["labels"]) == {DEPLOYMENT_LABEL, SERVING_LABEL, MANAGED_BY_LABEL}
    assert metadata["annotations"] == {CONFIG_ANNOTATION: "null"}
    assert "managedFields" not in metadata
    assert (metadata["uid"], metadata["resourceVersion"], metadata["generation"]) == ("u", "7", 2)


def test_a_stateful_set_keeps_replicas_and_the_annotations_of_its_template() -> None:
    """The template's containers go, its annotations stay."""
    template = {"metadata": {"annotations": {CONFIG_ANNOTATION: "null"}}, "spec": {"containers": [{"name": "engine"}]}}
    body = {"metadata": _metadata(), "spec": {"replicas": 2, "template": template}, "status": {"readyReplicas": 1}}

    kept = trim(ChildKind.STATEFUL_SET, body)

    assert kept["spec"] == {
        "replicas": 2,
        "template": {"metadata": {"annotations": {CONFIG_ANNOTATION: "null"}}},
    }
    assert kept["status"] == {"readyReplicas": 1}
    assert kept["digest"] == digest(body)


def test_a_budget_keeps_its_counts() -> None:
    """Of a budget's status the counts stay and the conditions go."""
    status = {"observedGeneration": 3, "currentHealthy": 1, "expectedPods": 2, "conditions": [{"type": "x"}]}
    body = {"metadata": _metadata(), "spec": {"minAvailable": 1}, "status": status}

    kept = trim(ChildKind.POD_DISRUPTION_BUDGET, body)

    assert kept["status"] == {"observedGeneration": 3, "currentHealthy": 1, "expectedPods": 2}
    assert kept["spec"] == {"minAvailable": 1}


@pytest.mark.parametrize("kind", list(ChildKind)[:4])
def test_an_object_without_spec_and_status_is_kept(kind: ChildKind) -> None:
    """The last event of a deleted object may hold little."""
    kept = trim(kind, {"metadata": {"name": "a", "namespace": "n", "uid": "u"}})

    assert kept["metadata"] == {"name": "a", "namespace": "n", "uid": "u"}


@pytest.mark.parametrize("path", [("spec", "selector"), ("metadata", "labels"), ("metadata", "annotations")])
def test_the_digest_shows_changes_of_what_is_not_kept(path: tuple[str, str]) -> None:
    """A label that is not ours, or a field that is not kept, changes the digest; managedFields does not."""
    body = {"metadata": _metadata(), "spec": {"selector": {"a": "b"}}}
    changed = copy.deepcopy(body)
    changed[path[0]][path[1]]["new"] = "value"
    unmanaged = copy.deepcopy(body)
    unmanaged["metadata"]["managedFields"] = []

    assert digest(changed) != digest(body)
    assert digest(unmanaged) == digest(body)


def test_resource_version_alone_is_no_difference() -> None:
    """Two reads that differ in resourceVersion only are the same to the controller."""
    one, other = trim(ChildKind.POD, _pod()), trim(ChildKind.POD, _pod())
    other["metadata"]["resourceVersion"] = "8"
    third = trim(ChildKind.POD, {**_pod(), "status": {"phase": "Failed"}})

    assert same(one, other)
    assert not same(one, third)


def test_trimming_leaves_the_original_alone() -> None:
    """The body that came in is not changed, and what is kept shares nothing with it."""
    body = _pod()
    before = json.dumps(body)

    kept = trim(ChildKind.POD, body)
    kept["status"]["conditions"][0]["status"] = "False"
    kept["metadata"]["ownerReferences"].clear()

    assert json.dumps(body) == before
