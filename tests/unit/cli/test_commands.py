"""The commands as users and scripts call them."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.helpers.deployments import EAGLE, MODEL, NGRAM
from typer.testing import CliRunner

from specdec_operator.__about__ import __version__
from specdec_operator.cli.main import app

RUNNER = CliRunner()


def body(name: str = "llama-8b", **spec: Any) -> dict[str, Any]:
    """Make an object as a file holds it."""
    return {
        "apiVersion": "specdec.dev/v1alpha1",
        "kind": "SpecDecDeployment",
        "metadata": {"name": name},
        "spec": {
            "model": {"name": MODEL},
            "engine": {"version": "0.32.0"},
            "speculation": {"methods": [EAGLE, NGRAM]},
            **spec,
        },
    }


@pytest.fixture(name="file")
def _file(tmp_path: Path) -> Path:
    return tmp_path / "object.yaml"


def write(file: Path, *objects: dict[str, Any]) -> str:
    """Write objects as YAML documents and return the name of the file."""
    file.write_text(yaml.safe_dump_all(objects))
    return str(file)


def validate(*arguments: str) -> tuple[int, dict[str, Any]]:
    """Run specdec validate -o json and return exit code and answer."""
    result = RUNNER.invoke(app, ["validate", "-o", "json", *arguments])
    return result.exit_code, json.loads(result.stdout)


def test_version_is_printed() -> None:
    """The one version number."""
    assert RUNNER.invoke(app, ["version"]).stdout == f"{__version__}\n"


def test_valid_object_exits_0(file: Path) -> None:
    """The answer has the shape that scripts depend on."""
    code, answer = validate("-f", write(file, body()))

    assert code == 0
    (checked,) = answer["objects"]
    assert checked["name"] == "llama-8b"
    assert checked["kind"] == "SpecDecDeployment"
    assert checked["valid"] is True
    assert [set(finding) for finding in checked["findings"]] == [{"rule", "severity", "field", "message", "remedy"}]
    assert checked["findings"][0]["severity"] == "info"
    assert checked["methods"] == [
        {"name": "eagle3", "outcome": "accepted", "rule": None},
        {"name": "ngram", "outcome": "accepted", "rule": None},
    ]


def test_method_that_the_release_refuses_exits_1(file: Path) -> None:
    """The rule that rejects it stands with the method and among the findings."""
    medusa = {"name": "medusa", "method": "medusa", "model": "a/b", "numSpeculativeTokens": 3}
    spec = {"engine": {"version": "0.33.0"}, "speculation": {"methods": [NGRAM, medusa]}}

    code, answer = validate("-f", write(file, body(**spec)))

    assert code == 1
    (checked,) = answer["objects"]
    assert checked["valid"] is False
    assert checked["methods"][1] == {"name": "medusa", "outcome": "rejected", "rule": "method-release"}
    assert [finding["rule"] for finding in checked["findings"] if finding["severity"] == "error"] == ["method-release"]


@pytest.mark.parametrize(
    ("spec", "field", "said"),
    [
        ({"modle": {}}, "spec.modle", "no such field"),
        ({"model": {}}, "spec.model.name", "missing"),
        ({"engine": {"version": 0.32}}, "spec.engine.version", "0.32"),
        ({"replicas": -1}, "spec.replicas", "-1"),
        (
            {"speculation": {"methods": [{**NGRAM, "numSpeculativeTokens": 0}]}},
            "spec.speculation.methods[0].numSpeculativeTokens",
            "0",
        ),
        ({"rollout": {"drainTimeout": "soon"}}, "spec.rollout.drainTimeout", "'soon'"),
        ({"speculation": {"mode": "Fast"}}, "spec.speculation.mode", "Fast"),
        ({"pod": {"labels": {"specdec.dev/x": "y"}}}, "spec.pod", "belong to the operator"),
        ([], "spec", "valid"),
    ],
)
def test_schema_errors_name_field_value_and_remedy(file: Path, spec: Any, field: str, said: str) -> None:
    """What the API server would refuse is told in the same shape as everything else."""
    changed = body(**spec) if isinstance(spec, dict) else {**body(), "spec": spec}
    code, answer = validate("-f", write(file, changed))

    errors = [item for item in answer["objects"][0]["findings"] if item["severity"] == "error"]
    assert code == 1
    assert [item["field"] for item in errors] == [field]
    assert said in errors[0]["message"]
    assert errors[0]["remedy"]


def test_other_kinds_are_ignored(file: Path) -> None:
    """Files hold other objects too, and other groups have kinds of the same name."""
    other = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}
    stranger = {"apiVersion": "example.com/v1", "kind": "SpecDecDeployment", "metadata": {"name": "x"}}

    code, answer = validate("-f", write(file, other, stranger, body()))

    assert code == 0
    assert len(answer["objects"]) == 1


def test_input_without_our_kinds_is_said(file: Path) -> None:
    """An empty answer is explained on the other stream."""
    result = RUNNER.invoke(app, ["validate", "-o", "json", "-f", write(file, {"kind": "ConfigMap"})])

    assert result.exit_code == 0
    assert json.loads(result.stdout) == {"objects": []}
    assert "no SpecDecDeployment" in result.stderr


def test_unknown_version_of_our_group_is_invalid(file: Path) -> None:
    """A misspelt apiVersion is not passed over."""
    code, answer = validate("-f", write(file, {**body(), "apiVersion": "specdec.dev/v1"}))

    assert code == 1
    assert answer["objects"][0]["findings"][0]["field"] == "apiVersion"


def test_profile_is_checked_too(file: Path) -> None:
    """The second kind has its schema."""
    profile = {"apiVersion": "specdec.dev/v1alpha1", "kind": "SpecDecProfile", "metadata": {"name": "p"}, "spec": {}}

    code, answer = validate("-f", write(file, profile))

    assert code == 1
    assert answer["objects"][0]["kind"] == "SpecDecProfile"
    assert answer["objects"][0]["methods"] == []


def test_broken_input_exits_2(file: Path) -> None:
    """With file, line and column, and nothing on standard output."""
    file.write_text("kind: A\n  b: [\n")

    result = RUNNER.invoke(app, ["validate", "-f", str(file), "-o", "json"])

    assert result.exit_code == 2
    assert result.stdout == ""
    assert f"{file}:2:4" in result.stderr


def test_text_for_people(file: Path) -> None:
    """One line for the object, one for each finding."""
    spec = {"engine": {"version": "0.32.0", "extraArgs": ["--port=1"]}}

    result = RUNNER.invoke(app, ["validate", "-f", write(file, body(**spec))])

    lines = result.stdout.splitlines()
    assert result.exit_code == 1
    assert lines[0] == f"{file}:1: SpecDecDeployment/llama-8b is invalid"
    assert lines[1].startswith("  error: spec.engine.extraArgs[0]: '--port=1' sets --port")


def test_arguments_are_rendered_as_vllm_gets_them(file: Path) -> None:
    """One a line, with the method's JSON in its place."""
    result = RUNNER.invoke(app, ["render", "-f", write(file, body()), "--method", "ngram", "-o", "args"])

    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert lines[0] == MODEL
    assert lines[-2] == "--speculative-config"
    assert json.loads(lines[-1]) == {"method": "ngram", "num_speculative_tokens": 4, "prompt_lookup_max": 5}


@pytest.mark.parametrize("output", ["yaml", "json"])
def test_objects_are_rendered(file: Path, output: str) -> None:
    """What the operator would apply, with the first supported method, and without an owner that does not exist."""
    methods = [{"name": "bad", "method": "nope", "numSpeculativeTokens": 1}, NGRAM]
    file_name = write(file, body(speculation={"methods": methods}))

    result = RUNNER.invoke(app, ["render", "-f", file_name, "-o", output])

    items = list(yaml.safe_load_all(result.stdout))
    items = items[0]["items"] if output == "json" else items
    assert [item["kind"] for item in items] == ["StatefulSet", "Service", "PodDisruptionBudget"]
    assert items[0]["spec"]["template"]["metadata"]["annotations"]["specdec.dev/method"] == "ngram"
    assert all("ownerReferences" not in item["metadata"] for item in items)


def test_none_can_be_rendered(file: Path) -> None:
    """Plain decoding is the method "none"."""
    result = RUNNER.invoke(app, ["render", "-f", write(file, body()), "--method", "none", "-o", "args"])

    assert result.stdout.splitlines()[-1] == "null"


@pytest.mark.parametrize(
    ("spec", "method", "code", "said"),
    [
        ({"replicas": -1}, "ngram", 1, "spec.replicas"),
        ({"engine": {"version": "0.32.0", "extraArgs": ["--model=x"]}}, "ngram", 1, "extraArgs[0]"),
        ({"speculation": {"methods": [{"name": "bad", "method": "nope"}]}}, "bad", 1, "unknown-method"),
        ({}, "missing", 2, "eagle3, ngram, none"),
    ],
)
def test_what_cannot_run_is_not_rendered(file: Path, spec: dict[str, Any], method: str, code: int, said: str) -> None:
    """The finding goes to standard error, and nothing to standard output."""
    result = RUNNER.invoke(app, ["render", "-f", write(file, body(**spec)), "--method", method])

    assert result.exit_code == code
    assert result.stdout == ""
    assert said in result.stderr


def test_start_loads_nothing_slow() -> None:
    """The command starts fast and works where nothing but the package is installed."""
    slow = ("pydantic", "yaml", "kopf", "kubernetes")
    code = f"import sys, specdec_operator.cli.main; print([name for name in {slow} if name in sys.modules])"

    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)

    assert result.stdout.strip() == "[]"
