"""A simulated vLLM as a process of its own, for tests that talk to it over HTTP."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

QUICK = {"SIMULATOR_STARTUP_SECONDS": "0", "SIMULATOR_REFUSE_SECONDS": "0"}
"""No waiting; everything else as it is by default."""


def free_port() -> int:
    """A port on loopback that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass(frozen=True, slots=True)
class Simulator:
    """A running process; `url` has no path."""

    process: "subprocess.Popen[str]"
    url: str

    def get(self, path: str, *, timeout: float = 5) -> tuple[int, str]:
        """Status and body of a GET."""
        return self.call("GET", path, None, timeout=timeout)

    def post(self, path: str, body: Any, *, timeout: float = 30) -> tuple[int, str]:
        """Status and body of a POST; a body that is no string is sent as JSON."""
        return self.call("POST", path, body if isinstance(body, str) else json.dumps(body), timeout=timeout)

    def call(self, method: str, path: str, body: str | None, *, timeout: float) -> tuple[int, str]:
        """Status and body of any request; errors of HTTP are answers, too."""
        data = None if body is None else body.encode()
        request = urllib.request.Request(self.url + path, data=data, method=method)
        request.add_header("content-type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=timeout) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def complete(self, tokens: int, **more: Any) -> tuple[int, str]:
        """Status and body of a completion of some tokens."""
        return self.post("/v1/completions", {"prompt": "say it", "max_tokens": tokens, "ignore_eos": True, **more})

    def faults(self, **values: Any) -> None:
        """Change faults."""
        status, body = self.post("/simulator/faults", values)
        assert status == 200, body

    def terminate(self) -> None:
        """Send SIGTERM."""
        self.process.send_signal(signal.SIGTERM)

    def wait(self, timeout: float = 10) -> int:
        """The exit code."""
        return self.process.wait(timeout)


def start_simulator(
    *arguments: str, port: int, environment: Mapping[str, str] | None = None
) -> "subprocess.Popen[str]":
    """Start `vllm serve tiny` with these arguments, on loopback, and do not wait for it."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("SIMULATOR_")}
    command = [sys.executable, "-m", "vllm_simulator", "serve", "tiny", "--host", "127.0.0.1", "--port", str(port)]
    return subprocess.Popen(
        [*command, *arguments],
        env={**own, **QUICK, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextlib.contextmanager
def running_simulator(*arguments: str, environment: Mapping[str, str] | None = None) -> Iterator[Simulator]:
    """A simulator that answers `/health`; gone, if need be by SIGKILL, when the block ends."""
    port = free_port()
    with start_simulator(*arguments, port=port, environment=environment) as process:
        try:
            yield _ready(Simulator(process, f"http://127.0.0.1:{port}"))
        finally:
            process.kill()


def refused(*arguments: str, environment: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Exit code and stderr of a simulator that ends by itself."""
    with start_simulator(*arguments, port=free_port(), environment=environment) as process:
        try:
            _, errors = process.communicate(timeout=20)
        finally:
            process.kill()
        return process.returncode, errors


def _ready(simulator: Simulator, seconds: float = 20) -> Simulator:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if simulator.process.poll() is not None:
            break
        with contextlib.suppress(OSError):
            simulator.get("/health", timeout=1)
            return simulator
        time.sleep(0.05)
    simulator.process.kill()
    raise AssertionError(f"the simulator did not start: {simulator.process.communicate()[1]}")
