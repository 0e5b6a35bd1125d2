"""Switching running engines on accelerators that are all taken."""

import asyncio
import json

import pytest
from tests.helpers.fleet import BREAK_EVEN, Fleet, simulated

RESOURCE = "example.com/accelerator"
HIGH, LOW = 56, 4


@pytest.fixture(name="accelerators")
def _accelerators(kubectl) -> str:
    """Let the first node say that it has two accelerators."""
    node = json.loads(kubectl("get", "nodes", "-o", "json"))["items"][0]["metadata"]["name"]
    operation = [{"op": "add", "path": f"/status/capacity/{RESOURCE.replace('/', '~1')}", "value": "2"}]
    kubectl("patch", "node", node, "--subresource=status", "--type=json", "-p", json.dumps(operation))
    return RESOURCE


@pytest.fixture(name="fleet")
def _fleet(operator, kubectl, cluster_namespace, accelerators, wait_until) -> Fleet:
    fleet = Fleet(kubectl, cluster_namespace, "busy")
    body = simulated(fleet.name, cluster_namespace)
    body["spec"]["engine"]["accelerator"] = {"resourceName": accelerators, "count": 1}
    fleet.apply(body)
    wait_until(fleet.is_ready, 120, "two engines on two accelerators")
    return fleet


@pytest.fixture(name="stranger")
def _stranger(fleet, kubectl) -> str:
    """Another team's pod that waits for an accelerator all the time."""
    limits = {"limits": {RESOURCE: "1"}}
    image = simulated("x", "x")["spec"]["engine"]["image"]
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "stranger", "namespace": fleet.namespace},
        "spec": {"containers": [{"name": "c", "image": image, "command": ["sleep", "infinity"], "resources": limits}]},
    }
    kubectl("apply", "-f", "-", input=json.dumps(pod))
    return "stranger"


@pytest.mark.timeout(600)
async def test_load_past_break_even_switches_in_place_and_back_without_losing_a_request(
    fleet, stranger, kubectl, wait_until
) -> None:
    """Same pods, nodes and addresses; the stranger gets nothing; no stream of 5 s and more fails or is cut."""
    before = fleet.places()
    async with fleet.loaded(LOW) as load:
        await asyncio.sleep(15)
        await load.dial.turn(HIGH, 10)
        await asyncio.to_thread(wait_until, lambda: fleet.runs("none"), 240, "plain decoding past break-even")
        decision = fleet.status()["switches"][-1]
        assert (decision["from"], decision["to"], decision["reason"]) == ("eagle3", "none", "PastBreakEven")
        assert float(decision["concurrency"]) > BREAK_EVEN
        assert fleet.condition("SpeculationActive")["reason"] == "PastBreakEven"
        await load.dial.turn(LOW, 2)
        await asyncio.to_thread(wait_until, lambda: fleet.runs("eagle3"), 240, "speculation below break-even")

    assert load.summary.clean, load.summary.errors
    assert load.summary.requests > 100
    assert max(record.seconds for record in load.records) > 5
    assert fleet.places() == before
    assert fleet.restarts() == [2, 2]
    assert fleet.body()["metadata"]["generation"] == 1
    phase = kubectl("get", "pod", stranger, "-n", fleet.namespace, "-o", "jsonpath={.status.phase}")
    assert phase == "Pending"
