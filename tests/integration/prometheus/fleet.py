"""The engines of the tests, all scraped by one Prometheus: each scenario has its own namespace."""

import re

from tests.integration.prometheus.exposition import Engine, Exposition, recorded
from tests.integration.prometheus.process import Prometheus

RATES = {
    "vllm:generation_tokens_total": 300.0,
    "vllm:prompt_tokens_total": 30.0,
    "vllm:spec_decode_num_drafts_total": 100.0,
    "vllm:spec_decode_num_draft_tokens_total": 400.0,
    "vllm:spec_decode_num_accepted_tokens_total": 120.0,
    "vllm:spec_decode_num_accepted_tokens_per_pos_total": 30.0,
}
NGRAM = "vllm-0.32-ngram"
NONE = "vllm-0.32-none"


def busy(running: float | str, **fields: object) -> Engine:
    """Return an engine with n-gram speculation under load."""
    values = {"vllm:num_requests_running": str(running), "vllm:num_requests_waiting": "2.0"}
    return Engine(text=recorded(NGRAM), values=values, per_second=dict(RATES), **fields)  # type: ignore[arg-type]


def plain(running: float) -> Engine:
    """Return an engine without speculation under load."""
    return Engine(
        text=recorded(NONE),
        values={"vllm:num_requests_running": str(running)},
        per_second={"vllm:generation_tokens_total": 90.0},
    )


def without(text: str, pattern: str) -> str:
    """Return a text without the lines that match."""
    return "".join(line for line in text.splitlines(keepends=True) if not re.search(pattern, line))


def deploy(exposition: Exposition, prometheus: Prometheus) -> None:
    """Start all engines and have them scraped."""
    engines: dict[tuple[str, str], Engine] = {
        ("serving", "demo-0"): busy(40.0),
        ("serving", "demo-1"): plain(10.0),
        ("dev", "demo-0"): busy(70.0),
        ("parallel", "demo-0"): busy(9.0, engine_labels=("0", "1")),
        ("nan", "demo-0"): busy("NaN"),
        ("nan", "demo-1"): busy("+Inf"),
        ("nan", "demo-2"): busy("-1"),
        ("nan", "demo-3"): busy(5.0),
        ("bare", "demo-0"): busy(40.0),
        ("untotalled", "demo-0"): busy(40.0),
        ("dying", "demo-0"): busy(40.0),
        ("deleted", "demo-0"): busy(40.0),
    }
    engines["bare", "demo-0"].text = without(recorded(NGRAM), "_created")
    old = engines["untotalled", "demo-0"]
    old.text = re.sub(r"(vllm:[a-z_]+)_total\{", r"\1{", without(recorded(NGRAM), r"^#|_created"))
    old.per_second = {name.removesuffix("_total"): rate for name, rate in RATES.items()}
    for (namespace, pod), engine in engines.items():
        name = f"{namespace}-{pod}"
        exposition.engines[name] = engine
        prometheus.add(name, exposition.address, f"/{name}/metrics", namespace=namespace, pod=pod)
    _several(exposition, prometheus)


def _several(exposition: Exposition, prometheus: Prometheus) -> None:
    """Targets that are scraped more than once, or labelled in another way."""
    exposition.engines["pair"] = busy(40.0)
    for replica in ("a", "b"):
        labels = {"namespace": "pairs", "pod": "demo-0", "prometheus_replica": replica}
        prometheus.add(f"pair-{replica}", exposition.address, "/pair/metrics", **labels)
    for cluster, running in (("east", 61.0), ("west", 9.0)):
        exposition.engines[cluster] = busy(running)
        labels = {"namespace": "clusters", "pod": "demo-1", "cluster": cluster}
        prometheus.add(cluster, exposition.address, f"/{cluster}/metrics", **labels)
    exposition.engines["east-2"] = busy(3.0)
    labels = {"namespace": "clusters", "pod": "demo-2", "cluster": "east"}
    prometheus.add("east-2", exposition.address, "/east-2/metrics", **labels)
    exposition.engines["exported"] = busy(40.0)
    labels = {"namespace": "monitoring", "pod": "agent", "exported_namespace": "relabelled", "exported_pod": "demo-0"}
    prometheus.add("exported", exposition.address, "/exported/metrics", **labels)
