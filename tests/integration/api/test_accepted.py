"""A real API server takes the CRDs and what they allow."""

import json
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from tests.contract.crds.cases import MINIMAL, ROOT, as_yaml, changed

Kubectl = Callable[..., str]
EXAMPLES = sorted((ROOT / "examples").glob("*/*.yaml"))


def read(kubectl: Kubectl, namespace: str, name: str = "minimal", *arguments: str) -> dict[str, Any]:
    """Return an object as the API server has it."""
    return json.loads(kubectl("-n", namespace, "get", "sdd", name, "-o", "json", *arguments))


@pytest.mark.parametrize("plural", ["specdecdeployments", "specdecprofiles"])
def test_the_definitions_are_established_and_structural(crds: dict[str, dict[str, Any]], plural: str) -> None:
    """The API server serves both kinds and has nothing to say against their schemas."""
    conditions = {condition["type"]: condition["status"] for condition in crds[plural]["status"]["conditions"]}

    assert conditions["Established"] == "True"
    assert conditions["NamesAccepted"] == "True"
    assert conditions.get("NonStructuralSchema", "False") == "False"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_example_is_accepted(kubectl: Kubectl, namespace: str, example: Any) -> None:
    """Each example of the repository passes strict validation on the server."""
    answer = kubectl("-n", namespace, "apply", "--dry-run=server", "--validate=strict", "-f", str(example))

    assert "(server dry run)" in answer


def test_a_full_object_is_accepted_and_nothing_of_it_is_lost(kubectl: Kubectl, namespace: str) -> None:
    """Every field of the reference object comes back as it was written, schema-free parts included."""
    body = yaml.safe_load((ROOT / "tests/data/api/full.yaml").read_text(encoding="utf-8"))

    kubectl("-n", namespace, "apply", "--validate=strict", "-f", "-", input=as_yaml(body))

    assert read(kubectl, namespace, "full")["spec"] == body["spec"]


def test_a_profile_is_accepted(kubectl: Kubectl, namespace: str) -> None:
    """A profile with two curves passes strict validation and shows in its columns."""
    text = (ROOT / "tests/data/api/profile.yaml").read_text(encoding="utf-8")

    kubectl("-n", namespace, "apply", "--validate=strict", "-f", "-", input=text)

    assert "H100" in kubectl("-n", namespace, "get", "sdp")


def test_an_applied_object_shows_no_difference(kubectl: Kubectl, namespace: str) -> None:
    """G6-01: the API server adds nothing but `replicas`, so `kubectl diff` and GitOps tools stay quiet."""
    text = as_yaml(MINIMAL)
    kubectl("-n", namespace, "apply", "-f", "-", input=text)

    difference = kubectl("-n", namespace, "diff", "-f", "-", input=text)

    assert difference == ""
    assert read(kubectl, namespace)["spec"] == {**MINIMAL["spec"], "replicas": 1}


def test_the_scale_subresource_works(kubectl: Kubectl, namespace: str) -> None:
    """`kubectl scale` and an HPA change `spec.replicas`, also of an object that never named it."""
    kubectl("-n", namespace, "apply", "-f", "-", input=as_yaml(MINIMAL))
    status = json.dumps({"status": {"replicas": 1, "selector": "specdec.dev/deployment=minimal"}})
    kubectl("-n", namespace, "patch", "sdd", "minimal", "--subresource=status", "--type=merge", "-p", status)

    kubectl("-n", namespace, "scale", "sdd/minimal", "--replicas=3")

    path = f"/apis/specdec.dev/v1alpha1/namespaces/{namespace}/specdecdeployments/minimal/scale"
    scale = json.loads(kubectl("get", "--raw", path))
    assert scale["spec"] == {"replicas": 3}
    assert scale["status"] == {"replicas": 1, "selector": "specdec.dev/deployment=minimal"}


def test_status_and_spec_are_written_apart(kubectl: Kubectl, namespace: str) -> None:
    """A write to the status changes no spec and no generation; a write to the object changes no status."""
    kubectl("-n", namespace, "apply", "-f", "-", input=as_yaml(MINIMAL))
    both = json.dumps({"spec": {"replicas": 7}, "status": {"readyReplicas": 2}})

    kubectl("-n", namespace, "patch", "sdd", "minimal", "--subresource=status", "--type=merge", "-p", both)
    after_status = read(kubectl, namespace)
    kubectl("-n", namespace, "patch", "sdd", "minimal", "--type=merge", "-p", both.replace("2", "5"))
    after_spec = read(kubectl, namespace)

    assert after_status["spec"]["replicas"] == 1
    assert after_status["metadata"]["generation"] == 1
    assert after_spec["spec"]["replicas"] == 7
    assert after_spec["status"] == after_status["status"] == {"readyReplicas": 2}


def test_the_columns_show_the_status(kubectl: Kubectl, namespace: str) -> None:
    """`kubectl get sdd -o wide` reads all its columns from what the operator writes."""
    kubectl("-n", namespace, "apply", "-f", "-", input=as_yaml(MINIMAL))
    condition = {"type": "Ready", "status": "True", "reason": "Available", "message": "2 of 2 replicas serve"}
    status = {
        "conditions": [{**condition, "lastTransitionTime": "2026-12-01T09:00:00Z"}],
        "replicas": 2,
        "engineVersion": "0.32.0",
        "active": {"method": "ngram", "numSpeculativeTokens": 4, "since": "2026-12-01T09:00:00Z"},
        "breakEvenConcurrency": 17,
        "signals": {"concurrency": "3.5", "acceptanceLength": "2.41"},
        "decision": {"action": "Keep", "reason": "BelowBreakEven", "message": "m", "since": "2026-12-01T09:00:00Z"},
    }
    patch = json.dumps({"status": status})
    kubectl("-n", namespace, "patch", "sdd", "minimal", "--subresource=status", "--type=merge", "-p", patch)

    header, row = kubectl("-n", namespace, "get", "sdd", "-o", "wide").splitlines()

    assert header.split() == [
        *("NAME", "READY", "METHOD", "K", "REPLICAS", "BREAKEVEN", "SWITCHED", "AGE"),
        *("RUNNING", "ACCEPTLEN", "REASON", "ENGINE"),
    ]
    cells = row.split()
    assert cells[:6] == ["minimal", "True", "ngram", "4", "2", "17"]
    assert cells[-4:] == ["3.5", "2.41", "BelowBreakEven", "0.32.0"]


def test_arguments_that_only_look_like_ours_are_accepted(kubectl: Kubectl, namespace: str) -> None:
    """G1-03: flags with a similar beginning, and the longest list that is allowed, pass the rules within their cost."""
    similar = ["--portfolio", "x", "--host-name=y", "--hosts", "--per-request-spec-decode-metrics", "summary", "-t"]
    longest = [f"--flag-{number:03}={'v' * 4085}" for number in range(128)]
    bodies = [changed("similar", {"engine.extraArgs": similar}), changed("longest", {"engine.extraArgs": longest})]

    answer = kubectl("-n", namespace, "create", "--dry-run=server", "-f", "-", input=as_yaml(*bodies))

    assert answer.count("created (server dry run)") == 2


@pytest.mark.parametrize("image", ["vllm/vllm-openai:v0.32.0", "r:5000/v:0.32.0-cu129", "v:v0.32.0@sha256:00ff"])
def test_an_image_whose_tag_is_a_release_needs_no_version(kubectl: Kubectl, namespace: str, image: str) -> None:
    """The release may stand in the tag, also before a digest."""
    body = changed("own-image", {"engine": {"image": image}})

    answer = kubectl("-n", namespace, "create", "--dry-run=server", "-f", "-", input=as_yaml(body))

    assert "created (server dry run)" in answer


def test_null_is_the_same_as_a_field_left_out(kubectl: Kubectl, namespace: str) -> None:
    """The API server drops fields set to null, as the Python types do."""
    body = changed("minimal", {"pod": None, "model.cache": {"emptyDir": {}, "perReplicaClaim": None}})

    kubectl("-n", namespace, "apply", "-f", "-", input=as_yaml(body))

    assert "pod" not in read(kubectl, namespace)["spec"]
    assert read(kubectl, namespace)["spec"]["model"]["cache"] == {"emptyDir": {}}


def test_short_names_and_category_work(kubectl: Kubectl, namespace: str) -> None:
    """`kubectl get specdec` lists both kinds."""
    kubectl("-n", namespace, "apply", "-f", "-", input=as_yaml(MINIMAL))

    assert "specdecdeployment.specdec.dev/minimal" in kubectl("-n", namespace, "get", "specdec", "-o", "name")
