"""The objects that the API refuses, as data for the tests against the Python types and against a real API server."""

from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

ROOT: Final = Path(__file__).parents[3]
MINIMAL: Final = {
    "apiVersion": "specdec.dev/v1alpha1",
    "kind": "SpecDecDeployment",
    "metadata": {"name": "minimal"},
    "spec": {
        "model": {"name": "meta-llama/Llama-3.1-8B-Instruct"},
        "engine": {"version": "0.32.0"},
        "speculation": {"methods": [{"name": "ngram", "method": "ngram", "numSpeculativeTokens": 4}]},
    },
}


@dataclass(frozen=True, slots=True)
class Refused:
    """One object that must be refused, and words of the API server's answer."""

    name: str
    body: dict[str, Any]
    message: str
    python: bool
    """The Python types refuse it too."""


def changed(name: str, changes: dict[str, Any]) -> dict[str, Any]:
    """Return the minimal object under another name, with values set by paths below `spec`."""
    body: dict[str, Any] = deepcopy(MINIMAL)
    body["metadata"]["name"] = name
    for path, value in changes.items():
        *parents, last = path.split(".")
        place = body["spec"]
        for parent in parents:
            place = place.setdefault(parent, {})
        place[last] = value
    return body


def as_yaml(*bodies: dict[str, Any]) -> str:
    """Return objects as one YAML stream."""
    return yaml.safe_dump_all(bodies, sort_keys=False)


def refused() -> list[Refused]:
    """Return all cases of tests/data/api/refused.yaml."""
    cases = yaml.safe_load((ROOT / "tests/data/api/refused.yaml").read_text(encoding="utf-8"))
    return [
        Refused(case["name"], changed(case["name"], case["set"]), case["message"], case.get("python", True))
        for case in cases
    ]
