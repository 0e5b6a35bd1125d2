"""The adapter against what a real API server answered (see tests/data/cluster/SOURCE.md)."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec_operator.adapters.cluster.cache import ChildCache
from specdec_operator.adapters.cluster.failures import MAX_MESSAGE, failure_of, refusal
from specdec_operator.adapters.cluster.lines import LineSplitter
from specdec_operator.adapters.cluster.trim import trim
from specdec_operator.ports import ChildKind, Failure, Key

DATA = Path(__file__).parents[2] / "data" / "cluster"
ANSWERS: list[dict[str, Any]] = json.loads((DATA / "answers.json").read_text(encoding="utf-8"))
WATCH = (DATA / "watch.ndjson").read_bytes()


@pytest.mark.parametrize("answer", ANSWERS, ids=[answer["name"] for answer in ANSWERS])
def test_each_refusal_is_understood(answer: dict[str, Any]) -> None:
    """Every recorded refusal becomes the failure it is, with a short message."""
    body = answer["body"]
    payload = body if isinstance(body, str) else json.dumps(body)

    error = refusal("GET x", answer["status"], answer["headers"], payload.encode(), "reason")

    assert error.failure.value == answer["failure"]
    assert error.status == answer["status"]
    assert len(str(error)) <= MAX_MESSAGE


def test_every_failure_of_a_server_that_answers_is_recorded() -> None:
    """The recordings cover all failures but those of a server that is ill or does not answer."""
    assert {Failure(answer["failure"]) for answer in ANSWERS} == set(Failure) - {
        Failure.SERVER,
        Failure.TIMEOUT,
        Failure.CONNECTION,
    }


def test_overload_says_when_to_come_back() -> None:
    """The recorded 429 carries Retry-After."""
    answer = next(answer for answer in ANSWERS if answer["status"] == 429)

    assert refusal("GET x", 429, answer["headers"], answer["body"].encode(), "").retry_after == 1.0


@settings(max_examples=30)
@given(size=st.integers(1, 5000))
def test_the_recorded_watch_is_read_in_chunks_of_any_size(size: int) -> None:
    """The recorded stream gives the same events whatever the size of the chunks."""
    splitter = LineSplitter()
    lines = [line for start in range(0, len(WATCH), size) for line in splitter.feed(WATCH[start : start + size])]

    assert lines == WATCH.splitlines()


def test_the_recorded_watch_leaves_an_empty_cache() -> None:
    """A pod that came and went wakes its object and leaves nothing; the last line is a 410."""
    cache, woken = ChildCache(), []
    *events, last = [json.loads(line) for line in WATCH.splitlines()]
    for event in events:
        if event["type"] != "BOOKMARK":
            change = cache.remove if event["type"] == "DELETED" else cache.put
            woken.append(change(ChildKind.POD, trim(ChildKind.POD, event["object"])))

    (key,) = {key for keys in woken for key in keys}
    assert key == Key(events[1]["object"]["metadata"]["namespace"], "a")
    assert len(cache) == 0
    assert last["type"] == "ERROR"
    assert failure_of(last["object"]["code"]) is Failure.GONE
