"""Kills and broken methods: the fleet converges and serves on."""

import asyncio
import json
import time

import pytest
from tests.helpers.audit import operator_writes
from tests.helpers.fleet import EAGLE, QUICK, Fleet, simulated


@pytest.fixture(name="fleet")
def _fleet(operator, kubectl, cluster_namespace) -> Fleet:
    return Fleet(kubectl, cluster_namespace, "hard")


def test_a_restarted_operator_finds_everything_as_it_should_be(fleet, operator, bed, wait_until) -> None:
    """A new operator process writes nothing and restarts nothing where nothing has changed."""
    fleet.apply(simulated(fleet.name, fleet.namespace))
    wait_until(fleet.is_ready, 120, "two engines")
    wait_until(lambda: fleet.condition("MetricsAvailable").get("status") == "True", 60, "metrics")
    time.sleep(10)
    since, places, restarts = time.time(), fleet.places(), fleet.restarts()

    operator.kill()
    operator.wait()
    time.sleep(20)

    assert operator_writes(bed["audit_log"], namespace=fleet.namespace, since=since) == []
    assert (fleet.places(), fleet.restarts()) == (places, restarts)


@pytest.mark.timeout(600)
async def test_an_operator_killed_in_mid_switch_is_continued_by_its_successor(fleet, operator, wait_until) -> None:
    """Killed again and again while it switches, it still ends right: one restart a pod, no request lost."""
    fleet.apply(simulated(fleet.name, fleet.namespace))
    await asyncio.to_thread(wait_until, fleet.is_ready, 120, "two engines")
    before = fleet.places()

    async with fleet.loaded(8, max_tokens=(150, 250)) as load:
        await asyncio.sleep(2)
        _set_mode(fleet, "Off")
        for _ in range(4):
            await asyncio.to_thread(operator.kill)
            await asyncio.sleep(4)
        await asyncio.to_thread(operator.wait)
        await asyncio.to_thread(wait_until, lambda: fleet.runs("none"), 240, "plain decoding")

    assert load.summary.clean, load.summary.errors
    assert fleet.places() == before
    assert fleet.restarts() == [1, 1]


@pytest.mark.timeout(600)
async def test_a_method_that_does_not_come_up_is_put_back_and_left_alone(fleet, wait_until) -> None:
    """The old value returns to the one pod that was tried; the other pod is never touched; the reason is in status."""
    faults = json.dumps({"ngram": {"faults": {"crash_after": 0.5}}})
    body = simulated(fleet.name, fleet.namespace, env={"SIMULATOR_METHODS": faults})
    ngram = {"name": "ngram", "method": "ngram", "numSpeculativeTokens": 4, "options": {"prompt_lookup_max": 5}}
    body["spec"]["speculation"] = {"methods": [EAGLE, ngram], "policy": QUICK}
    fleet.apply(body)
    await asyncio.to_thread(wait_until, fleet.is_ready, 120, "two engines")

    async with fleet.loaded(4, max_tokens=(100, 200)) as load:
        _set_mode(fleet, "Pinned", pinned="ngram")
        await asyncio.to_thread(
            wait_until, lambda: fleet.runs("eagle3") and _quarantined(fleet, "ngram"), 240, "the old method to be back"
        )

    assert load.summary.clean, load.summary.errors
    restarts = fleet.restarts()
    assert min(restarts) == 0
    assert max(restarts) >= 2
    assert fleet.status()["switches"][-1]["outcome"] == "RolledBack"


def _quarantined(fleet: Fleet, method: str) -> bool:
    return any(m["name"] == method and m["state"] == "Quarantined" for m in fleet.status().get("methods", ()))


def _set_mode(fleet: Fleet, mode: str, **more: str) -> None:
    change = json.dumps({"spec": {"speculation": {"mode": mode, **more}}})
    fleet.kubectl("patch", "sdd", fleet.name, "-n", fleet.namespace, "--type=merge", "-p", change)
