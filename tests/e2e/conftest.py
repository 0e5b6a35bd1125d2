"""End-to-end tests: the operator as a user installs it, on whatever cluster KUBECONFIG names."""

from collections.abc import Generator

import pytest

# pytest finds fixtures in the module they are imported into.
from tests.e2e.operator_fixtures import SYSTEM_NAMESPACE, _operator, _quiet  # noqa: F401


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add what the cluster looked like to the report of a failed test."""
    report = yield
    fixtures = getattr(item, "funcargs", {})
    if report.when == "call" and report.failed and {"kubectl", "cluster_namespace"} <= fixtures.keys():
        kubectl, namespace = fixtures["kubectl"], fixtures["cluster_namespace"]
        for title, command in _questions(namespace).items():
            report.sections.append((title, _readable(kubectl(*command, check=False))))
    return report


def _questions(namespace: str) -> dict[str, tuple[str, ...]]:
    logs = ("logs", "deployment/specdec-operator", "-n", SYSTEM_NAMESPACE, "--tail=300")
    return {
        "objects": ("get", "sdd,sts,pods,svc,pdb", "-n", namespace, "-o", "wide"),
        "status": ("get", "sdd", "-n", namespace, "-o", "jsonpath={range .items[*]}{.status}{end}"),
        "events": ("get", "events", "-n", namespace, "--sort-by=.lastTimestamp"),
        "operator's log": logs,
    }


def _readable(text: str) -> str:
    """Keep the last lines that say something, and not more of a line than fits on two."""
    lines = [line[:300] for line in text.splitlines() if '"level": "debug"' not in line]
    return "\n".join(lines[-40:])
