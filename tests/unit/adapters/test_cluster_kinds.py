"""Kinds and their paths."""

import pytest

from specdec_operator.adapters.cluster.kinds import DEPLOYMENT, POD, STATEFUL_SET, resource_of


def test_core_kinds_live_under_api() -> None:
    """Kinds of the core group have the short root."""
    assert POD.collection("a") == "/api/v1/namespaces/a/pods"
    assert POD.collection(None) == "/api/v1/pods"


def test_other_kinds_live_under_apis() -> None:
    """Kinds of a named group have the long root, subresources come last."""
    assert STATEFUL_SET.item("a", "b") == "/apis/apps/v1/namespaces/a/statefulsets/b"
    assert DEPLOYMENT.item("a", "b", "status") == "/apis/specdec.dev/v1alpha1/namespaces/a/specdecdeployments/b/status"


def test_names_cannot_leave_their_place_in_the_path() -> None:
    """A name is one segment of the path whatever it holds."""
    assert POD.item("a", "../../secrets?x=1") == "/api/v1/namespaces/a/pods/..%2F..%2Fsecrets%3Fx%3D1"


def test_a_body_finds_its_resource() -> None:
    """A body is written to the path of its kind."""
    assert resource_of({"apiVersion": "apps/v1", "kind": "StatefulSet"}) is STATEFUL_SET


@pytest.mark.parametrize(
    "body",
    [{"apiVersion": "v1", "kind": "Secret"}, {"apiVersion": "apps/v1beta1", "kind": "StatefulSet"}, {}],
    ids=["other kind", "other version", "no kind"],
)
def test_a_kind_that_is_not_ours_is_refused(body: dict[str, str]) -> None:
    """The adapter writes the kinds it knows and names them otherwise."""
    with pytest.raises(ValueError, match="use one of apps/v1/StatefulSet"):
        resource_of(body)
