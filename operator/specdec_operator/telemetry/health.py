"""`/healthz`, `/readyz` and `/metrics` on one small HTTP server.

`/healthz` fails when a loop has died or stands still, so that the kubelet restarts the process; `/readyz` fails until
everything has been listed once.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from aiohttp import web
from prometheus_client import generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from specdec_operator.ports import Clock
from specdec_operator.telemetry.metrics import Metrics

Probe = Callable[[], str | None]
"""Says what is wrong, None when nothing is."""


@dataclass(slots=True)
class Pulse:
    """Something that must give a sign of life at least every `limit` seconds."""

    name: str
    limit: float
    clock: Clock
    _last: float = field(init=False)

    def __post_init__(self) -> None:
        """Count from now on."""
        self._last = self.clock.now()

    def beat(self) -> None:
        """Give a sign of life."""
        self._last = self.clock.now()

    def problem(self) -> str | None:
        """Say for how long there was no sign of life, None when that is within the limit."""
        silence = self.clock.now() - self._last
        return None if silence <= self.limit else f"{self.name}: no sign of life for {silence:.0f} s"


@dataclass(slots=True)
class Health:
    """What the probes ask."""

    alive: list[Probe] = field(default_factory=list)
    ready: list[Probe] = field(default_factory=list)

    def problems(self) -> list[str]:
        """Return what is dead or stands still."""
        return [problem for probe in self.alive if (problem := probe())]

    def missing(self) -> list[str]:
        """Return what keeps the process from being ready, dead loops included."""
        return self.problems() + [problem for probe in self.ready if (problem := probe())]


def build_application(health: Health, metrics: Metrics) -> web.Application:
    """Return the HTTP application."""

    async def healthz(_request: web.Request) -> web.Response:
        return _answer(health.problems())

    async def readyz(_request: web.Request) -> web.Response:
        return _answer(health.missing())

    async def exposition(_request: web.Request) -> web.Response:
        return web.Response(body=generate_latest(metrics.registry), headers={"Content-Type": CONTENT_TYPE_LATEST})

    application = web.Application()
    application.router.add_get("/healthz", healthz)
    application.router.add_get("/readyz", readyz)
    application.router.add_get("/metrics", exposition)
    return application


def _answer(problems: list[str]) -> web.Response:
    return web.Response(status=503 if problems else 200, text="\n".join(problems) or "ok")


async def serve(application: web.Application, port: int) -> web.AppRunner:
    """Start the server on all addresses; the caller calls `cleanup` of what is returned.

    Raises:
        OSError: if the port is taken.
    """
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, port=port).start()
    return runner
