"""A real API server takes what is rendered, unchanged, and only once."""

import json
from typing import Any

import pytest
from tests.conftest import Kubectl
from tests.helpers.deployments import make_deployment
from tests.helpers.renderings import RENDERED

from specdec_operator.api.objects import SpecDecDeployment
from specdec_operator.engine.check import blocks_rendering, check_spec
from specdec_operator.engine.render import render_method
from specdec_operator.resources import build_budget, build_service, build_stateful_set

KINDS = ("statefulset", "service", "poddisruptionbudget")
MANAGER = "--field-manager=specdec-operator"


def children(deployment: SpecDecDeployment, namespace: str, method: str = "ngram") -> str:
    """Render all children into a namespace, without an owner that does not exist."""
    assert not blocks_rendering(check_spec(deployment.spec))
    items = [
        build_stateful_set(deployment, render_method(deployment.spec, method)),
        build_service(deployment),
        build_budget(deployment),
    ]
    for item in items:
        del item["metadata"]["ownerReferences"]
        item["metadata"]["namespace"] = namespace
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


def read(kubectl: Kubectl, namespace: str, kind: str) -> dict[str, Any]:
    """Return an object as the API server has it."""
    found: dict[str, Any] = json.loads(kubectl("-n", namespace, "get", kind, "llama-8b", "-o", "json"))
    return found


@pytest.mark.parametrize("case", RENDERED)
def test_every_rendering_is_accepted(kubectl: Kubectl, cluster_namespace: str, case: str) -> None:
    """Strict validation finds no unknown or doubled field in any of the recorded objects."""
    text = children(make_deployment(**RENDERED[case]), cluster_namespace)

    answer = kubectl("apply", "--server-side", MANAGER, "--validate=strict", "--dry-run=server", "-f", "-", input=text)

    assert answer.count("serverside-applied (server dry run)") == 3


def test_applying_twice_changes_nothing(kubectl: Kubectl, cluster_namespace: str) -> None:
    """The API server's defaults do not fight with what is applied: a second apply is no new generation."""
    text = children(make_deployment(**RENDERED["large"]), cluster_namespace)

    def applied() -> list[tuple[Any, Any]]:
        kubectl("apply", "--server-side", MANAGER, "-f", "-", input=text)
        found = [read(kubectl, cluster_namespace, kind) for kind in KINDS]
        return [(item["spec"], item["metadata"].get("generation")) for item in found]

    assert applied() == applied()


def test_arguments_come_back_as_they_were(kubectl: Kubectl, cluster_namespace: str) -> None:
    """No quoting on the way: the config is one annotation, the reference one argument (case G1-01)."""
    deployment = make_deployment(**RENDERED["large"])
    rendered = build_stateful_set(deployment, render_method(deployment.spec, "ngram"))["spec"]["template"]

    kubectl("apply", "--server-side", MANAGER, "-f", "-", input=children(deployment, cluster_namespace))

    template = read(kubectl, cluster_namespace, "statefulset")["spec"]["template"]
    assert template["metadata"]["annotations"] == rendered["metadata"]["annotations"]
    assert template["spec"]["containers"][0]["args"] == rendered["spec"]["containers"][0]["args"]


def test_a_switch_of_the_target_is_an_allowed_update(kubectl: Kubectl, cluster_namespace: str) -> None:
    """Another method, number of replicas or image is a change that a StatefulSet takes."""
    kubectl("apply", "--server-side", MANAGER, "-f", "-", input=children(make_deployment(), cluster_namespace))

    changed = make_deployment(replicas=3, engine={"version": "0.33.0", "tensorParallelSize": 2})
    text = children(changed, cluster_namespace, method="none")
    kubectl("apply", "--server-side", MANAGER, "-f", "-", input=text)

    spec = read(kubectl, cluster_namespace, "statefulset")["spec"]
    assert spec["replicas"] == 3
    assert spec["template"]["metadata"]["annotations"]["specdec.dev/speculative-config"] == "null"
