"""A real Prometheus process on a free port of this machine, with targets that tests add and remove."""

import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

SCRAPE_INTERVAL = 1.0
_CONFIG = """
global: {{scrape_interval: 1s, scrape_timeout: 900ms}}
scrape_configs:
- job_name: engines
  file_sd_configs: [{{files: ["{targets}"]}}]
"""


def free_port() -> int:
    """Return a port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Prometheus:
    """A Prometheus that scrapes once a second."""

    def __init__(self, folder: Path) -> None:
        binary = shutil.which("prometheus")
        if binary is None:
            raise RuntimeError("no prometheus in PATH; install the package `prometheus` of the distribution")
        self._binary = binary
        self._folder = folder
        self._targets: dict[str, dict[str, str]] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self.port = free_port()
        self._write_targets()
        (folder / "prometheus.yml").write_text(_CONFIG.format(targets=folder / "targets.json"))

    @property
    def targets(self) -> int:
        """Return how many targets are scraped."""
        return len(self._targets)

    @property
    def url(self) -> str:
        """Return the address."""
        return f"http://127.0.0.1:{self.port}"

    def add(self, key: str, address: str, path: str, **labels: str) -> None:
        """Scrape one more target; `labels` go on all its series."""
        self._targets[key] = {"__address__": address, "__metrics_path__": path, **labels}
        self._write_targets()

    def remove(self, key: str) -> None:
        """Stop scraping a target, as service discovery does when a pod is deleted."""
        del self._targets[key]
        self._write_targets()

    def _write_targets(self) -> None:
        groups = [
            {"targets": [labels["__address__"]], "labels": {k: v for k, v in labels.items() if k != "__address__"}}
            for labels in self._targets.values()
        ]
        part = self._folder / "targets.part"
        part.write_text(json.dumps(groups))
        part.rename(self._folder / "targets.json")

    def start(self) -> None:
        """Start the process and wait until it answers."""
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    self._binary,
                    f"--config.file={self._folder}/prometheus.yml",
                    f"--storage.tsdb.path={self._folder}/data",
                    f"--web.listen-address=127.0.0.1:{self.port}",
                    "--log.level=warn",
                ],
                stdout=log,
                stderr=log,
            )
        deadline = time.monotonic() + 30
        while not self._ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((self._folder / "log").read_text()[-2000:])
            time.sleep(0.05)

    def _ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/-/ready", timeout=1) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def stop(self) -> None:
        """End the process and wait for it."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait(20)
            self._process = None


@contextmanager
def running(folder: Path, prepare: Callable[[Prometheus], None] = lambda _: None) -> Iterator[Prometheus]:
    """Run a Prometheus while the block runs; targets that `prepare` adds are scraped from the start."""
    prometheus = Prometheus(folder)
    prepare(prometheus)
    prometheus.start()
    try:
        yield prometheus
    finally:
        prometheus.stop()
