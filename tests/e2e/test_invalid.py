"""Bad input is named, and what runs keeps running."""

import json

import pytest
from tests.helpers.fleet import EAGLE, Fleet, simulated


@pytest.fixture(name="fleet")
def _fleet(operator, kubectl, cluster_namespace, wait_until) -> Fleet:
    fleet = Fleet(kubectl, cluster_namespace, "steady")
    fleet.apply(simulated(fleet.name, cluster_namespace, replicas=1))
    wait_until(fleet.is_ready, 120, "one engine")
    return fleet


def _patched(fleet: Fleet, change: dict) -> None:
    fleet.kubectl("patch", "sdd", fleet.name, "-n", fleet.namespace, "--type=merge", "-p", json.dumps({"spec": change}))


def test_an_unusable_edit_is_explained_and_touches_nothing_that_runs(fleet, wait_until) -> None:
    """ConfigValid is False with field, value and remedy; the pod is the same; a good edit clears it."""
    before, restarts = fleet.places(), fleet.restarts()

    _patched(fleet, {"pod": {"overrides": {"spec": {"containers": [{"name": "engine", "args": ["--port=1"]}]}}}})

    wait_until(lambda: fleet.condition("ConfigValid").get("status") == "False", 60, "the refusal")
    condition = fleet.condition("ConfigValid")
    assert condition["reason"] == "ReservedArgument"
    assert "spec.pod.overrides.spec.containers[0].args" in condition["message"]
    assert "use engine.extraArgs" in condition["message"]
    assert (fleet.places(), fleet.restarts()) == (before, restarts)
    assert fleet.status()["readyReplicas"] == 1
    _patched(fleet, {"pod": {"overrides": None}})
    wait_until(lambda: fleet.condition("ConfigValid").get("status") == "True", 60, "the repair")
    assert (fleet.places(), fleet.restarts()) == (before, restarts)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"engine": {"extraArgs": ["--speculative-config={}"]}}, "extraArgs"),
        ({"speculation": {"policy": {"disableAfter": "1s"}}}, "disableAfter"),
        ({"speculation": {"methods": [EAGLE, EAGLE]}}, "methods"),
        ({"speculation": {"mode": "Pinned"}}, "pinned"),
    ],
)
def test_the_api_server_refuses_what_its_schema_can_see(fleet, change, words) -> None:
    """The refusal names the field; nothing is stored."""
    answer = fleet.kubectl(
        "patch", "sdd", fleet.name, "-n", fleet.namespace, "--type=merge", "-p", json.dumps({"spec": change}),
        "--dry-run=server", "--output=name", check=False,
    )  # fmt: skip

    assert words in answer
    assert "steady" not in answer.splitlines()[0] or "invalid" in answer.lower()
    assert fleet.body()["metadata"]["generation"] == 1
