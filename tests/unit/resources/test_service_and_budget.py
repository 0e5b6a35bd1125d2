"""The Service and the PodDisruptionBudget."""

import pytest
from tests.helpers.deployments import make_deployment

from specdec_operator.resources import build_budget, build_service, serving_selector


def test_service_sends_requests_to_serving_pods_only() -> None:
    """Selected by label and readiness; the port inside the pod never changes."""
    service = build_service(make_deployment(service={"type": "LoadBalancer", "port": 80, "annotations": {"a": "b"}}))

    assert service["spec"]["selector"] == serving_selector("llama-8b")
    assert service["spec"]["publishNotReadyAddresses"] is False
    assert service["spec"]["ports"] == [{"name": "http", "port": 80, "targetPort": "http", "protocol": "TCP"}]
    assert service["spec"]["type"] == "LoadBalancer"
    assert service["metadata"]["annotations"] == {"a": "b"}


@pytest.mark.parametrize(("replicas", "serving"), [(0, 0), (1, 0), (2, 1), (8, 7)])
def test_budget_lets_one_pod_go(replicas: int, serving: int) -> None:
    """All but one must serve; a single replica blocks no node."""
    budget = build_budget(make_deployment(replicas=replicas))

    assert budget["spec"]["minAvailable"] == serving
    assert budget["spec"]["selector"] == {"matchLabels": serving_selector("llama-8b")}
    assert budget["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow"
