"""The real argument parser of vLLM 0.32 reads what is rendered, and reads spellings as the checks assume."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import Any

import pytest
from hack.vllm.install import installed
from tests.helpers.deployments import EAGLE, MODEL, NGRAM, make_deployment

from specdec_operator.engine.arguments import check_arguments
from specdec_operator.engine.render import plain_arguments, render_method

pytestmark = pytest.mark.vllm

Parse = Callable[..., list[dict[str, Any]]]


@pytest.fixture(scope="session", name="parse")
def _parse() -> Iterator[Parse]:
    """Return a function that asks one running parser: importing vLLM takes many seconds."""
    found = installed()
    if found is None:
        pytest.skip("needs a real vLLM: make setup-vllm")
    python = str(found.environment / "bin" / "python")
    environment = {**os.environ, "VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1"}
    command = [python, str(Path(__file__).with_name("parse.py"))]
    with subprocess.Popen(
        command, env=environment, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, text=True, bufsize=1
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        questions, answers = process.stdin, process.stdout

        def ask(line: list[str]) -> dict[str, Any]:
            questions.write(f"{json.dumps(line)}\n")
            answer = next(text for text in answers if text.startswith("ANSWER "))
            parsed: dict[str, Any] = json.loads(answer.removeprefix("ANSWER "))
            return parsed

        yield lambda *lines: [ask(line) for line in lines]
        questions.close()


def test_rendered_arguments_are_read_as_meant(parse: Parse) -> None:
    """Every typed field arrives, texts arrive unchanged, and null means no speculation."""
    deployment = make_deployment(
        model={"name": MODEL, "revision": "v1", "trustRemoteCode": True, "servedNames": ["a.b", "c"]},
        engine={
            "version": "0.32.0",
            "tensorParallelSize": 2,
            "pipelineParallelSize": 3,
            "dataParallelSize": 4,
            "maxModelLen": 4096,
            "maxNumSeqs": 64,
            "gpuMemoryUtilization": "0.5",
            "extraArgs": ["--chat-template", "{{ $(HOME) 'x' \" \n $$ }}", "--seed=-1", "--middleware", "a.b"],
        },
        rollout={"drainTimeout": "90s"},
    )
    plain = plain_arguments(deployment.spec, object_name="llama-8b")
    configs = [render_method(deployment.spec, name).config for name in ("eagle3", "ngram", "none")]

    answers = parse(*([*plain, "--speculative-config", config] for config in configs))

    assert [answer["speculative_config"] for answer in answers] == [
        {"method": "eagle3", "model": EAGLE["model"], "num_speculative_tokens": 3},
        {"method": "ngram", "num_speculative_tokens": 4, **NGRAM["options"]},
        None,
    ]
    expected = {
        "model_tag": MODEL,
        "served_model_name": ["a.b", "c"],
        "revision": "v1",
        "trust_remote_code": True,
        "host": "0.0.0.0",
        "port": 8000,
        "tensor_parallel_size": 2,
        "pipeline_parallel_size": 3,
        "data_parallel_size": 4,
        "max_model_len": 4096,
        "max_num_seqs": 64,
        "gpu_memory_utilization": 0.5,
        "shutdown_timeout": 90,
        "chat_template": "{{ $(HOME) 'x' \" \n $$ }}",
        "seed": -1,
        "middleware": ["a.b"],
    }
    for answer in answers:
        assert {name: answer.get(name) for name in expected} == expected


def test_spellings_that_are_refused_reach_the_owned_flag(parse: Parse) -> None:
    """VLLM completes and normalises them: each would change what the operator sets."""
    plain = {"speculative_config": None, "port": 8000, "tensor_parallel_size": 1, "max_model_len": None, "uds": None}
    spellings = [
        ["--speculative_config={}"],
        ["--speculative-conf", "{}"],
        ["--speculative-config.method=ngram"],
        ["-sc", "{}"],
        ["-s", "{}"],
        ["--por", "9000"],
        ["-t", "2"],
        ["-tp=2"],
        ["--max-model", "5"],
        ["--uds", "/x"],
    ]

    answers = parse(*([MODEL, *spelling] for spelling in spellings))

    for spelling, answer in zip(spellings, answers, strict=True):
        assert {name: answer[name] for name in plain} != plain, spelling
        assert list(check_arguments(tuple(spelling))), spelling


def test_arguments_said_to_be_unreadable_are_refused(parse: Parse) -> None:
    """VLLM does not start with what the check calls an error of form."""
    lines = [["value"], ["--seed 1"], ["--", "--seed", "1"], ["--model=x"]]

    answers = parse(*([MODEL, *line] for line in lines))

    for line, answer in zip(lines, answers, strict=True):
        assert "refused" in answer, line
        assert list(check_arguments(tuple(line))), line
