"""Merging pod.overrides."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from specdec_operator.resources.overrides import merge_overrides

TEMPLATE: dict[str, Any] = {
    "metadata": {"labels": {"a": "1", "b": "2"}},
    "spec": {
        "containers": [{"name": "engine", "env": [{"name": "A", "value": "1"}], "args": ["x", "y"]}],
        "tolerations": [{"key": "gpu"}],
    },
}

JSON = st.recursive(
    st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def test_objects_merge_key_by_key_and_null_removes() -> None:
    """What the patch does not name stays."""
    merged = merge_overrides(TEMPLATE, {"metadata": {"labels": {"b": None, "c": "3"}}})

    assert merged["metadata"]["labels"] == {"a": "1", "c": "3"}
    assert merged["spec"] == TEMPLATE["spec"]


def test_lists_of_named_things_merge_item_by_item() -> None:
    """A container is found by its name, a new one is added behind."""
    patch = {"spec": {"containers": [{"name": "engine", "tty": True}, {"name": "sidecar", "image": "s", "x": None}]}}

    engine, sidecar = merge_overrides(TEMPLATE, patch)["spec"]["containers"]

    assert engine == {**TEMPLATE["spec"]["containers"][0], "tty": True}
    assert sidecar == {"name": "sidecar", "image": "s"}


def test_other_lists_are_replaced() -> None:
    """Lists without a merge key have no identity of their own."""
    merged = merge_overrides(TEMPLATE, {"spec": {"tolerations": [{"key": "other"}]}})

    assert merged["spec"]["tolerations"] == [{"key": "other"}]


def test_items_without_their_key_are_left_to_the_api_server() -> None:
    """A list that cannot be merged takes the place of the old one, and is refused there if it is wrong."""
    merged = merge_overrides({"imagePullSecrets": [{"name": "a"}]}, {"imagePullSecrets": ["b"]})

    assert merged == {"imagePullSecrets": ["b"]}


def test_template_is_not_changed() -> None:
    """Merging makes a new object."""
    before = repr(TEMPLATE)

    merge_overrides(TEMPLATE, {"spec": {"containers": [{"name": "engine", "env": [{"name": "A", "value": "2"}]}]}})

    assert repr(TEMPLATE) == before


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=4))
def test_merging_twice_is_merging_once(patch: dict[str, Any]) -> None:
    """Any patch can be merged, and doing so again changes nothing."""
    once = merge_overrides({}, patch)

    assert merge_overrides(once, patch) == once
