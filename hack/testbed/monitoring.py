"""Prometheus of the bed: it finds the engines through the API server, with the labels a PodMonitor would give."""

import json
from typing import Any

from hack.testbed import net
from hack.testbed.plan import Plan
from hack.testbed.supervisor import Component

_META = "__meta_kubernetes_pod"


def prometheus(plan: Plan) -> Component:
    """Prometheus on the bridge address; its data outlives a stop."""
    data = plan.paths.data
    config = data / "prometheus.json"
    config.write_text(json.dumps(_config(plan), indent=1))
    arguments = (
        plan.binaries["prometheus"],
        f"--config.file={config}",
        f"--storage.tsdb.path={data / 'prometheus'}",
        f"--web.listen-address={net.GATEWAY}:{net.PROMETHEUS_PORT}",
        f"--web.external-url={net.PROMETHEUS_URL}",
        "--log.level=warn",
    )
    return Component("prometheus", arguments)


def _config(plan: Plan) -> dict[str, Any]:
    interval = f"{round(plan.scrape_interval * 1000)}ms"
    discovery = {"role": "pod", "kubeconfig_file": str(plan.paths.data / "prometheus.kubeconfig")}
    engines = {"job_name": "bed/engines", "kubernetes_sd_configs": [discovery], "relabel_configs": _relabel()}
    return {
        "global": {"scrape_interval": interval, "scrape_timeout": interval},
        "scrape_configs": [engines],
    }


def _relabel() -> list[dict[str, Any]]:
    return [
        _keep(f"{_META}_label_app_kubernetes_io_managed_by", "specdec-operator"),
        _keep(f"{_META}_container_port_name", "http"),
        {"action": "drop", "source_labels": [f"{_META}_phase"], "regex": "(Failed|Succeeded)"},
        _copy("__meta_kubernetes_namespace", "namespace"),
        _copy(f"{_META}_container_name", "container"),
        _copy(f"{_META}_name", "pod"),
        _copy(f"{_META}_container_port_name", "endpoint"),
    ]


def _keep(label: str, value: str) -> dict[str, Any]:
    return {"action": "keep", "source_labels": [label], "regex": value}


def _copy(source: str, target: str) -> dict[str, Any]:
    return {"source_labels": [source], "target_label": target}
