"""What we created counts as applied before the first apply."""

from specdec_operator.adapters.cluster.ownership import adopted
from specdec_operator.ports import JsonObject

STATUS = {"manager": "kube-controller-manager", "operation": "Update", "subresource": "status", "fieldsV1": {}}


def _entry(operation: str, fields: JsonObject, manager: str = "specdec-operator") -> JsonObject:
    return {"manager": manager, "operation": operation, "apiVersion": "v1", "fieldsV1": fields}


def test_created_fields_become_applied_ones() -> None:
    """The entry of the create is turned into one of an apply; others stay as they are."""
    fields = {"f:spec": {"f:ports": {}}}

    assert adopted([_entry("Update", fields), STATUS]) == [STATUS, _entry("Apply", fields)]


def test_both_entries_become_one() -> None:
    """Fields of an earlier apply and of the create are joined."""
    entries = [_entry("Apply", {"f:spec": {"f:a": {}}}), _entry("Update", {"f:spec": {"f:b": {}}})]

    assert adopted(entries) == [_entry("Apply", {"f:spec": {"f:a": {}, "f:b": {}}})]


def test_nothing_to_do_after_the_first_time() -> None:
    """Once applied, and for other managers and for our writes of status, nothing is changed."""
    ours_on_status = {**STATUS, "manager": "specdec-operator"}
    steps = _entry("Update", {}, manager="specdec-operator-steps")

    assert adopted([_entry("Apply", {}), ours_on_status, steps, _entry("Update", {}, manager="kubectl")]) is None
    assert adopted([]) is None
