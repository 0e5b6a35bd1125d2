"""The operator as a user installs it: the chart, the image built from this tree, its own ServiceAccount and rights."""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.helpers.fleet import Fleet, simulated

SYSTEM_NAMESPACE = "specdec-system"
CHART = Path(__file__).parents[2] / "charts" / "specdec-operator"


@dataclass(frozen=True, slots=True)
class Operator:
    """The installed operator."""

    kubectl: object
    namespace: str = SYSTEM_NAMESPACE

    def kill(self) -> None:
        """End its pod without grace; the Deployment makes a new one."""
        self.kubectl(
            "delete", "pod", "-n", self.namespace, "-l", "app.kubernetes.io/name=specdec-operator",
            "--grace-period=0", "--force",
        )  # fmt: skip

    def wait(self) -> None:
        """Wait until it is ready."""
        self.kubectl("rollout", "status", "deployment/specdec-operator", "-n", self.namespace, "--timeout=120s")

    def logs(self) -> str:
        """Return what it has logged, also before its last restart."""
        text = self.kubectl("logs", "-n", self.namespace, "deployment/specdec-operator", "--tail=-1")
        return str(text)


@pytest.fixture(scope="session", name="operator")
def _operator(kubectl, prometheus_url) -> Iterator[Operator]:
    """Install the chart with the real helm; a tick of two seconds.

    CRDs that somebody has applied by hand before, as other tests do, become the release's.
    """
    values = {"config": {"tickSeconds": 2, "prometheus": {"url": prometheus_url}}}
    helm = os.environ.get("SPECDEC_HELM", "helm")
    command = [helm, "upgrade", "--install", "specdec-operator", str(CHART), "--namespace", SYSTEM_NAMESPACE]
    options = ["--create-namespace", "--take-ownership", "--force-conflicts", "--wait", "--timeout", "3m", "-f", "-"]
    subprocess.run([*command, *options], input=json.dumps(values), text=True, check=True)
    yield Operator(kubectl)
    subprocess.run([helm, "uninstall", "specdec-operator", "--namespace", SYSTEM_NAMESPACE, "--wait"], check=True)


@dataclass(frozen=True, slots=True)
class Quiet:
    """An object that nobody touches."""

    fleet: Fleet
    settled_at: float
    """Unix seconds."""


@pytest.fixture(scope="session", autouse=True, name="quiet")
def _quiet(operator, kubectl, wait_until) -> Iterator[Quiet]:
    """An object in a namespace of its own, there for the whole session, with no load at all."""
    namespace = "quiet"
    kubectl("create", "namespace", namespace)
    fleet = Fleet(kubectl, namespace, "quiet")
    fleet.apply(simulated(fleet.name, namespace, replicas=1))
    wait_until(fleet.is_ready, 120, "the quiet engine")
    wait_until(lambda: fleet.condition("MetricsAvailable").get("status") == "True", 120, "its metrics")
    time.sleep(15)
    yield Quiet(fleet, time.time())
    kubectl("delete", "namespace", namespace, "--wait=false")
