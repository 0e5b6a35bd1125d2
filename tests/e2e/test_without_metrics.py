"""Prometheus goes away at high load and comes back."""

import asyncio
import subprocess
import sys
import time

import pytest
from tests.helpers.fleet import Fleet, simulated

OUTAGE_SECONDS = 180


@pytest.mark.timeout(900)
async def test_without_prometheus_nothing_switches_and_afterwards_it_goes_on_by_itself(
    operator, kubectl, cluster_namespace, bed, wait_until
) -> None:
    """Three minutes without metrics past break-even: no switch, a reason in status; then the switch comes."""
    fleet = Fleet(kubectl, cluster_namespace, "blind")
    fleet.apply(simulated(fleet.name, cluster_namespace))
    await asyncio.to_thread(wait_until, fleet.is_ready, 120, "two engines")
    async with fleet.loaded(4) as load:
        await asyncio.to_thread(
            wait_until, lambda: fleet.condition("MetricsAvailable").get("status") == "True", 60, "metrics"
        )
        _prometheus("stop", bed)
        try:
            load.dial.clients = 56
            await asyncio.to_thread(
                wait_until,
                lambda: fleet.condition("MetricsAvailable").get("reason") == "SourceUnreachable",
                90,
                "the outage to be told of",
            )
            await _stays(fleet, OUTAGE_SECONDS)
            assert fleet.condition("MetricsAvailable")["status"] == "False"
            assert fleet.condition("Ready")["status"] == "True"
        finally:
            _prometheus("start", bed)
        await asyncio.to_thread(wait_until, lambda: fleet.runs("none"), 240, "the switch after the outage")

    assert load.summary.clean, load.summary.errors
    assert fleet.condition("MetricsAvailable")["reason"] == "Found"


async def _stays(fleet: Fleet, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        status = fleet.status()
        assert status["target"]["method"] == "eagle3"
        assert not status.get("switches")
        await asyncio.sleep(5)


def _prometheus(verb: str, bed) -> None:
    command = [sys.executable, "-m", "hack.testbed", "prometheus", verb, "--name", bed["name"]]
    subprocess.run(command, check=True)
