"""The check of a whole spec."""

from typing import Any

import pytest
from tests.helpers.deployments import MODEL, make_deployment, with_methods

from specdec_operator.api.conditions import Reason
from specdec_operator.engine.check import blocks_rendering, check_spec
from specdec_operator.engine.findings import Severity


def rules(name: str | None = None, **spec: Any) -> dict[str, str]:
    """Return rule and field of each finding above INFO."""
    findings = check_spec(make_deployment(**spec).spec, object_name=name)
    return {finding.rule: finding.field for finding in findings if finding.severity is not Severity.INFO}


def test_smallest_object_has_no_warning() -> None:
    """The quick start is clean; the default trigger is told as information."""
    (finding,) = check_spec(make_deployment().spec)

    assert finding.severity is Severity.INFO
    assert finding.field == "spec.speculation.policy.trigger"
    assert not blocks_rendering((finding,))


def test_error_of_a_method_does_not_forbid_rendering() -> None:
    """One bad method leaves the rest of the object alone; one bad flag does not."""
    bad_method = check_spec(with_methods({"name": "bad", "method": "nope"}).spec)
    bad_flag = check_spec(make_deployment(engine={"version": "0.32.0", "extraArgs": ["--model=x"]}).spec)

    assert not blocks_rendering(bad_method)
    assert blocks_rendering(bad_flag)


def test_release_older_than_the_table_is_refused() -> None:
    """Nothing is known about it."""
    findings = check_spec(make_deployment(engine={"version": "0.10.2"}).spec)

    assert blocks_rendering(findings)
    assert findings[0].reason is Reason.UNSUPPORTED_BY_ENGINE_VERSION


def test_release_newer_than_the_table_warns() -> None:
    """It is treated as the newest known one."""
    assert rules(engine={"version": "0.34.0"}) == {"engine-version": "spec.engine.version"}


@pytest.mark.parametrize(
    ("engine", "expected"),
    [
        ({"version": "0.32.0+cpu"}, {"engine-image": "spec.engine.version"}),
        ({"version": "0.32.0", "image": "own/vllm:v0.31.0"}, {"engine-image": "spec.engine.image"}),
        ({"version": "0.32.0", "image": "own/vllm:nightly"}, {}),
        ({"version": "0.32.0", "image": "own/simulator:0.1.0"}, {}),
        ({"image": "own/vllm:v0.32.0"}, {}),
        ({"version": "0.32.0", "command": ["/bin/sh", "-c"]}, {"command": "spec.engine.command"}),
        (
            {"version": "0.32.0", "command": ["python3", "-m", "vllm.entrypoints.openai.api_server"]},
            {"command": "spec.engine.command"},
        ),
        ({"version": "0.32.0", "command": ["/opt/venv/bin/vllm", "serve"]}, {}),
        (
            {"version": "0.32.0", "env": [{"name": "PROMETHEUS_MULTIPROC_DIR", "value": "/x"}]},
            {"metrics-directory": "spec.engine.env[0]"},
        ),
    ],
)
def test_engine_findings(engine: dict[str, Any], expected: dict[str, str]) -> None:
    """What contradicts itself or misleads is told, with its field."""
    assert rules(engine=engine) == expected


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (
            {"pod": {"volumeMounts": [{"name": "x", "mountPath": "/etc/specdec/"}]}},
            {"volume": "spec.pod.volumeMounts[0].mountPath"},
        ),
        ({"resources": {"limits": {"nvidia.com/gpu": 2}}}, {"accelerator": "spec.resources.limits[nvidia.com/gpu]"}),
        ({"resources": {"limits": {"nvidia.com/gpu": "1", "cpu": "4"}}}, {}),
        (
            {
                "model": {"name": MODEL, "tokenSecretRef": {"name": "hub"}},
                "engine": {"version": "0.32.0", "env": [{"name": "HF_TOKEN", "value": "x"}]},
            },
            {"environment": "spec.engine.env[0]"},
        ),
    ],
)
def test_pod_findings(spec: dict[str, Any], expected: dict[str, str]) -> None:
    """What collides with the operator's own parts of the pod is refused."""
    assert rules(**spec) == expected


@pytest.mark.parametrize(
    ("name", "warned"), [("vllm", True), ("vllm-llama", True), ("my-vllm", False), ("vllmx", False)]
)
def test_name_whose_service_sets_variables_of_vllm_warns(name: str, *, warned: bool) -> None:
    """A Service called vllm gives VLLM_PORT to other pods (case G3-14)."""
    assert (rules(name) == {"service-name": "metadata.name"}) is warned
