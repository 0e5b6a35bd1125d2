"""The adapter against recorded answers of Prometheus 2.42 that scraped the text of vLLM 0.32 once a second."""

import gzip
import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.contract.prometheus.record import SCENARIOS
from tests.integration.prometheus.servers import Answer, http_server

from specdec_operator.adapters.prometheus import PrometheusConfiguration, PrometheusSource
from specdec_operator.api.conditions import Reason
from specdec_operator.policy.join import summarise
from specdec_operator.policy.signals import Load, Reading, Unavailable

DATA = Path(__file__).resolve().parents[2] / "data" / "prometheus"
Rows = list[dict[str, Any]]


def recorded(scenario: str) -> dict[str, Any]:
    """Return the answers of a scenario by query."""
    answers: dict[str, Any] = json.loads(gzip.decompress((DATA / f"answers-{scenario}.json.gz").read_bytes()))[
        "answers"
    ]
    return answers


async def replay(scenario: str, change: Callable[[Rows], Rows] = lambda rows: rows) -> Reading:
    """Read from a server that repeats the recording, with the rows of each answer changed."""
    answers, asked = recorded(scenario), []

    def handle(path: str, _headers: dict[str, str]) -> Answer:
        query = parse_qs(urlsplit(path).query)["query"][0]
        asked.append(query)
        if query not in answers:
            return 400, {}, b'{"error": "not recorded: run tests/contract/prometheus/record.py"}'
        answer = answers[query]
        data = {**answer["data"], "result": change(answer["data"]["result"])}
        return 200, {}, json.dumps({**answer, "data": data}).encode()

    namespaces, configuration = SCENARIOS[scenario]
    with http_server(handle) as url:
        source = PrometheusSource(PrometheusConfiguration.model_validate({"url": url, **configuration}))
        result = await source.read(namespaces)
    assert isinstance(result, Reading), result
    assert sorted(asked) == sorted(answers)
    return result


def timeless(reading: Reading) -> Reading:
    """Return the reading with sample times as ages, so that two readings can be compared."""
    engines = {
        key: tuple(replace(sample, sampled_at=round(sample.sampled_at - reading.taken_at, 3)) for sample in samples)
        for key, samples in reading.engines.items()
    }
    return replace(reading, taken_at=0.0, engines=engines)


def load_of(reading: Reading, namespace: str, *pods: str) -> Load | Unavailable:
    """Summarise for pods that run for an hour."""
    started = dict.fromkeys(pods, reading.taken_at - 3600)
    return summarise(reading, namespace=namespace, pods=started, now=reading.taken_at)


async def test_a_service_of_two_pods():
    """One with n-gram speculation, one without: found, joined, and the acceptance is that of the drafts."""
    reading = await replay("serving")
    load = load_of(reading, "serving", "demo-0", "demo-1")
    assert isinstance(load, Load)
    assert (load.concurrency, load.worst_concurrency, load.waiting, load.engines) == (25, 40, 1, 2)
    assert load.tokens_per_second == pytest.approx(390, rel=0.02)
    assert load.acceptance_length == pytest.approx(2.2, rel=0.02)
    assert load.acceptance_rate == pytest.approx(0.3, rel=0.02)
    assert (reading.scrape_interval, reading.window) == (pytest.approx(1, abs=0.1), pytest.approx(6, abs=1))


async def test_data_parallel_engines():
    """Case G2-10: recorded from one pod with two `engine` labels."""
    first, second = (await replay("parallel")).engines["parallel", "demo-0"]
    assert [(sample.engine, sample.running) for sample in (first, second)] == [("0", 9.0), ("1", 9.0)]
    assert second.drafts == pytest.approx(2 * first.drafts, rel=0.02)
    assert len(first.accepted_per_position) == 4


async def test_two_clusters():
    """Case G4-10: one pod name in two clusters is ambiguous, its neighbour is not."""
    reading = await replay("clusters")
    assert reading.problems["clusters", "demo-1"].reason is Reason.AMBIGUOUS_SERIES
    assert list(reading.engines) == [("clusters", "demo-2")]


async def test_a_pair_of_prometheus():
    """Replica labels are aggregated away."""
    (sample,) = (await replay("pairs")).engines["pairs", "demo-0"]
    assert sample.running == 40


async def test_numbers_that_are_none():
    """NaN and +Inf as Prometheus spells them."""
    reading = await replay("nan")
    assert set(reading.problems) == {("nan", "demo-0"), ("nan", "demo-1"), ("nan", "demo-2")}
    assert set(reading.engines) == {("nan", "demo-3")}


async def test_an_empty_vector():
    """Case G4-02: no engine, no problem, and no load."""
    reading = await replay("empty")
    assert (reading.engines, reading.problems, reading.scrape_interval) == ({}, {}, None)
    result = load_of(reading, "nobody", "demo-0")
    assert isinstance(result, Unavailable)
    assert result.reason is Reason.NO_SERIES


@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_the_order_of_rows_does_not_matter(scenario):
    """Case G4-10: the same answers with their rows shuffled."""
    straight = timeless(await replay(scenario))
    for seed in range(3):
        shuffled = timeless(await replay(scenario, lambda rows, seed=seed: random.Random(seed).sample(rows, len(rows))))
        assert shuffled == straight
