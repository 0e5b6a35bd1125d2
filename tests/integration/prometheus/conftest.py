"""One Prometheus for all tests of this folder, with everything scraped for some seconds."""

import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.prometheus.exposition import Exposition
from tests.integration.prometheus.fleet import deploy
from tests.integration.prometheus.process import Prometheus, running
from tests.integration.prometheus.servers import make_certificate

_SAMPLES_NEEDED = 8


@pytest.fixture(scope="session")
def exposition() -> Iterator[Exposition]:
    """Engines whose metrics can be changed while they are scraped."""
    with Exposition().serving() as server:
        yield server


@pytest.fixture(scope="session")
def prometheus(exposition: Exposition, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """A Prometheus that has scraped every engine a few times."""
    with running(tmp_path_factory.mktemp("prometheus"), lambda process: deploy(exposition, process)) as process:
        _wait_for_samples(process)
        yield process


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 that nobody trusts by default, with its key."""
    return make_certificate(tmp_path_factory.mktemp("certificate"))


def _wait_for_samples(process: Prometheus) -> None:
    query = f"count(count_over_time(vllm:num_requests_running[60s])%3E={_SAMPLES_NEEDED})"
    deadline = time.monotonic() + 40
    while time.monotonic() < deadline:
        with urllib.request.urlopen(f"{process.url}/api/v1/query?query={query}", timeout=5) as answer:
            if f'"{process.targets + 1}"'.encode() in answer.read():
                return
        time.sleep(0.2)
    raise RuntimeError(f"not all engines were scraped {_SAMPLES_NEEDED} times within 40 s")
