"""A Prometheus that hangs, is away, asks for credentials or sends us elsewhere."""

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.integration.prometheus.process import Prometheus, free_port, running
from tests.integration.prometheus.servers import (
    Answer,
    drip,
    forwarding,
    guarded,
    http_server,
    raw_server,
    silence,
)

from specdec_operator.adapters.prometheus import PrometheusConfiguration, PrometheusSource
from specdec_operator.adapters.prometheus.transport import QueryError, connection
from specdec_operator.api.conditions import Reason
from specdec_operator.policy.signals import Reading, Unavailable

SERVING = frozenset({"serving"})


def source(url: str, *, cool_down: float = 0.0, **configuration: object) -> PrometheusSource:
    """Return a source without cool-down."""
    return PrometheusSource(PrometheusConfiguration.model_validate({"url": url, **configuration}), cool_down=cool_down)


async def failure(asked: PrometheusSource) -> Unavailable:
    """Read once; fails when there is a reading."""
    result = await asked.read(SERVING)
    assert isinstance(result, Unavailable), result
    return result


async def until(condition: Callable[[], bool], *, seconds: float) -> None:
    """Wait for a condition."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        await asyncio.sleep(0.02)


def query_threads() -> int:
    """Return how many threads wait for Prometheus."""
    return sum(1 for thread in threading.enumerate() if thread.name == "prometheus")


async def test_a_server_that_never_answers_costs_one_deadline():
    """Case G4-17: forty objects ask at once; the loop goes on, one thread waits, all get the reason."""
    with raw_server(silence) as url:
        asked = source(url, timeoutSeconds=0.5, cool_down=5.0)
        beats = 0

        async def heart() -> None:
            nonlocal beats
            while True:
                await asyncio.sleep(0.01)
                beats += 1

        beating = asyncio.create_task(heart())
        began = time.monotonic()
        results = await asyncio.gather(*(asked.read(SERVING) for _ in range(40)))
        took = time.monotonic() - began
        beating.cancel()
        assert took < 2
        assert beats > 20
        assert query_threads() <= 1
        assert {result.reason for result in results if isinstance(result, Unavailable)} == {Reason.SOURCE_UNREACHABLE}
        assert len(results) == 40


@pytest.mark.parametrize("talk", [silence, drip])
async def test_threads_do_not_pile_up(talk):
    """Tick after tick against a server that hangs or drips: never more than one thread, and it ends."""
    with raw_server(talk) as url:
        asked = source(url, timeoutSeconds=0.3)
        for _ in range(5):
            result = await failure(asked)
            assert result.reason is Reason.SOURCE_UNREACHABLE
            assert query_threads() <= 1
        await until(lambda: not query_threads(), seconds=3)


def test_a_hung_query_does_not_hold_up_the_end_of_the_process():
    """Whatever its deadline is."""
    program = """
import asyncio, sys
from specdec_operator.adapters.prometheus import PrometheusConfiguration, PrometheusSource
async def main():
    asked = PrometheusSource(PrometheusConfiguration(url=sys.argv[1], timeout_seconds=300))
    try:
        await asyncio.wait_for(asked.read(frozenset()), 0.3)
    except TimeoutError:
        print("ended")
asyncio.run(main())
"""
    with raw_server(silence) as url:
        done = subprocess.run(
            [sys.executable, "-c", program, url], check=False, capture_output=True, text=True, timeout=20
        )
    assert (done.returncode, done.stdout, done.stderr) == (0, "ended\n", "")


async def test_a_server_that_is_away_and_comes_back(tmp_path: Path):
    """Case G4-17: refused for a while after the start, then found by itself."""
    with running(tmp_path) as own:
        asked = source(own.url)
        assert isinstance(await asked.read(SERVING), Reading)
        own.stop()
        away = await failure(asked)
        assert (away.reason, away.message) == (
            Reason.SOURCE_UNREACHABLE,
            "Prometheus cannot be reached: Connection refused.",
        )
        own.start()
        assert isinstance(await asked.read(SERVING), Reading)


async def test_a_connection_that_breaks_once_is_no_missing_measurement(prometheus: Prometheus):
    """A proxy that closes kept connections, for example: the query is sent once more, and nothing is logged."""
    handle, broken = forwarding(prometheus.url), []

    def fragile(path: str, headers: dict[str, str]) -> Answer:
        if len(broken) < 1:
            broken.append(path)
            raise ConnectionAbortedError
        return handle(path, headers)

    with http_server(fragile) as url:
        assert isinstance(await source(url).read(SERVING), Reading)
    assert broken


async def test_no_query_is_logged(caplog: pytest.LogCaptureFixture):
    """The libraries would repeat the whole query in a warning every tick."""
    with caplog.at_level("WARNING"):
        await failure(source(f"http://127.0.0.1:{free_port()}"))
    assert not caplog.records


async def test_a_failure_is_the_answer_to_everybody_for_a_while():
    """The shared circuit breaker: no query goes out during the cool-down."""
    asked_for: list[str] = []

    def unavailable(path: str, headers: dict[str, str]) -> Answer:
        asked_for.append(path)
        return 503, {"Content-Type": "text/html"}, b"<html>503 Service Temporarily Unavailable</html>"

    with http_server(unavailable) as url:
        asked = source(url, cool_down=60.0)
        first, second = await failure(asked), await failure(asked)
    assert first is second
    assert first.message == "Prometheus answers 503: 503 Service Temporarily Unavailable."
    assert len(asked_for) == 1


async def test_token_and_authority_are_read_again_for_every_tick(
    prometheus: Prometheus, certificate: Path, tmp_path: Path
):
    """Projected tokens change while the operator runs."""
    wanted = "first"
    token_file = tmp_path / "token"
    with http_server(guarded(forwarding(prometheus.url), lambda: wanted), certificate) as url:
        asked = source(url, tokenFile=str(token_file), caFile=str(certificate))
        absent = await failure(asked)
        assert absent.reason is Reason.UNAUTHORIZED
        assert str(token_file) in absent.message
        token_file.write_text("first\n")
        assert isinstance(await asked.read(SERVING), Reading)
        wanted = "second"
        refused = await failure(asked)
        assert (refused.reason, refused.message) == (
            Reason.UNAUTHORIZED,
            "Prometheus refuses us with 401: 401 token wanted.",
        )
        token_file.write_text("second")
        assert isinstance(await asked.read(SERVING), Reading)


async def test_a_certificate_that_is_not_trusted_is_named(prometheus: Prometheus, certificate: Path):
    """With the field that helps; insecureSkipVerify gets through."""
    with http_server(forwarding(prometheus.url), certificate) as url:
        refused = await failure(source(url))
        assert refused.reason is Reason.SOURCE_UNREACHABLE
        assert "caFile" in refused.message
        assert isinstance(await source(url, insecureSkipVerify=True).read(SERVING), Reading)
        gone = await failure(source(url, caFile="/nowhere/ca.pem"))
        assert "/nowhere/ca.pem is no file" in gone.message


async def test_headers_go_with_every_query(prometheus: Prometheus):
    """The tenant of a Mimir, for example; the number of queries is constant."""
    tenants: list[str] = []
    handle = forwarding(prometheus.url, lambda _query, headers, _body: tenants.append(headers["x-scope-orgid"]))
    with http_server(handle) as url:
        assert isinstance(await source(url, headers={"X-Scope-OrgID": "team-a"}).read(SERVING), Reading)
        assert tenants == ["team-a"] * 6
        assert isinstance(await source(url, headers={"X-Scope-OrgID": "team-b"}).read(frozenset()), Reading)
        assert tenants[6:] == ["team-b"] * 6


def always(status: int, body: bytes = b"", **headers: str):
    """Return a handler with one answer."""
    return lambda _path, _headers: (status, {name.replace("_", "-"): value for name, value in headers.items()}, body)


LOGIN_PAGE = b"<html><script>var x = 1;</script><body><form>Please  <b>log in</b></form></body></html>"


@pytest.mark.parametrize(
    ("handle", "reason", "message"),
    [
        (
            always(302, Location="https://sso.example.com/login"),
            Reason.UNAUTHORIZED,
            "Prometheus redirects to https://sso.example.com/login: it asks for a login; give prometheus.tokenFile.",
        ),
        (
            always(301, Location="https://prometheus.example.com/api"),
            Reason.SOURCE_UNREACHABLE,
            "Prometheus redirects to https://prometheus.example.com/api; give that address in prometheus.url.",
        ),
        (
            always(200, LOGIN_PAGE, Content_Type="text/html"),
            Reason.UNAUTHORIZED,
            "A login page answers in place of Prometheus: Please log in.",
        ),
        (
            always(200, b"<html>Welcome to nginx!</html>"),
            Reason.SOURCE_UNREACHABLE,
            "prometheus.url answers with something else than JSON: Welcome to nginx!.",
        ),
        (always(403, b"no"), Reason.UNAUTHORIZED, "Prometheus refuses us with 403: no."),
        (
            always(404, b"404 page not found\n"),
            Reason.SOURCE_UNREACHABLE,
            "Prometheus answers 404: 404 page not found; is prometheus.url right.",
        ),
        (always(500, b""), Reason.SOURCE_UNREACHABLE, "Prometheus answers 500: no text."),
        (
            always(200, b'{"status":"success"}'),
            Reason.SOURCE_UNREACHABLE,
            "Prometheus' answer has an unknown form: 'data'.",
        ),
        (
            always(200, b'{"status":"success","data":{"resultType":"vector","result":[{"metric":7,"value":7}]}}'),
            Reason.SOURCE_UNREACHABLE,
            "Prometheus' answer has an unknown form: cannot unpack non-iterable int object.",
        ),
    ],
)
async def test_answers_that_are_no_metrics(handle, reason: Reason, message: str):
    """Each has its reason and a sentence that helps; markup is stripped, nothing is followed."""
    with http_server(handle) as url:
        result = await failure(source(url))
    assert (result.reason, result.message) == (reason, message)


async def test_a_long_error_is_cut():
    """At about 200 characters."""
    with http_server(always(500, b"x" * 100_000)) as url:
        assert len((await failure(source(url))).message) < 260


async def test_a_name_that_does_not_resolve():
    """The reserved domain `invalid` has no addresses."""
    result = await failure(source("http://prometheus.invalid:9090"))
    assert result.message.startswith("Prometheus cannot be reached: its name does not resolve")


@pytest.mark.parametrize("query", ["1", '"text"', "vllm:num_requests_running[1m]"])
def test_only_vectors_are_taken(prometheus: Prometheus, query: str):
    """Case G4-10: scalars, strings and range vectors are refused clearly."""
    with (
        connection(PrometheusConfiguration(url=prometheus.url)) as ask,
        pytest.raises(QueryError, match="else than a vector"),
    ):
        ask(query)


def test_a_query_that_prometheus_refuses_says_why(prometheus: Prometheus):
    """With Prometheus' own words."""
    with (
        connection(PrometheusConfiguration(url=prometheus.url)) as ask,
        pytest.raises(QueryError, match=r"400.*parse error"),
    ):
        ask("sum(")
