"""The simulator's `/metrics` against what a real vLLM 0.32.0 exported."""

import gzip
import json
from pathlib import Path

import pytest
from tests.contract.simulator.exposition import declarations, samples, series, value
from tests.helpers.simulator import Simulator, running_simulator

RECORDED = Path(__file__).parents[2] / "data" / "vllm-recorded"
NGRAM = json.dumps({"method": "ngram", "num_speculative_tokens": 4})
DYNAMIC = json.dumps(
    {
        "method": "ngram",
        "num_speculative_tokens": 4,
        "num_speculative_tokens_per_batch_size": [[1, 8, 4], [9, 16, 2], [17, 512, 0]],
    }
)
DRAFT = json.dumps({"method": "draft_model", "model": "./target", "num_speculative_tokens": 3})


def scraped(*arguments: str) -> str:
    """The `/metrics` of a simulator that has answered once."""
    with running_simulator("--max-model-len", "512", *arguments) as simulator:
        assert simulator.complete(5)[0] == 200
        return simulator.get("/metrics")[1]


def recorded(name: str) -> str:
    """The recorded text."""
    return gzip.decompress((RECORDED / f"{name}.loaded.metrics.gz").read_bytes()).decode()


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("none", []),
        ("none", ["--speculative-config", "null"]),
        ("none", ["--speculative-config", ""]),
        ("ngram_dyn", ["--speculative-config", DYNAMIC]),
        ("draft_real", ["--speculative-config", DRAFT]),
    ],
)
def test_text_has_the_recorded_families_types_help_series_labels_and_buckets(name: str, arguments: list[str]) -> None:
    """Everything but the values is what vLLM said, in the same order."""
    own, real = scraped(*arguments), recorded(name)

    assert declarations(own) == declarations(real)
    assert series(own) == series(real)


def test_created_twins_hold_unix_times() -> None:
    """A `_created` sample is when its series began, so a name that is matched loosely would add a billion."""
    created = [s for s in samples(scraped()) if s.name.endswith("_created")]

    assert len(created) > 40
    assert all(s.value > 1.7e9 for s in created)


def test_without_log_stats_there_are_no_engine_series() -> None:
    """`--disable-log-stats` leaves only the process and the HTTP server."""
    text = scraped("--disable-log-stats")

    assert "vllm:" not in text
    assert "http_requests_total" in text


@pytest.mark.parametrize(
    ("release", "there", "absent"),
    [
        ("0.11.0", "vllm:time_per_output_token_seconds", "vllm:engine_sleep_state"),
        ("0.15.1", "vllm:kv_cache_usage_perc", "vllm:prompt_tokens_by_source_total"),
        ("0.31.0", "vllm:request_num_preemptions", "vllm:admission_rejections_total"),
    ],
)
def test_older_releases_lack_what_came_later(release: str, there: str, absent: str) -> None:
    """The simulated release decides which families exist."""
    with running_simulator(environment={"SIMULATOR_RELEASE": release}) as simulator:
        text = simulator.get("/metrics")[1]
        version = simulator.get("/version")[1]

    assert f"# TYPE {there} " in text
    assert absent not in text
    assert json.loads(version) == {"version": release}


def test_counters_agree_with_what_clients_got_and_with_each_other() -> None:
    """Generated tokens are those that were sent; accepted drafts are some of those drafted, fewer at each position."""
    with running_simulator("--speculative-config", NGRAM) as simulator:
        before = simulator.get("/metrics")[1]
        for tokens in (1, 40, 300):
            answer = json.loads(simulator.complete(tokens)[1])
            assert answer["usage"]["completion_tokens"] == tokens
        text = simulator.get("/metrics")[1]

    assert value(text, "vllm:generation_tokens_total") == 341
    assert value(text, "vllm:request_success_total", finished_reason="length") == 3
    assert value(text, "vllm:time_to_first_token_seconds_count") == 3
    _check_speculation(text)
    _check_monotone(before, text)


def _check_speculation(text: str) -> None:
    drafts = value(text, "vllm:spec_decode_num_drafts_total")
    accepted = value(text, "vllm:spec_decode_num_accepted_tokens_total")
    positions = [
        value(text, "vllm:spec_decode_num_accepted_tokens_per_pos_total", position=str(position))
        for position in range(4)
    ]
    assert value(text, "vllm:spec_decode_num_draft_tokens_total") == 4 * drafts
    assert sum(positions) == accepted
    assert positions == sorted(positions, reverse=True)
    assert drafts >= positions[0] > 0


def _check_monotone(before: str, after: str) -> None:
    earlier = {(s.name, s.labels): s.value for s in samples(before)}
    for sample in samples(after):
        if sample.name.endswith(("_total", "_bucket", "_count", "_sum")) and sample.name.startswith("vllm:"):
            assert sample.value >= earlier.get((sample.name, sample.labels), 0)


def test_an_abandoned_stream_ends_as_abort_and_leaves_the_batch() -> None:
    """A client that hangs up frees its place."""
    with running_simulator() as simulator:
        _hang_up(simulator)
        for _ in range(100):
            text = simulator.get("/metrics")[1]
            if value(text, "vllm:request_success_total", finished_reason="abort"):
                break

    assert value(text, "vllm:request_success_total", finished_reason="abort") == 1
    assert value(text, "vllm:num_requests_running") == 0


def _hang_up(simulator: Simulator) -> None:
    with pytest.raises(TimeoutError):
        simulator.post("/v1/completions", {"prompt": "say it", "max_tokens": 8000}, timeout=0.3)


def test_data_parallel_engines_have_series_of_their_own() -> None:
    """Each engine of a pod is told apart by its label, and requests are spread over them."""
    with running_simulator("--data-parallel-size", "2") as simulator:
        simulator.complete(20, n=4)
        text = simulator.get("/metrics")[1]

    assert value(text, "vllm:generation_tokens_total", engine="0") == 40
    assert value(text, "vllm:generation_tokens_total", engine="1") == 40
