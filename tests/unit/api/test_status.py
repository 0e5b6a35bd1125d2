"""A status is read even if another release wrote it, and can always be written."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.contract.crds.cases import MINIMAL

from specdec_operator.api.objects import SpecDecDeployment, SpecDecProfile
from specdec_operator.api.status import (
    DecisionStatus,
    MethodState,
    MethodStatus,
    RolloutKind,
    RolloutStatus,
    SignalsStatus,
    SpecDecDeploymentStatus,
    SwitchRecord,
)

NOW = "2026-12-01T09:00:00Z"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["", "Active", NOW]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "to"]), inner, max_size=2),
    max_leaves=8,
)


def read(status: dict[str, Any]) -> SpecDecDeploymentStatus:
    """Parse the minimal object with this status."""
    return SpecDecDeployment.parse({**MINIMAL, "status": status}).status


def test_an_object_without_status_has_an_empty_one() -> None:
    """A new object has no status yet."""
    assert SpecDecDeployment.parse(MINIMAL).status == SpecDecDeploymentStatus()


def test_unknown_fields_of_a_status_are_skipped() -> None:
    """A newer operator may have written more, at every level."""
    active = {"method": "ngram", "since": NOW, "colour": "red"}

    status = read({"mood": "good", "active": active})

    assert status.active is not None
    assert status.active.method == "ngram"


def test_only_the_unreadable_entry_of_a_list_is_left_out() -> None:
    """A method in a state that this release does not know is forgotten; the others stay."""
    methods = [{"name": name, "state": state} for name, state in (("a", "Dreaming"), ("b", "Active"), ("c", "Asleep"))]

    status = read({"methods": methods})

    assert [method.name for method in status.methods] == ["b"]


def test_only_the_unreadable_field_is_left_out() -> None:
    """A rollout of an unknown kind is forgotten; what stands beside it stays."""
    rollout = {"kind": "Teleport", "to": "ngram", "startedAt": NOW}

    status = read({"rollout": rollout, "replicas": 2})

    assert status.rollout is None
    assert status.replicas == 2


@pytest.mark.parametrize("field", ["methods", "conditions", "switches"])
@pytest.mark.parametrize("value", [None, "text", 7, {}, [None], [[]], [7, {"name": 1}]])
def test_nonsense_in_a_list_is_left_out(field: str, value: object) -> None:
    """Whatever stands there, the object can be read."""
    assert read({field: value}) == SpecDecDeploymentStatus()


@given(st.dictionaries(st.sampled_from([*SpecDecDeploymentStatus.model_fields, "active", "decision"]), JSON))
def test_no_status_stops_the_object_from_being_read(status: dict[str, Any]) -> None:
    """Any JSON can stand in the status."""
    assert SpecDecDeployment.parse({**MINIMAL, "status": status}).spec.replicas == 1


def test_learned_curves_of_another_release_are_read() -> None:
    """Curves in a status use the types of the spec, and still skip unknown fields."""
    point = {"concurrency": 1, "tokensPerSecondPerRequest": "40.5", "spread": "0.1"}
    curve = {"method": "ngram", "points": [{**point, "acceptanceLength": "2.1"}], "seen": 3}
    learned = {"baseline": {"points": [point], "runs": 2}, "methods": [curve]}
    spec = {"model": "m", "engineVersion": "0.32.0", "accelerator": "H100", "baseline": {"points": [point]}}
    del point["spread"]
    body = {"metadata": {"name": "p"}, "spec": spec, "status": {"learned": learned}}

    status = SpecDecProfile.parse(body).status

    assert status.learned is not None
    assert status.learned.baseline is not None
    assert status.learned.methods[0].points[0].acceptance_length == "2.1"


def test_a_long_message_is_shortened() -> None:
    """A status that the API server refuses for one long sentence would hide everything else in it."""
    decision = DecisionStatus.model_validate(
        {"action": "Keep", "reason": "Active", "message": "x" * 5000, "since": NOW}
    )

    assert len(decision.message) == 1024
    assert decision.message.endswith("...")


@pytest.mark.parametrize("text", ["x" * 10_000, "\N{PILE OF POO}" * 10_000])
def test_every_text_that_others_choose_is_shortened(text: str) -> None:
    """Reasons, names and values come from containers, metrics and users: none of them may stop the status."""
    switch = SwitchRecord(started_at=NOW, from_=text, to=text, reason=text, message=text, outcome=text)
    method = MethodStatus(name=text, state=MethodState.QUARANTINED, reason=text, message=text)
    rollout = RolloutStatus(kind=RolloutKind.SWITCH, from_=text, to=text, pod=text, started_at=NOW)
    status = SpecDecDeploymentStatus(selector=text, engine_version=text, last_requested_at=text)

    shortened = [
        *(switch.from_, switch.to, switch.reason, method.name, method.reason),
        *(rollout.from_, rollout.to, rollout.pod, status.engine_version, status.last_requested_at),
    ]
    assert {len(each or "") for each in shortened} == {253}
    assert (len(switch.outcome or ""), len(status.selector or ""), len(method.message or "")) == (64, 1024, 1024)


def test_a_number_that_is_too_long_is_written_as_the_largest() -> None:
    """A broken engine may report any number."""
    assert SignalsStatus(concurrency=f"{1e300:.1f}", waiting="3.5").concurrency == "9" * 16


def test_a_switch_reads_and_writes_from() -> None:
    """`from` is a word of Python, so the field has another name in code."""
    record = {"startedAt": NOW, "from": "ngram", "to": "none", "reason": "PastBreakEven", "message": "m"}

    parsed = SwitchRecord.model_validate(record)

    assert parsed.from_ == "ngram"
    assert parsed.model_dump(by_alias=True, exclude_none=True) == record
