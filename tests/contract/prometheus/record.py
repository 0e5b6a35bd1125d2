"""Records real answers of a real Prometheus to the operator's own queries.

Run it after a change of the queries: `python -m tests.contract.prometheus.record` from the root of the repository.
Each scenario becomes tests/data/prometheus/answers-<scenario>.json.gz.
"""

import asyncio
import gzip
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.integration.prometheus.exposition import DATA, Exposition
from tests.integration.prometheus.fleet import deploy
from tests.integration.prometheus.process import Prometheus, running
from tests.integration.prometheus.servers import forwarding, http_server

from specdec_operator.adapters.prometheus import PrometheusConfiguration, PrometheusSource
from specdec_operator.policy.signals import Reading

SCENARIOS: dict[str, tuple[frozenset[str], dict[str, Any]]] = {
    "serving": (frozenset({"serving", "dev"}), {}),
    "parallel": (frozenset({"parallel"}), {}),
    "clusters": (frozenset({"clusters"}), {}),
    "pairs": (frozenset({"pairs"}), {}),
    "nan": (frozenset({"nan"}), {}),
    "empty": (frozenset({"nobody"}), {}),
}
"""Namespaces and further configuration of each scenario."""
SECONDS_OF_DISCOVERY = 6
SECONDS_OF_SCRAPES = 20


async def record(prometheus: Prometheus, scenario: str) -> None:
    """Read once through a forwarder and keep what went through."""
    namespaces, configuration = SCENARIOS[scenario]
    answers: dict[str, Any] = {}
    handle = forwarding(prometheus.url, lambda query, _headers, body: answers.update({query: json.loads(body)}))
    with http_server(handle) as url:
        source = PrometheusSource(PrometheusConfiguration.model_validate({"url": url, **configuration}))
        result = await source.read(namespaces)
    assert isinstance(result, Reading), f"{scenario}: {result}"
    text = json.dumps({"recorded_at": time.time(), "answers": answers}, indent=0, sort_keys=True)
    (DATA / f"answers-{scenario}.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def main() -> None:
    """Record every scenario."""
    exposition = Exposition()
    with (
        tempfile.TemporaryDirectory() as folder,
        exposition.serving(),
        running(Path(folder), lambda prometheus: deploy(exposition, prometheus)) as prometheus,
    ):
        time.sleep(SECONDS_OF_DISCOVERY + SECONDS_OF_SCRAPES)
        for scenario in SCENARIOS:
            asyncio.run(record(prometheus, scenario))


if __name__ == "__main__":
    main()
