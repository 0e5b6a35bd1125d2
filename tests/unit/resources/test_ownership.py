"""Owner references, labels and the digest of the spec."""

from typing import Any

import pytest
from tests.helpers.deployments import EAGLE, MODEL, NGRAM, make_deployment

from specdec_operator.engine.render import render_method
from specdec_operator.resources import build_budget, build_service, build_stateful_set, owner_reference, spec_hash


def digest(annotations: dict[str, str] | None = None, **spec: Any) -> str:
    """Return the digest of an object."""
    return spec_hash(make_deployment(annotations=annotations, **spec))


def test_children_name_their_owner_and_copy_no_label() -> None:
    """Each child has one controller reference with the uid, and only labels of our own."""
    deployment = make_deployment()
    target = render_method(deployment.spec, "none")

    for child in (build_stateful_set(deployment, target), build_service(deployment), build_budget(deployment)):
        assert child["metadata"]["ownerReferences"] == [owner_reference(deployment)]
        assert set(child["metadata"]["labels"]) == {
            "app.kubernetes.io/managed-by",
            "app.kubernetes.io/name",
            "specdec.dev/deployment",
        }
        assert (child["metadata"]["name"], child["metadata"]["namespace"]) == ("llama-8b", "serving")
    assert owner_reference(deployment)["uid"] == "uid-1"
    assert owner_reference(deployment)["controller"] is True


@pytest.mark.parametrize(
    "spec",
    [
        {"speculation": {"methods": [NGRAM, EAGLE]}},
        {"speculation": {"mode": "Off"}},
        {"replicas": 7},
        {"service": {"port": 80}},
        {"rollout": {"startupTimeout": "1h", "drainTimeout": "1m"}},
        {"metrics": {"source": "Prometheus"}},
        {"suspend": True},
        {"pod": {}},
        {"engine": {"version": "0.32.0", "tensorParallelSize": 1, "extraArgs": []}},
        {"model": {"name": MODEL, "trustRemoteCode": False}},
    ],
)
def test_what_a_running_pod_can_take_up_keeps_the_digest(spec: dict[str, Any]) -> None:
    """Methods, numbers of replicas, ports and times, and defaults written out, replace no pod."""
    assert digest(**spec) == digest()


@pytest.mark.parametrize(
    "spec",
    [
        {"engine": {"version": "0.31.0"}},
        {"engine": {"version": "0.32.0", "extraArgs": ["--seed=1"]}},
        {"engine": {"version": "0.32.0", "env": [{"name": "A", "value": "b"}]}},
        {"engine": {"version": "0.32.0", "tensorParallelSize": 2}},
        {"model": {"name": MODEL, "revision": "v2"}},
        {"resources": {"limits": {"cpu": "4"}}},
        {"pod": {"nodeSelector": {"a": "b"}}},
        {"pod": {"overrides": {"spec": {"hostNetwork": True}}}},
        {"annotations": {"specdec.dev/restartedAt": "2026-12-01T00:00:00Z"}},
    ],
)
def test_what_needs_a_new_pod_changes_the_digest(spec: dict[str, Any]) -> None:
    """Image, arguments, resources, the pod itself, and the request to restart."""
    assert digest(**spec) != digest()


def test_order_of_keys_does_not_change_the_digest() -> None:
    """The API server may give an object's keys in any order."""
    one = {"requests": {"cpu": "1", "memory": "2Gi"}}
    other = {"requests": {"memory": "2Gi", "cpu": "1"}}

    assert digest(resources=one) == digest(resources=other)


def test_digest_is_recorded() -> None:
    """Another release of the operator must give the same: else an upgrade would replace every pod of every user."""
    pod = {"tolerations": [{"key": "gpu", "operator": "Exists"}], "sharedMemorySize": "8Gi"}

    assert digest() == "ffe3b722fe9abf0c"
    assert digest(pod=pod, resources={"limits": {"cpu": 4}}) == "623d6c4e64840ef7"
