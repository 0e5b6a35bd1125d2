"""The load generator against the simulator."""

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hack.load import Load, Outcome, PlanError, Record, Summary, Timeline, read_phases, run_load
from hack.load.__main__ import main
from hack.load.plan import Connections
from hack.load.runner import stopwatch
from hack.load.stream import Events
from tests.contract.simulator.exposition import value
from tests.contract.simulator.test_answers import RECORDED
from tests.helpers.simulator import Simulator, free_port, running_simulator


@pytest.fixture(name="simulator", scope="module")
def _simulator() -> Iterator[Simulator]:
    with running_simulator(environment={"SIMULATOR_TIME_SCALE": "5"}) as simulator:
        yield simulator


async def run(url: str, phases: str, **more: object) -> tuple[Summary, list[Record]]:
    """Run a load; gives its summary and records."""
    records: list[Record] = []
    load = Load(url=url, phases=read_phases(phases), retry_pause=0.05, **more)  # type: ignore[arg-type]
    return await run_load(load, sink=records.append), records


@pytest.mark.parametrize("connections", list(Connections))
async def test_every_token_is_counted_once(simulator: Simulator, connections: Connections) -> None:
    """What clients counted is what the engine says it made; each stream has the tokens it asked for."""
    before = value(simulator.get("/metrics")[1], "vllm:generation_tokens_total")
    summary, records = await run(simulator.url, "2:1..6", max_tokens=(20, 60), connections=connections)
    made = value(simulator.get("/metrics")[1], "vllm:generation_tokens_total") - before

    assert summary.clean
    assert summary.requests == len(records) > 6
    assert summary.tokens == made == sum(record.asked for record in records)
    assert all(record.tokens == record.asked for record in records)
    assert all(record.start <= (record.first_token or 0) <= record.end for record in records)


def test_tokens_of_a_real_stream_are_counted() -> None:
    """A recorded stream of vLLM 0.32.0 has the count that its usage says, and a proper end."""
    case = next(case for case in RECORDED["answers"] if case["name"] == "stream with usage")
    text = [entry if entry == "[DONE]" else json.dumps(entry, separators=(",", ":")) for entry in case["answer"]]
    seen = Events()
    new = seen.feed("".join(f"data: {entry}\n\n" for entry in text).encode())

    assert new == json.loads(case["body"])["max_tokens"] == 6
    assert seen.done
    assert not seen.error
    late = Events()
    late.feed("".join(f"data: {json.dumps(e)}\n\n" for e in RECORDED["shutdown timeout over"][:1]).encode())
    assert late.error


async def test_arrivals_do_not_wait_for_answers(simulator: Simulator) -> None:
    """An open loop sends at its rate, however slow the server is."""
    simulator.faults(slowdown=20)
    summary, _ = await run(simulator.url, "2:r10", max_tokens=(400, 400), finish_timeout=0.1)
    simulator.faults(slowdown=None)

    assert 15 <= summary.requests <= 21
    assert summary.stopped == summary.requests


async def test_the_timeline_can_be_read_while_the_load_runs(simulator: Simulator) -> None:
    """Requests in flight and their speed."""
    timeline = Timeline(clock=stopwatch())
    load = Load(url=simulator.url, phases=read_phases("2:4"), max_tokens=(2000, 2000), finish_timeout=0.1)
    running = asyncio.create_task(run_load(load, timeline=timeline))
    await asyncio.sleep(1.5)

    assert timeline.in_flight == 4
    assert (timeline.speed(0, 1) or 0) > 50
    assert timeline.offered[1] == 4
    await running
    assert timeline.in_flight == 0


async def test_errors_count_as_failed(simulator: Simulator) -> None:
    """An answer that is not 200, and no answer at all."""
    simulator.faults(requests="error")
    summary, records = await run(simulator.url, "0.3:2")
    simulator.faults(requests=None)

    assert summary.failed == summary.requests > 0
    assert {record.status for record in records} == {500}
    summary, records = await run(f"http://127.0.0.1:{free_port()}", "0.3:2", model="tiny")
    assert summary.failed == summary.requests > 0
    assert {record.status for record in records} == {None}


@pytest.mark.parametrize("shutdown", ["0", "1"])
async def test_streams_that_do_not_end_as_promised_count_as_cut(shutdown: str) -> None:
    """Silence, and an error event that `[DONE]` follows."""
    with running_simulator("--shutdown-timeout", shutdown) as simulator:
        phases = "1.5:3"
        running = asyncio.create_task(run(simulator.url, phases, max_tokens=(4000, 4000), stall_timeout=1.0))
        await asyncio.sleep(1.0)
        simulator.terminate()
        _, records = await running

    assert [record.outcome for record in records if record.tokens] == [Outcome.CUT] * 3


async def test_a_run_is_bounded_in_requests(simulator: Simulator) -> None:
    """Whatever the phases say."""
    summary, _ = await run(simulator.url, "5:4", max_tokens=(1, 1), max_requests=10)

    assert summary.requests == 10
    assert summary.seconds < 5


async def test_a_server_without_a_model_is_named() -> None:
    """When none is given."""
    with pytest.raises(PlanError, match="names no model"):
        await run(f"http://127.0.0.1:{free_port()}", "1:1")


def test_the_command_writes_records_and_a_summary(
    simulator: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line a request, the sums on stdout, exit code 0 when nothing failed."""
    out = tmp_path / "out.jsonl"
    arguments = ["--url", simulator.url, "--phases", "1:2", "--max-tokens", "5..9", "--out", str(out), "--chat"]
    monkeypatch.setattr(sys, "argv", ["load", *arguments])

    code = main()

    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert code == 0
    assert json.loads(capsys.readouterr().out)["complete"] == len(lines)
    assert all(5 <= line["tokens"] <= 9 for line in lines)


def test_a_wrong_description_ends_with_2(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """And says what to write."""
    monkeypatch.setattr(sys, "argv", ["load", "--url", "http://x", "--phases", "1:2", "--max-tokens", "9..5"])

    assert main() == 2
    assert "must be a number like 256" in capsys.readouterr().err
