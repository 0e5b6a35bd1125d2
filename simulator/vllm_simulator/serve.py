"""The life of the process: start slowly, serve, stop the way vLLM does."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Iterator

import uvicorn

from vllm_simulator.cluster import Cluster
from vllm_simulator.http.app import make_app
from vllm_simulator.http.errors import engine_dead
from vllm_simulator.launch import Launch

KEEP_ALIVE_SECONDS = 5


class Server(uvicorn.Server):
    """uvicorn without its own signal handlers: what SIGTERM means is decided here."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals alone."""
        yield


async def serve(launch: Launch) -> int:
    """Run until told to stop; the return value is the exit code."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    cluster = Cluster(launch)
    app = make_app(cluster)
    if await _starting(launch, stop):
        return 0
    cluster.start()
    server = Server(_config(launch, app))
    serving = asyncio.create_task(server.serve())
    if cluster.faults.crash_after is not None:
        asyncio.get_running_loop().call_later(cluster.faults.crash_after, os._exit, 1)
    _say(f"Application startup complete on port {launch.port}: {launch.model}, speculation {launch.method}.")
    stopped = asyncio.create_task(stop.wait())
    await asyncio.wait({serving, stopped}, return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    await _stop(cluster, server)
    await serving
    return 0 if server.started else 1


async def _starting(launch: Launch, stop: asyncio.Event) -> bool:
    """Take as long as a start takes; True when told to stop meanwhile."""
    faults = launch.settings.faults
    if faults.crash:
        os._exit(1)
    seconds = launch.settings.startup_seconds * faults.startup_factor / launch.settings.time_scale
    _say(f"Starting: {launch.model}, speculation {launch.method}.")
    try:
        async with asyncio.timeout(None if faults.never_ready else seconds):
            await stop.wait()
    except TimeoutError:
        return False
    return True


async def _stop(cluster: Cluster, server: Server) -> None:
    """Drain for `--shutdown-timeout`, then stop the engines and the HTTP server. As seen on vLLM 0.32.

    Streams that still run when the time is over end with an error event. Without a shutdown timeout they get nothing
    more and are not ended either, so that the process waits for SIGKILL.
    """
    cluster.draining = True
    timeout = cluster.launch.shutdown_timeout
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(timeout):
            await cluster.drained()
    await cluster.stop()
    if timeout:
        cluster.fail(engine_dead())
    server.should_exit = True


def _config(launch: Launch, app: object) -> uvicorn.Config:
    return uvicorn.Config(
        app,  # type: ignore[arg-type]
        host=launch.host,
        port=launch.port,
        log_level="warning",
        access_log=False,
        lifespan="off",
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        server_header=True,
    )


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
