"""The CRDs on a real API server."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.contract.crds.cases import ROOT

Kubectl = Callable[..., str]


@pytest.fixture(scope="session", name="crds")
def _crds(kubectl: Kubectl) -> dict[str, dict[str, Any]]:
    """Install both CRDs, wait until they are served, and return them as the API server has them."""
    folder = str(ROOT / "crds")
    kubectl("apply", "--server-side", "--force-conflicts", "-f", folder)
    kubectl("wait", "--for=condition=Established", "--timeout=60s", "-f", folder)
    found = json.loads(kubectl("get", "-f", folder, "-o", "json"))["items"]
    return {crd["spec"]["names"]["plural"]: crd for crd in found}


@pytest.fixture(name="namespace")
def _namespace(cluster_namespace: str, crds: dict[str, dict[str, Any]]) -> str:
    """A namespace of the test's own, on an API server that knows both kinds."""
    del crds
    return cluster_namespace
