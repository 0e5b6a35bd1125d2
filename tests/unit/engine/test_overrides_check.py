"""What pod.overrides may not say."""

from typing import Any

import pytest

from specdec_operator.engine.findings import Severity
from specdec_operator.engine.overrides_check import check_overrides

ROOT = "spec.pod.overrides"


def fields(overrides: dict[str, Any]) -> list[str]:
    """Return the fields refused, without their common beginning."""
    findings = list(check_overrides(overrides))
    assert all(finding.severity is Severity.ERROR and finding.remedy for finding in findings)
    return [finding.field.removeprefix(f"{ROOT}.") for finding in findings]


def engine(**container: Any) -> dict[str, Any]:
    """Make a patch of the engine's container."""
    return {"spec": {"containers": [{"name": "engine", **container}]}}


@pytest.mark.parametrize(
    "overrides",
    [
        {},
        {"metadata": {"labels": {"team": "a"}, "annotations": {"x": "y"}}},
        {"spec": {"hostNetwork": True, "dnsPolicy": "None", "dnsConfig": {"nameservers": ["10.0.0.10"]}}},
        {"spec": {"containers": [{"name": "sidecar", "image": "x", "env": [{"name": "A", "value": "$(B)"}]}]}},
        engine(readinessProbe={"httpGet": {"path": "/v1/models"}}),
        engine(livenessProbe={"timeoutSeconds": 30, "failureThreshold": 5}),
        engine(securityContext={"capabilities": {"add": ["IPC_LOCK"]}}),
    ],
)
def test_what_is_missing_elsewhere_may_be_set(overrides: dict[str, Any]) -> None:
    """Fields that nobody owns are merged."""
    assert fields(overrides) == []


@pytest.mark.parametrize(
    ("overrides", "refused"),
    [
        ({"status": {}}, ["status"]),
        ({"metadata": {"name": "x"}}, ["metadata.name"]),
        ({"metadata": {"labels": {"specdec.dev/serving": "true"}}}, ["metadata.labels[specdec.dev/serving]"]),
        (
            {"metadata": {"labels": {"app.kubernetes.io/managed-by": None}}},
            ["metadata.labels[app.kubernetes.io/managed-by]"],
        ),
        ({"metadata": {"annotations": {"specdec.dev/method": "x"}}}, ["metadata.annotations[specdec.dev/method]"]),
        ({"metadata": {"labels": None}}, ["metadata.labels"]),
        ({"spec": {"enableServiceLinks": True}}, ["spec.enableServiceLinks"]),
        ({"spec": {"terminationGracePeriodSeconds": 1}}, ["spec.terminationGracePeriodSeconds"]),
        ({"spec": {"restartPolicy": "Never"}}, ["spec.restartPolicy"]),
        ({"spec": {"containers": None}}, ["spec.containers"]),
        ({"spec": {"containers": {"engine": {}}}}, ["spec.containers"]),
        ({"spec": {"containers": [{"image": "x"}]}}, ["spec.containers[0]"]),
        ({"spec": {"containers": ["engine"]}}, ["spec.containers[0]"]),
        ({"spec": {"volumes": [{"name": "specdec-info", "emptyDir": {}}]}}, ["spec.volumes[0]"]),
        ({"spec": None}, ["spec"]),
        ({"spec": ["x"]}, ["spec"]),
        ({"spec": {"$patch": "replace"}}, ["spec.$patch"]),
        (engine(**{"$patch": "delete"}), ["spec.containers[0].$patch"]),
        (
            engine(image="x", args=["--port"], command=None),
            ["spec.containers[0].image", "spec.containers[0].args", "spec.containers[0].command"],
        ),
        (engine(startupProbe={"failureThreshold": 1}), ["spec.containers[0].startupProbe"]),
        (engine(livenessProbe={"exec": None}), ["spec.containers[0].livenessProbe.exec"]),
        (engine(livenessProbe=None), ["spec.containers[0].livenessProbe"]),
    ],
)
def test_what_the_operator_owns_is_refused(overrides: dict[str, Any], refused: list[str]) -> None:
    """Each place is named, also where the patch would remove it."""
    assert fields(overrides) == refused


def test_deep_patch_is_refused() -> None:
    """A patch is bounded."""
    patch: dict[str, Any] = {}
    for _ in range(40):
        patch = {"affinity": patch}

    assert len(fields({"spec": patch})) == 1


def test_env_of_the_engine_is_refused_with_the_field_to_use() -> None:
    """The remedy leads to the typed field."""
    (finding,) = check_overrides(engine(env=[{"name": "SPECULATIVE_CONFIG", "value": "x"}]))

    assert finding.remedy == "use engine.env"
