"""A real API server refuses bad objects with a message that names the field and the remedy."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from tests.contract.crds.cases import MINIMAL, Refused, as_yaml, changed, refused

Kubectl = Callable[..., str]
BAD_NAMES = ["a.b", "1a", "a" * 41]


@pytest.fixture(scope="module", name="answers")
def _answers(kubectl: Kubectl, crds: dict[str, dict[str, Any]]) -> dict[str, str]:
    """What the API server says to every bad object, in one call, by the object's name."""
    del crds
    bodies = [case.body for case in refused()] + [changed(name, {}) for name in BAD_NAMES]
    output = kubectl("create", "--dry-run=server", "-f", "-", input=as_yaml(*bodies), check=False)
    return dict(re.findall(r'SpecDecDeployment[.\w]* "([^"]+)" is invalid: (.*)', output))


@pytest.mark.parametrize("case", refused(), ids=lambda case: case.name)
def test_each_bad_object_is_refused_with_its_remedy(answers: dict[str, str], case: Refused) -> None:
    """The answer names the field and says what to write instead."""
    assert case.message in answers[case.name]
    assert "spec." in answers[case.name]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_names_that_no_service_can_take_are_refused(answers: dict[str, str], name: str) -> None:
    """The object's name becomes that of a Service."""
    assert "metadata.name: use at most 40 lower-case letters, digits and dashes" in answers[name]


def test_unknown_fields_are_refused(kubectl: Kubectl, namespace: str) -> None:
    """`kubectl` names a misspelt field instead of dropping it."""
    body = changed("misspelt", {"speculation.mehtods": []})

    answer = kubectl("-n", namespace, "create", "-f", "-", input=as_yaml(body), check=False)

    assert 'unknown field "spec.speculation.mehtods"' in answer


def test_four_thousand_environment_entries_are_refused(kubectl: Kubectl, namespace: str) -> None:
    """G5-01: a spec that would outgrow annotations and etcd is refused by the limits of the schema."""
    entries = [{"name": f"V{number:04}", "value": "x" * 64} for number in range(4000)]
    body = changed("huge", {"engine.env": entries})

    answer = kubectl("-n", namespace, "apply", "--server-side", "-f", "-", input=as_yaml(body), check=False)

    assert "spec.engine.env" in answer
    assert "must have at most 256 items" in answer


def test_an_object_at_its_limits_is_created_and_deleted(kubectl: Kubectl, namespace: str) -> None:
    """G5-01: the largest environment that the schema allows is stored, and deletion completes."""
    entries = [{"name": f"V{number:04}", "value": "x" * 1500} for number in range(256)]
    body = changed("large", {"engine.env": entries})

    kubectl("-n", namespace, "apply", "--server-side", "-f", "-", input=as_yaml(body))
    kubectl("-n", namespace, "delete", "sdd", "large", "--timeout=20s")

    assert kubectl("-n", namespace, "get", "sdd", "-o", "name") == ""


CLAIM = {"model.cache": {"perReplicaClaim": {"size": "10Gi"}}}
LARGER = {"model.cache": {"perReplicaClaim": {"size": "20Gi"}}}


@pytest.mark.parametrize(
    ("before", "after"),
    [({}, CLAIM), (CLAIM, LARGER), (CLAIM, {})],
    ids=["added", "changed", "removed"],
)
def test_claims_of_replicas_cannot_change(
    kubectl: Kubectl, namespace: str, before: dict[str, Any], after: dict[str, Any]
) -> None:
    """A StatefulSet's claim templates are immutable, so the change is refused where the user sees it."""
    kubectl("-n", namespace, "apply", "-f", "-", input=as_yaml(changed("claims", before)))

    answer = kubectl("-n", namespace, "apply", "-f", "-", input=as_yaml(changed("claims", after)), check=False)

    assert "model.cache.perReplicaClaim cannot be added, changed or removed later" in answer


def test_a_bad_change_leaves_the_object_as_it_was(kubectl: Kubectl, namespace: str) -> None:
    """What ran keeps running: the spec that the operator sees is still the good one."""
    kubectl("-n", namespace, "apply", "-f", "-", input=as_yaml(MINIMAL))
    bad = changed("minimal", {"speculation.policy.disableAfter": "1s"})

    kubectl("-n", namespace, "apply", "-f", "-", input=as_yaml(bad), check=False)

    assert kubectl("-n", namespace, "get", "sdd", "minimal", "-o", "jsonpath={.spec.speculation.policy}") == ""
