"""Runs the real helm on the chart."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

CHART = Path(__file__).parents[3] / "charts" / "specdec-operator"

Objects = dict[tuple[str, str, str], dict[str, Any]]
Helm = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session", name="helm")
def _helm(tmp_path_factory: pytest.TempPathFactory) -> Helm:
    """Run helm with `values` as its values file."""
    binary = os.environ.get("SPECDEC_HELM") or shutil.which("helm")
    if binary is None:
        pytest.skip("no helm: `python -m hack.testbed build` makes one; name it in SPECDEC_HELM or put it on PATH")
    folder = tmp_path_factory.mktemp("helm")
    home = {name: str(folder) for name in ("HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME")}

    def run(*arguments: str, values: dict[str, Any] | None = None) -> subprocess.CompletedProcess[str]:
        file = folder / "values.yaml"
        file.write_text(yaml.safe_dump(values or {}), encoding="utf-8")
        command = [binary, *arguments, "--values", str(file)]
        return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **home})

    return run


@pytest.fixture(scope="session", name="rendered")
def _rendered(helm: Helm) -> Callable[[str], str]:
    """Render the chart with values given as JSON, each set of values only once."""

    @cache
    def rendered(values: str) -> str:
        done = helm("template", "sdo", str(CHART), "--namespace", "ops", values=json.loads(values))
        assert done.returncode == 0, done.stderr
        return done.stdout

    return rendered


@pytest.fixture(name="render")
def _render(rendered: Callable[[str], str]) -> Callable[[dict[str, Any] | None], Objects]:
    """Render the chart as release `sdo` in namespace `ops`; objects by (kind, namespace, name)."""

    def render(values: dict[str, Any] | None = None) -> Objects:
        bodies = [body for body in yaml.load_all(rendered(json.dumps(values or {})), yaml.CSafeLoader) if body]
        keys = [(body["kind"], body["metadata"].get("namespace", ""), body["metadata"]["name"]) for body in bodies]
        assert len(set(keys)) == len(keys)
        return dict(zip(keys, bodies, strict=True))

    return render
