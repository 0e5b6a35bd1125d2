"""What the demo runs: the objects, the load and what has to happen, for each kind of engine."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from hack.vllm.install import VERSION as VLLM_VERSION
from hack.vllm.install import VllmInstallation
from specdec_operator.__about__ import __version__

NAMESPACE: Final = "demo"
AUTO: Final = "llama-8b"
TWIN: Final = "always-on"
ROOT: Final = Path(__file__).parents[2]
QUICKSTART: Final = ROOT / "examples" / "01-quickstart" / "simulator.yaml"

# Windows short enough to watch; the defaults are 5m, 15m and 15m.
POLICY: Final = {"trigger": "Threshold", "disableAfter": "15s", "enableAfter": "15s", "minimumDwell": "15s"}


# Physics of the simulated engines: a weak accelerator with the break-even of eagle3 (K = 3, acceptance length 2.4) at
# 16 running requests, slow enough that four engines and their clients fit on two cores.
BREAK_EVEN: Final = 16
PHYSICS: Final = {
    "SIMULATOR_STEP_SECONDS": "0.08",
    "SIMULATOR_TOKEN_SECONDS": "0.003",
    "SIMULATOR_FREE_TOKENS": "32",
    "SIMULATOR_DRAFT_COST": "0.06",
    "SIMULATOR_ACCEPTANCE_LENGTH": "2.4",
    "SIMULATOR_STARTUP_SECONDS": "3",
}


@dataclass(frozen=True, slots=True)
class Load:
    """Closed loops of streaming clients, each with a connection of its own per request."""

    calm_clients: int
    busy_clients: int
    minimum_tokens: int
    maximum_tokens: int
    calm_seconds: float
    climb_seconds: float


@dataclass(frozen=True, slots=True)
class Scenario:
    """One demo from start to end."""

    engine: str
    objects: tuple[dict[str, Any], ...]
    load: Load
    method: str
    """The method that is to be left and taken up again."""
    break_even: int
    limit_seconds: float
    """After so long each wait gives up, and the demo fails."""
    has_twin: bool = True
    notes: tuple[str, ...] = field(default=())


def simulator_scenario() -> Scenario:
    """Return the demo with simulated engines: physics of a weak accelerator, slowed down to be cheap to run."""
    auto = _quickstart(AUTO)
    twin = _quickstart(TWIN)
    twin["spec"]["speculation"] |= {"mode": "Pinned", "pinned": twin["spec"]["speculation"]["methods"][0]["name"]}
    first = auto["spec"]["speculation"]["methods"][0]
    return Scenario(
        engine="simulator",
        objects=(auto, twin),
        load=Load(
            calm_clients=6,
            busy_clients=44,
            minimum_tokens=130,
            maximum_tokens=180,
            calm_seconds=12,
            climb_seconds=8,
        ),
        method=first["name"],
        break_even=first["breakEvenConcurrency"],
        limit_seconds=150,
    )


def vllm_scenario(installation: VllmInstallation) -> Scenario:
    """Return the demo with real engines on CPU: a random four-layer Llama and n-gram speculation."""
    return Scenario(
        engine="vllm",
        objects=(_vllm_object(installation),),
        load=Load(
            calm_clients=1,
            busy_clients=32,
            minimum_tokens=200,
            maximum_tokens=600,
            calm_seconds=30,
            climb_seconds=20,
        ),
        method="ngram",
        break_even=10,
        limit_seconds=600,
        has_twin=False,
        notes=("no always-on twin: four real engines would share two cores and measure each other",),
    )


def _quickstart(name: str) -> dict[str, Any]:
    with QUICKSTART.open() as file:
        body: dict[str, Any] = next(
            document for document in yaml.safe_load_all(file) if document["kind"] == "SpecDecDeployment"
        )
    body["metadata"] = {"name": name, "namespace": NAMESPACE}
    body["spec"]["engine"]["env"] = [{"name": name, "value": value} for name, value in PHYSICS.items()]
    body["spec"]["pod"] = {"terminationGracePeriodSeconds": 60}
    speculation = body["spec"]["speculation"]
    speculation["methods"] = speculation["methods"][:1]
    speculation["methods"][0]["breakEvenConcurrency"] = BREAK_EVEN
    speculation["policy"] = dict(POLICY)
    return body


def _vllm_object(installation: VllmInstallation) -> dict[str, Any]:
    folders = {
        "python": installation.python_home,
        "environment": installation.environment,
        "models": installation.models,
    }
    return {
        "apiVersion": "specdec.dev/v1alpha1",
        "kind": "SpecDecDeployment",
        "metadata": {"name": AUTO, "namespace": NAMESPACE},
        "spec": {
            "replicas": 2,
            "model": {"name": str(installation.models / "target"), "servedNames": ["llama"], "hub": {"offline": True}},
            "engine": {
                "version": VLLM_VERSION,
                "image": "bed.local/python:3.11",
                "command": [
                    str(installation.environment / "bin" / "python"),
                    "-m",
                    "vllm.entrypoints.cli.main",
                    "serve",
                ],
                "accelerator": {"count": 0},
                "maxModelLen": 2048,
                "extraArgs": ["--enforce-eager", "--dtype=bfloat16", "--api-server-count=1"],
                "env": [
                    {"name": "VLLM_CPU_KVCACHE_SPACE", "value": "1"},
                    {"name": "VLLM_NO_USAGE_STATS", "value": "1"},
                    {"name": "OMP_NUM_THREADS", "value": "1"},
                    {"name": "VLLM_CPU_OMP_THREADS_BIND", "value": "nobind"},
                ],
            },
            "pod": {
                "terminationGracePeriodSeconds": 90,
                "volumes": [{"name": name, "hostPath": {"path": str(path)}} for name, path in folders.items()],
                "volumeMounts": [
                    {"name": name, "mountPath": str(path), "readOnly": True} for name, path in folders.items()
                ],
            },
            "speculation": {
                "methods": [
                    {
                        "name": "ngram",
                        "method": "ngram",
                        "numSpeculativeTokens": 4,
                        "options": {"prompt_lookup_max": 4},
                        "breakEvenConcurrency": 10,
                    }
                ],
                "policy": dict(POLICY),
            },
            "rollout": {"startupTimeout": "10m", "drainTimeout": "2m"},
        },
    }


def operator_values(prometheus_url: str) -> dict[str, Any]:
    """Return the chart's values for the demo: a quick tick and the test bed's Prometheus."""
    return {
        "image": {"tag": __version__},
        "config": {"tickSeconds": 2, "prometheus": {"url": prometheus_url}},
    }
