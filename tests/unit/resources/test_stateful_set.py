"""The StatefulSet as a whole (cases G3-01, G3-06, G3-14), and recorded renderings of four objects."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion
from tests.helpers.deployments import MODEL, NGRAM, make_deployment, with_methods
from tests.helpers.renderings import RENDERED

from specdec_operator.api.names import CONFIG_ANNOTATION, METHOD_ANNOTATION, SERVING_LABEL, SPEC_HASH_ANNOTATION
from specdec_operator.api.objects import SpecDecDeployment
from specdec_operator.engine.render import render_method
from specdec_operator.resources import build_stateful_set, selector, serving_selector, spec_hash


def build(method: str = "ngram", **spec: Any) -> dict[str, Any]:
    """Render the StatefulSet of an object."""
    deployment = make_deployment(**spec)
    return build_stateful_set(deployment, render_method(deployment.spec, method))


def engine_of(stateful_set: dict[str, Any]) -> dict[str, Any]:
    """Return the engine's container."""
    container: dict[str, Any] = stateful_set["spec"]["template"]["spec"]["containers"][0]
    return container


@pytest.mark.parametrize("case", RENDERED)
def test_rendering_is_as_recorded(case: str, snapshot: SnapshotAssertion) -> None:
    """A change of what is applied is seen in review."""
    assert build(**RENDERED[case]) == snapshot


def test_no_template_change_restarts_a_pod() -> None:
    """Neither surge nor rolling update: a single accelerator is never waited for while it is held."""
    spec = build()["spec"]

    assert spec["updateStrategy"] == {"type": "OnDelete"}
    assert spec["podManagementPolicy"] == "Parallel"


def test_template_carries_the_target_method() -> None:
    """New pods start with it: annotations for the method, its config, and the digest of the spec."""
    deployment = make_deployment()
    template = build_stateful_set(deployment, render_method(deployment.spec, "none"))["spec"]["template"]

    annotations = template["metadata"]["annotations"]
    assert annotations[CONFIG_ANNOTATION] == "null"
    assert annotations[METHOD_ANNOTATION] == "none"
    assert annotations[SPEC_HASH_ANNOTATION] == spec_hash(deployment)


def test_method_changes_nothing_but_annotations() -> None:
    """The rest of the template is the same for every method, so a switch never needs another pod."""
    one, other = build("ngram"), build("none")
    for stateful_set in (one, other):
        for name in (CONFIG_ANNOTATION, METHOD_ANNOTATION):
            del stateful_set["spec"]["template"]["metadata"]["annotations"][name]

    assert one == other


def test_pods_leave_their_service_without_leaving_the_stateful_set() -> None:
    """The StatefulSet does not select by the serving label, which new pods have."""
    spec = build()["spec"]

    assert spec["selector"]["matchLabels"] == selector("llama-8b")
    assert serving_selector("llama-8b").items() <= spec["template"]["metadata"]["labels"].items()
    assert SERVING_LABEL not in selector("llama-8b")


def test_environment_and_file_hold_the_same_annotation() -> None:
    """The container sees the value it was started with and the value of now."""
    stateful_set = build()
    path = f"metadata.annotations['{CONFIG_ANNOTATION}']"

    (info,) = [item for item in stateful_set["spec"]["template"]["spec"]["volumes"] if "downwardAPI" in item]
    assert engine_of(stateful_set)["env"][0]["valueFrom"]["fieldRef"]["fieldPath"] == path
    assert info["downwardAPI"]["items"][0]["fieldRef"]["fieldPath"] == path


def test_every_engine_has_three_probes_and_no_sidecar_has_any() -> None:
    """The user's readiness is merged into the operator's, not put in its place."""
    stateful_set = build(**RENDERED["large"])
    engine, sidecar = stateful_set["spec"]["template"]["spec"]["containers"]

    assert {"startupProbe", "livenessProbe", "readinessProbe"} <= set(engine)
    assert engine["readinessProbe"]["httpGet"] == {"path": "/v1/models", "port": "http"}
    assert engine["readinessProbe"]["timeoutSeconds"] == 5
    assert sidecar == {"name": "sidecar", "image": "sidecar:1"}


def test_no_service_links() -> None:
    """A Service called vllm would overwrite the engine's own port variable."""
    assert build()["spec"]["template"]["spec"]["enableServiceLinks"] is False


@pytest.mark.parametrize(
    ("engine", "count"),
    [
        ({"tensorParallelSize": 2, "pipelineParallelSize": 3, "dataParallelSize": 2}, "12"),
        ({"tensorParallelSize": 2, "accelerator": {"count": 1, "resourceName": "nvidia.com/mig-1g.10gb"}}, "1"),
        ({"accelerator": {"count": 0}}, None),
    ],
)
def test_accelerators_are_requested_and_limited(engine: dict[str, Any], count: str | None) -> None:
    """One for each parallel process unless said otherwise; zero asks for none."""
    resources = engine_of(build(engine={"version": "0.32.0", **engine})).get("resources", {})
    name = engine.get("accelerator", {}).get("resourceName", "nvidia.com/gpu")

    assert resources.get("limits", {}).get(name) == count
    assert resources.get("requests", {}).get(name) == count


@given(
    texts=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), min_size=3, max_size=3),
    argument=st.from_regex(r"[a-zA-Z0-9$({][^\s]{0,20}", fullmatch=True),
)
def test_no_text_of_a_user_reaches_a_script(texts: list[str], argument: str) -> None:
    """Scripts are constant; what users write stands only in fields of its own."""
    plain = build()
    given_ = with_methods(
        {**NGRAM, "options": {"prompt_lookup_max": texts[0]}},
        engine={
            "version": "0.32.0",
            "extraArgs": ["--chat-template", texts[1]],
            "env": [{"name": "X", "value": texts[2]}],
        },
        model={"name": MODEL, "servedNames": [argument]},
    )
    rendered = build_stateful_set(given_, render_method(given_.spec, "ngram"))

    for probe in ("startupProbe", "livenessProbe", "lifecycle"):
        assert engine_of(rendered)[probe] == engine_of(plain)[probe]
    assert engine_of(rendered)["command"] == ["vllm", "serve"]


def test_unknown_version_renders_nothing() -> None:
    """What cannot be rendered is an error, not half an object."""
    deployment = make_deployment()
    engine = deployment.spec.engine.model_copy(update={"version": "nightly"})
    broken = SpecDecDeployment.model_construct(
        metadata=deployment.metadata, spec=deployment.spec.model_copy(update={"engine": engine})
    )

    with pytest.raises(ValueError, match=r"spec\.engine\.version"):
        build_stateful_set(broken, render_method(broken.spec, "none"))
