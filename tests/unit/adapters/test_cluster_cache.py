"""The cache of children by the object they belong to."""

from specdec_operator.adapters.cluster.cache import ChildCache
from specdec_operator.api.names import DEPLOYMENT_LABEL
from specdec_operator.ports import ChildKind, JsonObject, Key

A, B = Key("one", "a"), Key("one", "b")
STS, POD, SERVICE = ChildKind.STATEFUL_SET, ChildKind.POD, ChildKind.SERVICE


def _child(name: str, *, of: str = "a", namespace: str = "one", owner: str = "", version: str = "1") -> JsonObject:
    metadata: JsonObject = {"name": name, "namespace": namespace, "uid": f"uid-{name}", "resourceVersion": version}
    metadata["labels"] = {DEPLOYMENT_LABEL: of}
    if owner:
        metadata["ownerReferences"] = [{"uid": owner, "controller": True}]
    return {"metadata": metadata}


def test_a_new_child_wakes_its_object() -> None:
    """Adding a child names the object that its label and namespace point to."""
    cache = ChildCache()

    assert cache.put(STS, _child("a")) == {A}
    assert cache.children(A).stateful_set == _child("a")


def test_another_resource_version_alone_wakes_nobody() -> None:
    """A change of nothing that is kept is stored without waking the object."""
    cache = ChildCache()
    cache.put(STS, _child("a"))

    assert cache.put(STS, _child("a", version="2")) == set()
    assert cache.children(A).stateful_set == _child("a", version="2")


def test_a_child_that_changes_hands_wakes_both() -> None:
    """Moving the label from one object to another wakes the two."""
    cache = ChildCache()
    cache.put(SERVICE, _child("x"))

    assert cache.put(SERVICE, _child("x", of="b")) == {A, B}


def test_only_pods_of_our_stateful_set_count() -> None:
    """A pod with our label that the StatefulSet does not own is not one of the children."""
    cache = ChildCache()
    cache.put(STS, _child("a"))
    mine = _child("a-0", owner="uid-a")
    cache.put(POD, mine)
    cache.put(POD, _child("stray"))

    assert cache.children(A).pods == (mine,)


def test_no_stateful_set_no_pods() -> None:
    """Without the StatefulSet no pod can be told ours."""
    cache = ChildCache()
    cache.put(POD, _child("a-0", owner="uid-a"))

    assert cache.children(A).pods == ()


def test_a_child_of_another_name_is_not_the_child() -> None:
    """A second StatefulSet with our label does not stand in for the one with the object's name."""
    cache = ChildCache()
    cache.put(STS, _child("other"))

    assert cache.children(A).stateful_set is None


def test_a_list_replaces_what_was_there() -> None:
    """A new list removes what is missing in it, wakes what changed, and leaves the rest alone."""
    cache = ChildCache()
    cache.put(STS, _child("a"))
    cache.put(STS, _child("b", of="b"))
    cache.put(SERVICE, _child("a"))

    assert cache.replace(STS, None, [_child("a", version="9")]) == {B}
    assert cache.children(B).stateful_set is None
    assert cache.children(A).service is not None


def test_a_list_of_one_namespace_leaves_the_others() -> None:
    """Watches of several namespaces share the cache without touching each other's part."""
    cache = ChildCache()
    cache.put(STS, _child("a", namespace="two"))
    cache.put(STS, _child("a"))

    assert cache.replace(STS, "one", []) == {A}
    assert cache.children(Key("two", "a")).stateful_set is not None


def test_removing_the_last_child_leaves_nothing() -> None:
    """A cache whose children are gone is empty, so that objects that come and go leave no trace."""
    cache = ChildCache()
    cache.put(STS, _child("a"))

    assert cache.remove(STS, _child("a")) == {A}
    assert cache.remove(STS, _child("a")) == set()
    assert len(cache) == 0
    assert cache._places == {}


def test_a_child_without_label_belongs_to_nobody() -> None:
    """An object without our label is stored and wakes nobody."""
    cache = ChildCache()
    body = _child("a")
    del body["metadata"]["labels"]

    assert cache.put(STS, body) == set()
    assert cache.children(A).stateful_set is None
