"""Faults at run time and at the start."""

import json
from collections.abc import Iterator

import pytest
from tests.contract.simulator.exposition import samples, value
from tests.helpers.simulator import Simulator, refused, running_simulator

NGRAM = json.dumps({"method": "ngram", "num_speculative_tokens": 4})


@pytest.fixture(name="shared", scope="module")
def _shared() -> Iterator[Simulator]:
    with running_simulator("--speculative-config", NGRAM) as simulator:
        yield simulator


@pytest.fixture(name="simulator")
def _simulator(shared: Simulator) -> Iterator[Simulator]:
    yield shared
    shared.call("DELETE", "/simulator/faults", None, timeout=5)


def counted(simulator: Simulator) -> tuple[float, list[float]]:
    """Drafts, and accepted drafts by position, since the start."""
    text = simulator.get("/metrics")[1]
    positions = [
        value(text, "vllm:spec_decode_num_accepted_tokens_per_pos_total", position=str(position))
        for position in range(4)
    ]
    return value(text, "vllm:spec_decode_num_drafts_total"), positions


def test_acceptance_can_collapse(simulator: Simulator) -> None:
    """Drafts go on and none is accepted."""
    simulator.faults(acceptance=0)
    before = counted(simulator)
    simulator.complete(50)
    after = counted(simulator)

    assert after[0] - before[0] == 49
    assert after[1] == before[1]


def test_acceptance_can_collapse_from_a_position_on(simulator: Simulator) -> None:
    """Positions before it are accepted as ever."""
    simulator.faults(acceptance=0, acceptance_from=2)
    before = counted(simulator)[1]
    simulator.complete(100)
    gained = [now - then for now, then in zip(counted(simulator)[1], before, strict=True)]

    assert gained[0] > 0
    assert gained[1] > 0
    assert gained[2:] == [0, 0]


def test_metrics_can_be_empty_or_an_error_or_not_numbers(simulator: Simulator) -> None:
    """Each is something a scraper meets in the field."""
    simulator.faults(metrics="empty")
    assert simulator.get("/metrics") == (200, "")

    simulator.faults(metrics="error")
    assert simulator.get("/metrics")[0] == 500

    simulator.faults(metrics="nan")
    own = [s.value for s in samples(simulator.get("/metrics")[1]) if s.name.startswith("vllm:")]
    assert own
    assert all(number != number for number in own)  # noqa: PLR0124 - only NaN differs from itself


def test_metrics_can_hang_while_the_engine_serves(simulator: Simulator) -> None:
    """A scrape times out, completions do not."""
    simulator.faults(metrics="hanging")

    with pytest.raises(TimeoutError):
        simulator.get("/metrics", timeout=0.3)
    assert simulator.complete(3)[0] == 200


def test_requests_can_fail_while_the_engine_looks_healthy(simulator: Simulator) -> None:
    """Clients get 500, `/health` answers 200; and the other way round."""
    simulator.faults(requests="error")
    assert simulator.complete(3)[0] == 500
    assert simulator.get("/health")[0] == 200

    simulator.faults(requests=None, unhealthy=True)
    assert simulator.complete(3)[0] == 200
    assert simulator.get("/health")[0] == 503


def test_requests_can_hang(simulator: Simulator) -> None:
    """The client gives up first."""
    simulator.faults(requests="hanging")

    with pytest.raises(TimeoutError):
        simulator.post("/v1/completions", {"prompt": "say it"}, timeout=0.3)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"nonsense": 1}, "fault 'nonsense' is not known"),
        ({"acceptance": 2}, "fault 'acceptance' must be a number from 0 to 1, not 2"),
        ({"metrics": "odd"}, "fault 'metrics' must be one of ok, hanging, empty, nan, error, not 'odd'"),
        ({"never_ready": True}, "fault 'never_ready' is about the start, which is over"),
        ([], "faults must be a JSON object"),
    ],
)
def test_wrong_faults_are_refused_and_change_nothing(simulator: Simulator, body: object, message: str) -> None:
    """The answer names the fault, its value and what it may be."""
    before = simulator.get("/simulator/faults")
    status, text = simulator.post("/simulator/faults", body)

    assert status == 400
    assert message in json.loads(text)["error"]["message"]
    assert simulator.get("/simulator/faults") == before


def test_state_says_what_runs(simulator: Simulator) -> None:
    """Method, K, batch and tokens, for people and tests."""
    state = json.loads(simulator.get("/simulator/state")[1])

    assert state["method"] == "ngram"
    assert state["num_speculative_tokens"] == 4
    assert state["engines"][0]["running"] == 0


def test_a_crash_ends_the_process_with_1() -> None:
    """As a kernel fault would, without a word to clients."""
    with running_simulator() as simulator:
        with pytest.raises(ConnectionError):
            simulator.post("/simulator/faults", {"crash": True}, timeout=5)
        assert simulator.wait() == 1


def test_a_start_can_crash_when_it_was_ready_already() -> None:
    """A crash some time after the start, as in a crash loop."""
    with running_simulator(environment={"SIMULATOR_FAULTS": '{"crash_after": 0.3}'}) as simulator:
        assert simulator.wait() == 1


def test_a_method_can_have_faults_of_its_own() -> None:
    """A switch to a broken method can be played: plain decoding starts, n-gram speculation does not."""
    environment = {"SIMULATOR_METHODS": '{"ngram": {"faults": {"crash": true}}}'}

    assert refused("--speculative-config", NGRAM, environment=environment)[0] == 1
    with running_simulator("--speculative-config", "null", environment=environment) as simulator:
        assert simulator.get("/health")[0] == 200
