"""The quick-start object on a real node."""

import json
import urllib.request
from pathlib import Path

import pytest
import yaml
from tests.helpers.fleet import Fleet

EXAMPLE = Path(__file__).parents[2] / "examples" / "01-quickstart" / "simulator.yaml"


@pytest.fixture(name="fleet")
def _fleet(operator, kubectl, cluster_namespace) -> Fleet:
    kubectl("apply", "-n", cluster_namespace, "-f", str(EXAMPLE))
    return Fleet(kubectl, cluster_namespace, yaml.safe_load(EXAMPLE.read_text())["metadata"]["name"])


def test_the_quick_start_object_runs_and_answers(fleet, kubectl, wait_until) -> None:
    """Children appear, both pods run on the real kubelet, the columns are right and the service answers."""
    wait_until(fleet.is_ready, 120, "two engines to be ready")

    kinds = f"statefulset/{fleet.name} service/{fleet.name} poddisruptionbudget/{fleet.name}".split()
    kubectl("get", "-n", fleet.namespace, *kinds)
    assert [pod["status"]["phase"] for pod in fleet.pods()] == ["Running", "Running"]
    header, row = kubectl("get", "sdd", "-n", fleet.namespace).splitlines()
    assert header.split() == ["NAME", "READY", "METHOD", "K", "REPLICAS", "BREAKEVEN", "SWITCHED", "AGE"]
    assert row.split()[:5] == ["llama-8b", "True", "eagle3", "3", "2"]
    request = urllib.request.Request(
        fleet.url() + "/v1/completions",
        data=json.dumps(
            {"model": "meta-llama/Llama-3.1-8B-Instruct", "prompt": "Hello", "max_tokens": 8, "ignore_eos": True}
        ).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert json.load(answer)["usage"]["completion_tokens"] == 8


def test_a_deleted_object_takes_its_children_along_and_can_come_back(fleet, kubectl, wait_until) -> None:
    """Deletion needs no running operator, and an object of the same name starts afresh."""
    wait_until(fleet.is_ready, 120, "two engines to be ready")
    first = fleet.body()["metadata"]["uid"]

    kubectl("delete", "sdd", fleet.name, "-n", fleet.namespace, "--wait")
    kubectl("apply", "-n", fleet.namespace, "-f", str(EXAMPLE))
    wait_until(fleet.is_ready, 180, "the engines of the second object")

    owners = json.loads(kubectl("get", "sts", fleet.name, "-n", fleet.namespace, "-o", "json"))["metadata"]
    assert owners["ownerReferences"][0]["uid"] == fleet.body()["metadata"]["uid"] != first


def test_applying_the_same_manifest_again_shows_no_difference(fleet, kubectl, wait_until) -> None:
    """`kubectl diff` of what was applied is empty after the operator has worked on it."""
    wait_until(fleet.is_ready, 120, "two engines to be ready")

    assert kubectl("diff", "-n", fleet.namespace, "-f", str(EXAMPLE)) == ""
    assert fleet.body()["metadata"]["generation"] == 1
    assert set(fleet.body()["metadata"].get("annotations", {})) <= {"kubectl.kubernetes.io/last-applied-configuration"}
