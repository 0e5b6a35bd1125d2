"""How the process starts, refuses and stops, against what a real vLLM 0.32.0 did."""

import gzip
import http.client
import json
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.contract.simulator.test_answers import events
from tests.helpers.simulator import Simulator, free_port, refused, running_simulator, start_simulator

from vllm_simulator.__main__ import main

RECORDED: dict[str, Any] = json.loads(
    gzip.decompress((Path(__file__).parents[2] / "data" / "vllm-recorded" / "answers.json.gz").read_bytes())
)


class Stream(threading.Thread):
    """A streamed completion in a thread; `text` is what came before the connection ended."""

    def __init__(self, simulator: Simulator, tokens: int) -> None:
        """Start it, and return when its first bytes are there."""
        super().__init__(daemon=True)
        self.text = ""
        self._begun = threading.Event()
        self._simulator, self._tokens = simulator, tokens
        self.start()
        assert self._begun.wait(10)

    def run(self) -> None:
        """Read to the end."""
        connection = http.client.HTTPConnection(self._simulator.url.removeprefix("http://"), timeout=20)
        body = json.dumps({"prompt": "say it", "max_tokens": self._tokens, "stream": True})
        connection.request("POST", "/v1/completions", body, {"content-type": "application/json"})
        response = connection.getresponse()
        try:
            while piece := response.read1():
                self.text += piece.decode()
                self._begun.set()
        except (http.client.HTTPException, OSError):
            pass
        finally:
            connection.close()


Ended = Callable[..., tuple[int, str]]


@pytest.fixture(name="ended_by")
def _ended_by(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ended:
    """Runs the command line in this process; gives exit code and stderr."""

    def run(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["vllm", "serve", "tiny", *arguments])
        monkeypatch.setenv("SIMULATOR_REFUSE_SECONDS", "0")
        try:
            code = main()
        except SystemExit as end:
            code = int(end.code or 0)
        return code, capsys.readouterr().err

    return run


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--no-such-flag"], 2, "unrecognized arguments: --no-such-flag"),
        (["--speculative-config", "{bad"], 2, "argument --speculative-config/-sc: Value {bad cannot be converted"),
        (["-sc", '{"method":"nope","num_speculative_tokens":4}'], 1, "Input should be 'ngram'"),
        (["-sc", '{"method":"ngram"}'], 1, "num_speculative_tokens must be provided"),
        (["-sc", '{"method":"ngram","num_speculative_tokens":0}'], 1, "Input should be greater than 0"),
        (["-sc", '{"method":"eagle3","num_speculative_tokens":3}'], 1, "without speculative model"),
        (["-sc", '{"method":"ngram","num_speculative_tokens":3,"foo":1}'], 1, "foo\n  Unexpected keyword argument"),
        (["--middleware", "no.such.Thing"], 1, "No module named 'no'"),
        (["--max-model-len", "1M"], 1, "more KV cache memory is needed"),
    ],
)
def test_what_vllm_refuses_ends_the_process_with_its_code(
    arguments: list[str], code: int, message: str, ended_by: Ended
) -> None:
    """Wrong arguments end with 2, a configuration that the engine refuses with 1, each with vLLM's message."""
    ended, errors = ended_by(*arguments)

    assert ended == code
    assert message in errors


def test_a_bad_k_schedule_ends_the_engine_later(ended_by: Ended) -> None:
    """The schedule passes the check of the configuration and fails when the engine starts."""
    config = {
        "method": "ngram",
        "num_speculative_tokens": 3,
        "num_speculative_tokens_per_batch_size": [[1, 8, 3], [8, 16, 1]],
    }
    ended, errors = ended_by("-sc", json.dumps(config))

    assert ended == 1
    assert "Engine core initialization failed" in errors


def test_unknown_keys_are_dropped_before_0_16() -> None:
    """Older releases start and silently ignore what they do not know."""
    config = '{"method":"ngram","num_speculative_tokens":3,"foo":1}'
    with running_simulator("--speculative-config", config, environment={"SIMULATOR_RELEASE": "0.15.1"}) as simulator:
        assert json.loads(simulator.get("/simulator/state")[1])["method"] == "ngram"


def test_a_wrong_variable_is_named() -> None:
    """A bad environment is refused like a bad flag."""
    ended, errors = refused(environment={"SIMULATOR_STEP_SECONDS": "fast"})

    assert ended == 2
    assert "STEP_SECONDS must be a finite number" in errors


def test_an_idle_engine_exits_at_once() -> None:
    """SIGTERM without load ends the process with 0."""
    with running_simulator() as simulator:
        simulator.terminate()
        assert simulator.wait() == 0


def test_sigterm_while_starting_ends_the_start() -> None:
    """A start that takes long does not hold up the pod's end."""
    with start_simulator(port=free_port(), environment={"SIMULATOR_FAULTS": '{"never_ready": true}'}) as process:
        try:
            assert process.stderr is not None
            assert "Starting" in process.stderr.readline()
            process.send_signal(signal.SIGTERM)
            assert process.wait(10) == 0
        finally:
            process.kill()


def test_without_a_shutdown_timeout_a_stream_hangs_until_sigkill() -> None:
    """The engine stops, the stream gets nothing more and is not ended, and the process waits."""
    with running_simulator() as simulator:
        stream = Stream(simulator, 2000)
        simulator.terminate()
        time.sleep(1.5)
        heard = len(stream.text)
        time.sleep(0.5)

        assert simulator.process.poll() is None
        assert len(stream.text) == heard
        assert "[DONE]" not in stream.text
        simulator.process.kill()
        stream.join(5)
    assert "[DONE]" not in stream.text


def test_with_a_shutdown_timeout_streams_finish_and_new_requests_get_500() -> None:
    """Meanwhile `/health` answers 200, so readiness does not show a draining engine; the exit code is 0."""
    with running_simulator("--shutdown-timeout", "20") as simulator:
        stream = Stream(simulator, 120)
        simulator.terminate()
        time.sleep(0.3)
        health = simulator.get("/health")[0]
        late = simulator.complete(4)
        code = simulator.wait(20)
        stream.join(5)

    assert code == 0
    assert health == 200
    assert late[0] == RECORDED["while draining"]["status"]
    assert json.loads(late[1]) == RECORDED["while draining"]["answer"]
    assert len(events(stream.text)) == 121
    assert stream.text.endswith("data: [DONE]\n\n")


def test_a_stream_that_outlives_the_shutdown_timeout_ends_with_an_error_event() -> None:
    """The error is followed by `[DONE]`: only the event tells such a stream from a complete one."""
    with running_simulator("--shutdown-timeout", "1") as simulator:
        stream = Stream(simulator, 4000)
        simulator.terminate()
        code = simulator.wait(20)
        stream.join(5)

    assert code == 0
    assert events(stream.text)[-2:] == RECORDED["shutdown timeout over"]


MIDDLEWARE = """
class CloseConnections:
    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        async def closing(message):
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"connection", b"close")]
            await send(message)

        await self.app(scope, receive, closing)


async def mark(request, call_next):
    response = await call_next(request)
    response.headers["x-marked"] = "yes"
    return response


def neither():
    pass
"""


def test_middleware_is_mounted_as_vllm_mounts_it(tmp_path: Path) -> None:
    """A class becomes ASGI middleware, a coroutine function HTTP middleware; both also touch streams."""
    (tmp_path / "extra.py").write_text(MIDDLEWARE)
    flags = ["--middleware", "extra.CloseConnections", "--middleware", "extra.mark"]
    with running_simulator(*flags, environment={"PYTHONPATH": str(tmp_path)}) as simulator:
        headers, text = _stream_headers(simulator)

    assert headers["connection"] == "close"
    assert headers["x-marked"] == "yes"
    assert text.endswith("data: [DONE]\n\n")
    assert refused("--middleware", "extra.neither", environment={"PYTHONPATH": str(tmp_path)})[0] == 1


def _stream_headers(simulator: Simulator) -> tuple[dict[str, str], str]:
    connection = http.client.HTTPConnection(simulator.url.removeprefix("http://"), timeout=20)
    body = json.dumps({"prompt": "say it", "max_tokens": 5, "stream": True})
    connection.request("POST", "/v1/completions", body, {"content-type": "application/json"})
    response = connection.getresponse()
    try:
        return {name.lower(): value for name, value in response.getheaders()}, response.read().decode()
    finally:
        connection.close()
