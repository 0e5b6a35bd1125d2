"""Probes and metrics over HTTP."""

import aiohttp
import pytest

from specdec_operator.telemetry.health import Health, Pulse, build_application, serve
from specdec_operator.telemetry.metrics import Metrics


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.time = 1000.0

    def now(self) -> float:
        """Return the time."""
        return self.time


def test_a_pulse_is_missed_after_its_limit() -> None:
    """A loop that stands still is found out, and forgiven when it goes on."""
    clock = Clock()
    pulse = Pulse("ticker", 60.0, clock)
    clock.time += 60
    assert pulse.problem() is None
    clock.time += 5
    assert pulse.problem() == "ticker: no sign of life for 65 s"
    pulse.beat()
    assert pulse.problem() is None


async def ask(health: Health, path: str) -> tuple[int, str]:
    """Start the server, ask once, and stop it."""
    runner = await serve(build_application(health, Metrics()), 0)
    try:
        # With port 0 each address family gets a port of its own; IPv4 addresses have two parts.
        port = next(address[1] for address in runner.addresses if len(address) == 2)
        async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}{path}") as answer:
            return answer.status, await answer.text()
    finally:
        await runner.cleanup()


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
async def test_all_well(path: str) -> None:
    """200 and ok."""
    assert await ask(Health(alive=[lambda: None], ready=[lambda: None]), path) == (200, "ok")


async def test_a_dead_loop_fails_both_probes_and_is_named() -> None:
    """The kubelet restarts, and its event says why."""
    health = Health(alive=[lambda: None, lambda: "ticker: no sign of life for 99 s"])
    for path in ("/healthz", "/readyz"):
        status, text = await ask(health, path)
        assert (status, text) == (503, "ticker: no sign of life for 99 s")


async def test_not_being_ready_is_no_reason_to_restart() -> None:
    """Liveness does not look at readiness."""
    health = Health(ready=[lambda: "children are not listed yet"])
    assert (await ask(health, "/healthz"))[0] == 200
    assert await ask(health, "/readyz") == (503, "children are not listed yet")


async def test_metrics_are_served_as_text() -> None:
    """In the exposition format."""
    status, text = await ask(Health(), "/metrics")
    assert status == 200
    assert "# HELP specdec_queue_depth" in text
