"""The Python types refuse what the API server refuses, so that checking a file offline tells the same."""

import pytest
from pydantic import ValidationError
from tests.contract.crds.cases import MINIMAL, Refused, changed, refused

from specdec_operator.api.objects import SpecDecDeployment


def test_the_minimal_object_is_accepted() -> None:
    """A model, a version and a method are enough."""
    parsed = SpecDecDeployment.parse(MINIMAL)

    assert [method.name for method in parsed.spec.speculation.methods] == ["ngram"]


@pytest.mark.parametrize("case", [case for case in refused() if case.python], ids=lambda case: case.name)
def test_what_the_api_server_refuses_is_refused(case: Refused) -> None:
    """Every object of the table is refused, with the place of the error."""
    with pytest.raises(ValidationError, match=r"spec\."):
        SpecDecDeployment.parse(case.body)


@pytest.mark.parametrize("name", ["a.b", "A", "-a", "a-", "1a", "a" * 41, ""])
def test_names_that_no_service_can_take_are_refused(name: str) -> None:
    """The object's name becomes that of a Service: dashes only, at most 40 characters."""
    with pytest.raises(ValidationError, match="at most 40 lower-case letters"):
        SpecDecDeployment.parse(changed(name, {}))


@pytest.mark.parametrize("path", ["sped", "model.nmae", "speculation.policy.disableafter", "pod.nodeName"])
def test_unknown_fields_of_the_spec_are_refused(path: str) -> None:
    """A misspelt field is an error, never silence."""
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        SpecDecDeployment.parse(changed("a", {path: "x"}))


@pytest.mark.parametrize(
    "arguments", [["--portfolio", "x"], ["--hostname=x"], ["--seed", "1"], ["--per-request-spec-decode-metrics", "all"]]
)
def test_arguments_that_only_look_like_ours_pass(arguments: list[str]) -> None:
    """Flags with the same beginning are the user's to set."""
    parsed = SpecDecDeployment.parse(changed("a", {"engine.extraArgs": arguments}))

    assert list(parsed.spec.engine.extra_args) == arguments


def test_null_is_the_same_as_a_field_left_out() -> None:
    """The API server drops fields set to null, so a file with them means the same offline."""
    body = changed("minimal", {"pod": None, "model.cache": {"emptyDir": {}, "perReplicaClaim": None}})
    without = changed("minimal", {"model.cache": {"emptyDir": {}}})

    assert SpecDecDeployment.parse(body) == SpecDecDeployment.parse(without)
