"""What holds for all tests, and the cluster that integration and end-to-end tests run on."""

import json
import os
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest
from hypothesis import settings

# How long an example takes depends on what else the machine does; pytest-timeout bounds the whole test.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")

NO_CLUSTER = (
    "these tests need a cluster: run them with `make integration` or `make e2e`, which bring up the local test bed,"
    " or set KUBECONFIG"
)


END_TO_END = Path(__file__).parent / "e2e"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the end-to-end tests last, in whatever order the folders were named.

    Their operator serves the whole cluster until the session ends, and would work on the objects of other tests.
    """
    items.sort(key=lambda item: END_TO_END in item.path.parents)


class Kubectl(Protocol):
    """Calls kubectl."""

    def __call__(self, *arguments: str, input: str | None = None, check: bool = True) -> str:  # noqa: A002
        """Return what kubectl printed.

        Args:
            arguments: kubectl's arguments.
            input: goes to its standard input.
            check: True fails the test when kubectl fails; False returns what it printed on both outputs.
        """


class WaitUntil(Protocol):
    """Waits for something to come true."""

    def __call__(self, condition: Callable[[], object], timeout: float, what: str) -> None:
        """Return as soon as `condition()` is truthy; fail the test after `timeout` seconds, naming `what`."""


@pytest.fixture(scope="session", name="kubectl")
def _kubectl() -> Kubectl:
    """Return kubectl on the cluster that KUBECONFIG names; without one the whole run ends with one message."""
    if not os.environ.get("KUBECONFIG"):
        pytest.exit(NO_CLUSTER, returncode=4)

    def kubectl(*arguments: str, input: str | None = None, check: bool = True) -> str:  # noqa: A002
        done = subprocess.run(
            ["kubectl", *arguments], input=input, capture_output=True, text=True, check=False, timeout=300
        )
        if not check:
            return done.stdout + done.stderr
        if done.returncode:
            pytest.fail(f"kubectl {' '.join(arguments)}: exit status {done.returncode}\n{done.stderr.strip()}")
        return done.stdout

    return kubectl


@pytest.fixture(name="cluster_namespace")
def _cluster_namespace(kubectl: Kubectl) -> Iterator[str]:
    """Return a fresh namespace, which is deleted (without waiting) after the test."""
    name = f"test-{uuid.uuid4().hex[:10]}"
    kubectl("create", "namespace", name)
    yield name
    kubectl("delete", "namespace", name, "--wait=false")


@pytest.fixture(scope="session", name="bed")
def _bed(kubectl: Kubectl) -> dict[str, Any]:
    """Return the description of the local test bed (docs/testbed.md); on any other cluster the test is skipped."""
    del kubectl
    description = os.environ.get("SPECDEC_TESTBED")
    if not description:
        pytest.skip("needs the local test bed: it reads the audit log or stops Prometheus")
    described: dict[str, Any] = json.loads(Path(description).read_text())
    return described


@pytest.fixture(scope="session", name="prometheus_url")
def _prometheus_url(kubectl: Kubectl) -> str:
    """Return the address of a Prometheus that scrapes the engines, reachable from the pods and from here."""
    del kubectl
    url = os.environ.get("SPECDEC_PROMETHEUS_URL")
    if not url:
        pytest.exit("set SPECDEC_PROMETHEUS_URL to a Prometheus that scrapes the cluster's engines", returncode=4)
    return url


@pytest.fixture(scope="session", name="wait_until")
def _wait_until() -> WaitUntil:
    """Return a function that polls a condition twice a second."""

    def wait_until(condition: Callable[[], object], timeout: float, what: str) -> None:
        deadline = time.monotonic() + timeout
        while not (last := condition()):
            if time.monotonic() > deadline:
                pytest.fail(f"waited {timeout:.0f} s for {what}; the condition last gave {last!r}")
            time.sleep(0.5)

    return wait_until
