"""Events about our objects."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from specdec_operator.adapters.cluster.events import MAX_NOTE, cut_bytes, event_body, event_name
from specdec_operator.api.conditions import Reason
from specdec_operator.ports import ClusterEvent, EventType, Key

EVENT = ClusterEvent(Key("team", "llama"), "uid-1", EventType.NORMAL, Reason.SWITCHED, "runs none now")
NOW = 1_780_000_000.25


def test_an_event_says_what_the_api_requires() -> None:
    """The body has every field that events.k8s.io/v1 demands, and points at the object by uid."""
    body = event_body(EVENT, "operator-1", NOW)

    assert body["regarding"]["uid"] == "uid-1"
    assert body["eventTime"] == "2026-05-28T20:26:40.250000Z"
    assert body["reportingController"] == "specdec.dev/specdec-operator"
    assert (body["type"], body["reason"], body["action"]) == ("Normal", "Switched", "Reconcile")
    assert (body["note"], body["reportingInstance"]) == ("runs none now", "operator-1")


def test_the_same_event_in_the_same_minute_has_one_name() -> None:
    """A repetition has the same name, so that the server refuses it; later or different ones have another."""
    name = event_name(EVENT, NOW)

    assert name == event_name(EVENT, NOW + 1)
    assert name != event_name(EVENT, NOW + 60)
    assert name != event_name(replace(EVENT, message="runs ngram now"), NOW)
    assert name != event_name(replace(EVENT, uid="uid-2"), NOW)


@given(st.text(max_size=2000))
def test_notes_fit_in_bytes(text: str) -> None:
    """A note never passes 1024 bytes and is never cut inside a character."""
    note = cut_bytes(text, MAX_NOTE)

    assert len(note.encode()) <= MAX_NOTE
    assert text.startswith(note.removesuffix("..."))
