"""The simulator's answers against recorded ones of a real vLLM 0.32.0."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.helpers.simulator import Simulator, running_simulator

RECORDED: dict[str, Any] = json.loads(
    gzip.decompress((Path(__file__).parents[2] / "data" / "vllm-recorded" / "answers.json.gz").read_bytes())
)


@pytest.fixture(name="simulator", scope="module")
def _simulator() -> Iterator[Simulator]:
    with running_simulator("--served-model-name", "t", "--max-model-len", "2048") as simulator:
        yield simulator


def shape(value: Any) -> Any:
    """Keys and types of JSON, without the values."""
    if isinstance(value, dict):
        return {key: shape(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [shape(entry) for entry in value[:1]]
    return type(value).__name__


def events(text: str) -> list[Any]:
    """The events of a stream; the last, which is not JSON, as it is."""
    data = [line.removeprefix("data: ") for line in text.splitlines() if line]
    return [entry if entry == "[DONE]" else json.loads(entry) for entry in data]


def ask(simulator: Simulator, case: dict[str, Any]) -> tuple[int, str]:
    """Send a recorded request."""
    if case["body"] is None:
        return simulator.get(case["path"])
    return simulator.post(case["path"], case["body"])


def cases(*, streams: bool) -> list[Any]:
    """Recorded cases as parameters named after what they are."""
    chosen = [case for case in RECORDED["answers"] if isinstance(case["answer"], list) is streams]
    return [pytest.param(case, id=case["name"]) for case in chosen]


@pytest.mark.parametrize("case", cases(streams=False))
def test_answers_have_the_recorded_status_and_shape(simulator: Simulator, case: dict[str, Any]) -> None:
    """Whole answers and pages have the same keys and types; errors the same type, field and code."""
    status, text = ask(simulator, case)
    answer = json.loads(text)

    assert status == case["status"]
    assert shape(answer) == shape(case["answer"])
    if "error" in answer:
        for key in ("type", "param", "code"):
            assert answer["error"][key] == case["answer"]["error"][key]


@pytest.mark.parametrize("case", cases(streams=True))
def test_streams_have_the_recorded_events(simulator: Simulator, case: dict[str, Any]) -> None:
    """As many events, of the same shapes, in the same order, with the same count of tokens."""
    own = events(ask(simulator, case)[1])

    assert [shape(event) for event in own] == [shape(event) for event in case["answer"]]
    assert own[-1] == "[DONE]"
    usages = [event["usage"]["completion_tokens"] for event in own[:-1] if event.get("usage")]
    assert usages == [event["usage"]["completion_tokens"] for event in case["answer"][:-1] if event.get("usage")]


def test_a_chat_streams_who_speaks_then_what_it_says(simulator: Simulator) -> None:
    """The first chunk of a chat has the role and no text."""
    body = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 3, "stream": True}
    own = events(simulator.post("/v1/chat/completions", body)[1])

    assert own[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert "".join(event["choices"][0]["delta"]["content"] for event in own[:-1]) == " the draft model"
    assert own[-2]["choices"][0]["finish_reason"] == "length"


def test_a_chat_that_names_no_length_ends_by_itself(simulator: Simulator) -> None:
    """Without `max_tokens` the model stops after its natural length."""
    body = {"messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]}
    answer = json.loads(simulator.post("/v1/chat/completions", body)[1])

    assert answer["usage"]["completion_tokens"] == 256
    assert answer["choices"][0]["finish_reason"] == "stop"


def test_several_prompts_and_choices_get_an_answer_each(simulator: Simulator) -> None:
    """Choices are numbered prompt by prompt."""
    body = {"prompt": ["one", "two"], "n": 2, "max_tokens": 4}
    answer = json.loads(simulator.post("/v1/completions", body)[1])

    assert [choice["index"] for choice in answer["choices"]] == [0, 1, 2, 3]
    assert answer["usage"]["completion_tokens"] == 16


def test_a_prompt_that_fills_the_context_is_refused(simulator: Simulator) -> None:
    """At least one token must fit behind the prompt; an output that does not fit is cut off."""
    assert simulator.post("/v1/completions", {"prompt": [1] * 2048, "max_tokens": 1})[0] == 400

    status, text = simulator.post("/v1/completions", {"prompt": [1] * 2040, "max_tokens": 100})

    assert status == 200
    assert json.loads(text)["usage"]["completion_tokens"] == 8


@pytest.mark.parametrize("path", ["/health", "/ping"])
def test_probes_answer_200_without_a_body(simulator: Simulator, path: str) -> None:
    """Kubernetes probes read only the status."""
    assert simulator.get(path) == (200, "")


def test_keys_guard_only_the_api() -> None:
    """With `--api-key`, /v1 needs it and probes and metrics do not."""
    with running_simulator("--api-key", "secret", "other") as simulator:
        assert simulator.get("/v1/models")[0] == 401
        assert simulator.get("/health")[0] == 200
        assert simulator.get("/metrics")[0] == 200
