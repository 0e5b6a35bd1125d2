"""The process that users start: `python -m specdec_operator`."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
import yaml
from tests.integration.controller.api import Api
from tests.integration.controller.conftest import Watcher, deployment, eventually


class Process:
    """One operator process."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder, self.port = folder, port
        self.log = folder / "operator.log"
        self.process: asyncio.subprocess.Process | None = None

    async def start(self, **configured: object) -> None:
        """Start it with this configuration."""
        file = self.folder / "config.yaml"
        file.write_text(yaml.safe_dump({"httpPort": self.port, "tickSeconds": 1, **configured}))
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "specdec_operator", "--config", str(file), stdout=log, stderr=log, env=os.environ
            )

    async def ask(self, path: str) -> tuple[int, str]:
        """Return status and text of an HTTP answer; 0 when there is none."""
        try:
            async with (
                aiohttp.ClientSession() as session,
                session.get(f"http://127.0.0.1:{self.port}{path}") as answer,
            ):
                return answer.status, await answer.text()
        except aiohttp.ClientError as error:
            return 0, str(error)

    async def ready(self) -> bool:
        """Say whether it is ready."""
        return (await self.ask("/readyz"))[0] == 200

    async def end(self, number: signal.Signals) -> int:
        """Send a signal and return the exit status."""
        assert self.process is not None
        self.process.send_signal(number)
        async with asyncio.timeout(20):
            return await self.process.wait()


@pytest.fixture(name="process")
async def _process(tmp_path: Path, unused_tcp_port: int) -> AsyncIterator[Process]:
    process = Process(tmp_path, unused_tcp_port)
    yield process
    if process.process is not None and process.process.returncode is None:
        process.process.kill()
        await process.process.wait()


async def test_it_serves_its_probes_and_metrics_and_ends_in_order(
    api: Api, process: Process, cluster_namespace: str
) -> None:
    """Ready, at work, and gone with exit status 0 at SIGTERM."""
    await process.start(namespaces=[cluster_namespace], logFormat="json")
    await eventually(process.ready)
    await api.create("sdd", deployment(cluster_namespace))
    await Watcher(api, cluster_namespace).until("Ready", "False", "Starting")
    assert (await process.ask("/healthz"))[0] == 200

    async def counted() -> bool:
        _, text = await process.ask("/metrics")
        return "specdec_objects 1.0" in text and 'specdec_reconciles_total{result="Done"}' in text

    await eventually(counted)
    assert await process.end(signal.SIGTERM) == 0
    assert "Traceback" not in process.log.read_text()


async def test_its_successor_after_a_kill_goes_on(api: Api, process: Process, cluster_namespace: str) -> None:
    """SIGKILL, an edit while nobody watches, and a new process that takes it up."""
    await process.start(namespaces=[cluster_namespace])
    await api.create("sdd", deployment(cluster_namespace))
    await Watcher(api, cluster_namespace).until("Ready", "False", "Starting")
    assert await process.end(signal.SIGKILL) == -signal.SIGKILL
    await api.patch("sdd", cluster_namespace, "llama", {"spec": {"replicas": 3}})
    await process.start(namespaces=[cluster_namespace])

    async def scaled() -> bool:
        stateful_set = await api.get("statefulset", cluster_namespace, "llama")
        return stateful_set is not None and stateful_set["spec"]["replicas"] == 3

    await eventually(scaled)


async def test_a_configuration_that_cannot_be_used_ends_it_at_once(process: Process) -> None:
    """Exit status 2, and one line that names the field."""
    await process.start(tickSeconds=0)
    assert process.process is not None
    assert await process.process.wait() == 2
    text = process.log.read_text()
    assert "tickSeconds 0 does not fit" in text
    assert "Traceback" not in text


async def test_it_ends_at_once_while_it_still_waits_for_the_api_server(
    process: Process, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGTERM is obeyed at any time, and until then it is alive and not ready."""
    nowhere = tmp_path / "nowhere.kubeconfig"
    cluster = {"name": "x", "cluster": {"server": "http://127.0.0.1:1"}}
    context = {"name": "x", "context": {"cluster": "x", "user": "x"}}
    config = {
        "clusters": [cluster],
        "contexts": [context],
        "users": [{"name": "x", "user": {}}],
        "current-context": "x",
    }
    nowhere.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Config", **config}))
    monkeypatch.setenv("KUBECONFIG", str(nowhere))
    await process.start()

    async def waits() -> bool:
        status, text = await process.ask("/readyz")
        return status == 503 and "cannot be listed yet" in text

    await eventually(waits)
    assert (await process.ask("/healthz"))[0] == 200
    async with asyncio.timeout(5):
        assert await process.end(signal.SIGTERM) == 0
