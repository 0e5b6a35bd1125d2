"""Counting tokens in a stream of events."""

import itertools

from hack.load.plan import Load, steady
from hack.load.stream import Events, body_of
from hypothesis import given
from hypothesis import strategies as st

TEXT = (
    b'data: {"choices":[{"text":" a"}],"usage":{"prompt_tokens":7,"total_tokens":8,"completion_tokens":1}}\n\n'
    b'data: {"choices":[{"text":" b c"}],"usage":{"completion_tokens": 3,"prompt_tokens":7}}\n\n'
    b'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":12}}\n\n'
    b"data: [DONE]\n\n"
)


@given(cuts=st.lists(st.integers(0, len(TEXT)), max_size=12))
def test_the_count_does_not_depend_on_how_the_bytes_come(cuts: list[int]) -> None:
    """Pieces may end anywhere, also inside a number."""
    events, new = Events(), 0
    places = [0, *sorted(cuts), len(TEXT)]
    for start, end in itertools.pairwise(places):
        new += events.feed(TEXT[start:end])

    assert new == events.tokens == 12
    assert events.done
    assert not events.error


def test_an_error_event_is_seen_although_done_follows() -> None:
    """So does a vLLM whose engine died."""
    events = Events()
    events.feed(b'data: {"error": {"code": 500}}\n\ndata: [DONE]\n\n')

    assert events.done
    assert events.error


def test_a_stream_without_its_end_is_not_done() -> None:
    """Also when the last event is not complete."""
    events = Events()
    events.feed(TEXT[:-2])

    assert not events.done


def test_a_request_asks_for_its_tokens_and_for_counts() -> None:
    """`ignore_eos` makes the length exact."""
    load = Load(url="http://x", phases=[steady(1, 1)])
    body = body_of(load, "m", 40)

    assert (body["max_tokens"], body["ignore_eos"], body["stream"]) == (40, True, True)
    assert body["stream_options"] == {"include_usage": True, "continuous_usage_stats": True}
    assert "messages" in body_of(Load(url="http://x", phases=[], chat=True), "m", 1)
