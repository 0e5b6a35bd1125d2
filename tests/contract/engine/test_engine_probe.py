"""The question to a pod, asked of the simulator, of recordings of a real vLLM, and of servers that misbehave."""

import asyncio
import contextlib
import gzip
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from tests.helpers.simulator import Simulator, free_port, running_simulator

from specdec_operator.adapters import engine
from specdec_operator.adapters.engine import AT_ONCE, DEADLINE_SECONDS, LONGEST_ANSWER, HttpEngineProbe, in_flight

RECORDED = Path(__file__).parents[2] / "data" / "vllm-recorded"
IDLE = "vllm:num_requests_running 0\nvllm:num_requests_waiting 0\n"


@pytest.fixture(name="probe")
async def _probe() -> AsyncIterator[HttpEngineProbe]:
    async with HttpEngineProbe() as probe:
        yield probe


async def ask(probe: HttpEngineProbe, simulator: Simulator) -> float | None:
    """Ask a simulator."""
    return await probe.requests_in_flight("127.0.0.1", int(simulator.url.rpartition(":")[2]))


@contextlib.asynccontextmanager
async def streams(simulator: Simulator, count: int) -> AsyncIterator[None]:
    """Keep that many very long streams open, until the block ends."""
    body = {"prompt": "say it", "max_tokens": 8_000, "ignore_eos": True, "stream": True}
    async with aiohttp.ClientSession() as session, contextlib.AsyncExitStack() as stack:
        for _ in range(count):
            # Headers come with the first token, so those that wait have none yet.
            stack.push_async_callback(_ended, asyncio.create_task(_read(session, simulator, body)))
        yield


async def _read(session: aiohttp.ClientSession, simulator: Simulator, body: dict[str, object]) -> None:
    async with session.post(f"{simulator.url}/v1/completions", json=body) as answer:
        assert answer.status == 200, await answer.text()
        await answer.read()


async def _ended(reading: asyncio.Task[None]) -> None:
    reading.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await reading


async def becomes(expected: float, asking: Callable[[], Awaitable[float | None]]) -> bool:
    """Ask until the answer is as expected, for 10 seconds at most."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if await asking() == expected:
            return True
        await asyncio.sleep(0.1)
    return False


@contextlib.asynccontextmanager
async def serving(handler: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> AsyncIterator[int]:
    """Serve `/metrics` with a handler; yield the port."""
    application = web.Application()
    application.router.add_get("/metrics", handler)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        assert site._server is not None
        yield site._server.sockets[0].getsockname()[1]
    finally:
        await runner.cleanup()


async def test_an_idle_engine_has_no_requests(probe: HttpEngineProbe) -> None:
    """Zero is an answer, not its absence."""
    with running_simulator() as simulator:
        assert await ask(probe, simulator) == 0


async def test_running_and_waiting_requests_of_all_engines_are_counted(probe: HttpEngineProbe) -> None:
    """Two data-parallel engines with one place each: five streams run or wait, and none is left when they go."""
    with running_simulator("--data-parallel-size", "2", "--max-num-seqs", "1") as simulator:
        async with streams(simulator, 5):
            assert await becomes(5, lambda: ask(probe, simulator))
        assert await becomes(0, lambda: ask(probe, simulator))


@pytest.mark.parametrize("fault", ["empty", "nan", "error"])
async def test_an_unusable_answer_is_no_number(probe: HttpEngineProbe, fault: str) -> None:
    """Never 0 for what is not known."""
    with running_simulator() as simulator:
        simulator.faults(metrics=fault)
        assert await ask(probe, simulator) is None


async def test_an_engine_that_hangs_is_waited_for_within_the_deadline(probe: HttpEngineProbe) -> None:
    """Three seconds, then unknown."""
    with running_simulator() as simulator:
        simulator.faults(metrics="hanging")
        begin = time.monotonic()
        assert await ask(probe, simulator) is None
        assert time.monotonic() - begin < DEADLINE_SECONDS + 3


async def test_an_engine_that_does_not_listen_is_unknown(probe: HttpEngineProbe) -> None:
    """A refused connection is no idle engine."""
    assert await probe.requests_in_flight("127.0.0.1", free_port()) is None


async def test_an_address_of_ipv6_is_asked_too(probe: HttpEngineProbe) -> None:
    """Bare, as it stands in a pod's status; nobody listens there, and the URL is one."""
    assert await probe.requests_in_flight("::1", free_port()) is None


async def test_an_answer_that_never_ends_is_not_read_to_the_end(probe: HttpEngineProbe) -> None:
    """More than any engine exposes is unknown."""
    sent = 0

    async def endless(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        answer = web.StreamResponse()
        await answer.prepare(request)
        with contextlib.suppress(ConnectionError):
            while True:
                await answer.write(b"# " + b"x" * 65_533 + b"\n")
                sent += 65_536
        return answer

    async with serving(endless) as port:
        assert await probe.requests_in_flight("127.0.0.1", port) is None
    assert sent < LONGEST_ANSWER * 4


async def test_a_redirect_is_not_followed(probe: HttpEngineProbe) -> None:
    """A pod must not send the operator to another address."""

    async def here(_request: web.Request) -> web.Response:
        return web.Response(text=IDLE)

    async with serving(here) as target:

        async def elsewhere(_request: web.Request) -> web.Response:
            raise web.HTTPFound(f"http://127.0.0.1:{target}/metrics")

        async with serving(elsewhere) as port:
            assert await probe.requests_in_flight("127.0.0.1", target) == 0
            assert await probe.requests_in_flight("127.0.0.1", port) is None


async def test_a_bounded_number_of_questions_is_on_its_way_at_once(probe: HttpEngineProbe) -> None:
    """The others wait for their turn, and all are answered."""
    now, most = 0, 0

    async def slow(_request: web.Request) -> web.Response:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.02)
        now -= 1
        return web.Response(text=IDLE)

    async with serving(slow) as port:
        asked = [probe.requests_in_flight("127.0.0.1", port) for _ in range(3 * AT_ONCE)]
        answers = await asyncio.gather(*asked)

    assert answers == [0.0] * (3 * AT_ONCE)
    assert 1 < most <= AT_ONCE


async def test_no_connection_stays_open_after_an_answer(probe: HttpEngineProbe) -> None:
    """A kept connection would look like a client that has not gone yet."""
    connections = set()

    async def here(request: web.Request) -> web.Response:
        connections.add(request.transport)
        return web.Response(text=IDLE)

    async with serving(here) as port:
        for _ in range(3):
            assert await probe.requests_in_flight("127.0.0.1", port) == 0
    assert len(connections) == 3


@pytest.mark.parametrize("name", ["none", "ngram_dyn", "draft_real"])
def test_recordings_of_a_real_engine_are_read(name: str) -> None:
    """Complete answers of vLLM 0.32, taken just after a load: nothing runs or waits."""
    text = gzip.decompress((RECORDED / f"{name}.loaded.metrics.gz").read_bytes()).decode()

    assert in_flight(text) == 0


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ('vllm:num_requests_running{engine="0"} 2.0\nvllm:num_requests_waiting{engine="0"} 1.0\n', 3),
        (IDLE.replace(" 0", " 0.0") + 'vllm:num_requests_waiting_by_reason{reason="capacity"} 7\n', 0),
        ("vllm:num_requests_running 1\nvllm:num_requests_running_created 1.7e9\nvllm:num_requests_waiting 0\n", 1),
        ("vllm:num_requests_running 1\n", None),
        ("vllm:num_requests_running 1\nvllm:num_requests_waiting +Inf\n", None),
        ("vllm:num_requests_running -1\nvllm:num_requests_waiting 0\n", None),
        ("", None),
    ],
)
def test_only_the_two_gauges_count_and_both_must_be_usable(text: str, count: float | None) -> None:
    """Names that merely begin alike are other series."""
    assert in_flight(text) == count


def test_the_bounds_are_those_that_are_promised() -> None:
    """Three seconds, four mebibytes."""
    assert (engine.DEADLINE_SECONDS, engine.LONGEST_ANSWER) == (3.0, 4 * 1024 * 1024)
