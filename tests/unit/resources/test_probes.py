"""Probes and the preStop hook, with their scripts run by a real shell (cases G3-05, G3-06)."""

import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from specdec_operator.engine.owned import INFO_DIRECTORY
from specdec_operator.engine.render import PORT
from specdec_operator.resources import probes

CONFIG = json.dumps({"method": "ngram", "num_speculative_tokens": 4, "note": "$(PATH) `id` ' \" \\ é"})


@dataclass
class Health:
    """An engine's /health; `status` may be changed at any time."""

    status: int = 200
    asked: list[str] = field(default_factory=list)
    port: int = 0


@pytest.fixture(name="health")
def _health() -> Iterator[Health]:
    health = Health()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            health.asked.append(self.path)
            self.send_response(health.status)
            self.end_headers()

        def log_message(self, *_arguments: object) -> None:
            """Keep quiet."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    health.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield health
    server.shutdown()
    thread.join()
    server.server_close()


@dataclass
class Container:
    """Runs the scripts as the kubelet would in a container whose files lie under `root`."""

    root: Path
    port: int
    config: str = CONFIG
    said: str = ""

    def annotate(self, text: str) -> None:
        """Put another value into the downward-API file."""
        (self.root / probes.CONFIG_FILE).write_text(text)

    def run(self, script: str) -> int:
        """Run a script and return its exit code; what it says becomes the event of a failure."""
        text = script.replace(INFO_DIRECTORY, str(self.root)).replace(f", {PORT},", f", {self.port},")
        text = text.replace(probes.COUNT_FILE, str(self.root / "count"))
        environment = {
            "PATH": os.environ["PATH"],
            "SPECULATIVE_CONFIG": self.config,
            "http_proxy": "http://127.0.0.1:1",
        }
        done = subprocess.run(
            ["sh", "-c", text], env=environment, check=False, timeout=30, capture_output=True, text=True
        )
        self.said = done.stdout.strip()
        return done.returncode


@pytest.fixture(name="container")
def _container(tmp_path: Path, health: Health) -> Container:
    container = Container(tmp_path, health.port)
    container.annotate(CONFIG)
    return container


@pytest.mark.parametrize("config", ["null", CONFIG, "", "a\n", " a", "-n", "x" * 8000])
def test_liveness_holds_while_the_method_is_the_same(container: Container, config: str) -> None:
    """Whatever characters the value has, equal is equal."""
    container.config = config
    container.annotate(config)

    assert container.run(probes.LIVENESS_SCRIPT) == 0


@pytest.mark.parametrize(
    ("running", "wanted"), [(CONFIG, "null"), ("null", CONFIG), ("a", "a\n"), ("a", "a "), ("a", "")]
)
def test_liveness_fails_when_the_method_was_changed(container: Container, running: str, wanted: str) -> None:
    """The smallest difference restarts the engine."""
    container.config = running
    container.annotate(wanted)

    assert container.run(probes.LIVENESS_SCRIPT) != 0
    assert container.said == "speculative config changed: restarting the engine"


def test_missing_file_restarts_nothing(container: Container) -> None:
    """A volume that cannot be read says nothing about the method."""
    (container.root / probes.CONFIG_FILE).unlink()

    assert container.run(probes.LIVENESS_SCRIPT) == 0


def test_liveness_seldom_asks_for_health(container: Container, health: Health) -> None:
    """Comparing costs no Python; /health is asked once in a minute's worth of probes."""
    for _ in range(probes.CHECKS_PER_HEALTH_CHECK - 1):
        assert container.run(probes.LIVENESS_SCRIPT) == 0
    assert health.asked == []

    assert container.run(probes.LIVENESS_SCRIPT) == 0
    assert health.asked == ["/health"]


def test_hung_engine_is_restarted_after_several_refusals(container: Container, health: Health) -> None:
    """Refusals in a row end the engine; one good answer in between starts the count afresh."""
    every = "x" * (probes.CHECKS_PER_HEALTH_CHECK - 1)
    count = container.root / "count"
    health.status = 503

    for failures in range(probes.HEALTH_FAILURES - 1):
        count.write_text(f"{every}:{'x' * failures}\n")
        assert container.run(probes.LIVENESS_SCRIPT) == 0
    count.write_text(f"{every}:{'x' * (probes.HEALTH_FAILURES - 1)}\n")
    assert container.run(probes.LIVENESS_SCRIPT) != 0
    assert container.run(probes.LIVENESS_SCRIPT) != 0
    assert container.said == f"/health refused {probes.HEALTH_FAILURES} times in a row"

    health.status = 200
    count.write_text(f"{every}:{'x' * probes.HEALTH_FAILURES}\n")
    assert container.run(probes.LIVENESS_SCRIPT) == 0
    assert count.read_text() == ":\n"


def test_spoilt_count_file_restarts_nothing(container: Container) -> None:
    """Whatever stands in the file, a healthy engine lives."""
    for text in ("", "1", "x y", "7 2 9", ":99999", "xxxxx:xxxxxy", ":", "\n", "\x00"):
        (container.root / "count").write_text(text)
        assert container.run(probes.LIVENESS_SCRIPT) == 0


@pytest.mark.parametrize(("status", "started"), [(200, True), (503, False), (404, False)])
def test_engine_has_started_when_it_answers(
    container: Container, health: Health, status: int, *, started: bool
) -> None:
    """Only 200 on /health ends the start."""
    health.status = status

    assert (container.run(probes.STARTUP_SCRIPT) == 0) is started


def test_change_of_method_ends_the_wait_for_a_start(container: Container, health: Health) -> None:
    """Liveness, which restarts the engine, takes over at once."""
    health.status = 503
    container.annotate("null")

    assert container.run(probes.STARTUP_SCRIPT) == 0
    assert container.run(probes.LIVENESS_SCRIPT) != 0


def test_start_forgets_the_refusals_of_the_engine_before(container: Container) -> None:
    """The count outlives a restart of the container, its meaning does not."""
    count = container.root / "count"
    count.write_text(f":{'x' * probes.HEALTH_FAILURES}\n")
    assert container.run(probes.LIVENESS_SCRIPT) != 0

    assert container.run(probes.STARTUP_SCRIPT) == 0
    assert container.run(probes.LIVENESS_SCRIPT) == 0


def test_nobody_listens_while_an_engine_starts(container: Container) -> None:
    """A refused connection is a failure like any other."""
    container.port = 1

    assert container.run(probes.STARTUP_SCRIPT) != 0


def test_pre_stop_waits_only_while_the_pod_is_in_its_service(container: Container) -> None:
    """A pod without the serving label ends at once, one with it after the wait."""
    script = probes.PRE_STOP_SCRIPT.replace(f"sleep {probes.PRE_STOP_SECONDS}", "sleep 0.3")
    labels = container.root / probes.LABELS_FILE

    for text, waits in (('a="b"\nspecdec.dev/serving="true"', True), ('x-specdec.dev/serving="true"', False)):
        labels.write_text(text)
        before = time.monotonic()
        assert container.run(script) == 0
        assert (time.monotonic() - before > 0.25) is waits


def test_no_script_uses_the_syntax_of_kubernetes() -> None:
    """`$(...)` in a command would be looked up as a variable."""
    for script in (probes.STARTUP_SCRIPT, probes.LIVENESS_SCRIPT, probes.PRE_STOP_SCRIPT):
        assert "$(" not in script
        assert "$$" not in script


def test_startup_outlasts_the_timeout() -> None:
    """The probe's own numbers give the engine its time."""
    probe = probes.startup_probe("45m")

    assert probe["failureThreshold"] * probe["periodSeconds"] >= 45 * 60
    assert "initialDelaySeconds" not in probe
