"""Environment and volumes of an engine."""

from typing import Any

import pytest
from tests.helpers.deployments import MODEL, make_deployment

from specdec_operator.resources.environment import build_environment
from specdec_operator.resources.volumes import build_volumes


def environment(**spec: Any) -> dict[str, Any]:
    """Return the variables by name, each with its value or its source."""
    found = make_deployment(**spec).spec
    variables = build_environment(found, build_volumes(found).environment)
    names = [variable["name"] for variable in variables]
    assert len(set(names)) == len(names)
    return {variable["name"]: variable.get("value", variable.get("valueFrom")) for variable in variables}


def mounts(**spec: Any) -> dict[str, str]:
    """Return the names of the mounted volumes by path."""
    return {mount["mountPath"]: mount["name"] for mount in build_volumes(make_deployment(**spec).spec).mounts}


def test_variable_of_the_user_takes_the_place_of_ours() -> None:
    """The API server refuses two variables of one name."""
    engine = {"version": "0.32.0", "env": [{"name": "HF_HOME", "value": "/own"}]}

    assert environment(engine=engine)["HF_HOME"] == "/own"


def test_token_is_only_ever_a_reference() -> None:
    """The operator never reads the Secret."""
    model = {"name": MODEL, "tokenSecretRef": {"name": "hub", "key": "t"}}

    assert environment(model=model)["HF_TOKEN"] == {"secretKeyRef": {"name": "hub", "key": "t"}}


@pytest.mark.parametrize(
    ("hub", "expected"),
    [
        ({"endpoint": "https://mirror:8443/x"}, {"HF_ENDPOINT": "https://mirror:8443/x"}),
        ({"offline": True}, {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}),
        (
            {"source": "ModelScope", "endpoint": "https://mirror:8443"},
            {"VLLM_USE_MODELSCOPE": "True", "MODELSCOPE_DOMAIN": "mirror:8443"},
        ),
    ],
)
def test_hub_of_ones_own(hub: dict[str, Any], expected: dict[str, str]) -> None:
    """Mirrors, air gaps and the other hub."""
    changed = environment(model={"name": MODEL, "hub": hub})

    assert {name: value for name, value in changed.items() if name not in environment()} == expected


def test_compiled_code_stays_off_a_claim_that_replicas_share() -> None:
    """Such a claim may be read-only; weights are read from it, everything else is written beside it."""
    model = {"name": MODEL, "cache": {"persistentVolumeClaim": {"claimName": "models"}}}

    variables, paths = environment(model=model), mounts(model=model)
    assert variables["HF_HUB_CACHE"].startswith("/var/cache/specdec/")
    for name in ("HF_HOME", "VLLM_CACHE_ROOT", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR"):
        assert variables[name].startswith("/var/cache/specdec-compile/")
    assert paths["/var/cache/specdec"] != paths["/var/cache/specdec-compile"]


@pytest.mark.parametrize(
    ("spec", "mounted"),
    [
        ({}, False),
        ({"engine": {"version": "0.32.0", "tensorParallelSize": 2}}, True),
        ({"engine": {"version": "0.32.0", "dataParallelSize": 2}}, True),
        ({"pod": {"sharedMemorySize": "1Gi"}}, True),
        (
            {
                "engine": {"version": "0.32.0", "tensorParallelSize": 2},
                "pod": {"volumeMounts": [{"name": "own", "mountPath": "/dev/shm"}]},
            },
            False,
        ),
    ],
)
def test_shared_memory_for_more_than_one_process(spec: dict[str, Any], *, mounted: bool) -> None:
    """64 MiB are too little for them; a user's own mount stays."""
    assert ("/dev/shm" in mounts(**spec)) is mounted


@pytest.mark.parametrize("path", ["/tmp", "/tmp/"])
def test_metrics_files_stay_on_the_node(path: str) -> None:
    """A volume on /tmp may be on the network; the directory itself is left to vLLM (case G2-16)."""
    pod = {"volumeMounts": [{"name": "tmp", "mountPath": path}]}

    assert environment(pod=pod)["TMPDIR"] in mounts(pod=pod)
    assert "TMPDIR" not in environment()
    assert "PROMETHEUS_MULTIPROC_DIR" not in environment(pod=pod)
