"""A real Prometheus, scraping the text of a real vLLM: what is read, and what is not taken for a measurement."""

import asyncio
import time
from dataclasses import replace

import pytest
from tests.integration.prometheus.exposition import Exposition
from tests.integration.prometheus.process import Prometheus

from specdec_operator.adapters.prometheus import PrometheusConfiguration, PrometheusSource
from specdec_operator.api.conditions import Reason
from specdec_operator.policy.join import summarise
from specdec_operator.policy.signals import EngineSample, Load, Reading, Unavailable

HOUR = 3600.0
WINDOW = 5
"""Seconds; the engines are scraped once a second and have been for longer than this."""


async def read(prometheus: Prometheus, *namespaces: str, **configuration: object) -> Reading:
    """Read once; fails when there is no reading."""
    values = {"url": prometheus.url, "windowSeconds": WINDOW, **configuration}
    source = PrometheusSource(PrometheusConfiguration.model_validate(values))
    result = await source.read(frozenset(namespaces))
    assert isinstance(result, Reading), result
    return result


def joined(reading: Reading | Unavailable, namespace: str, *pods: str) -> Load | Unavailable:
    """Summarise for pods that run for an hour."""
    started = dict.fromkeys(pods, time.time() - HOUR)
    return summarise(reading, namespace=namespace, pods=started, now=time.time())


def only(reading: Reading, namespace: str, pod: str = "demo-0") -> EngineSample:
    """Return the one engine of a pod."""
    (sample,) = reading.engines[namespace, pod]
    return sample


async def test_signals_of_a_speculating_engine(prometheus: Prometheus):
    """Gauges as scraped, rates over a window that follows the scrape interval, freshness by our clock."""
    reading = await read(prometheus, "serving")
    sample = only(reading, "serving")
    assert (sample.running, sample.waiting, sample.kv_cache_usage) == (40.0, 2.0, 0.0)
    assert sample.generation_tokens == pytest.approx(300, rel=0.1)
    assert sample.prompt_tokens == pytest.approx(30, rel=0.1)
    assert sample.drafts == pytest.approx(100, rel=0.1)
    assert sample.drafted == pytest.approx(400, rel=0.1)
    assert sample.accepted == pytest.approx(120, rel=0.1)
    assert sample.accepted_per_position == pytest.approx((30,) * 4, rel=0.1)
    assert time.time() - 2.5 < sample.sampled_at <= time.time()


async def test_the_window_follows_the_scrape_interval(prometheus: Prometheus):
    """Found in the series: one second, or somewhat more while the series are young; six scrapes make the window."""
    reading = await read(prometheus, "serving", windowSeconds=None)
    assert reading.scrape_interval is not None
    assert reading.window is not None
    assert 0.9 <= reading.scrape_interval <= 4
    assert reading.window >= 4
    assert reading.window == pytest.approx(6 * reading.scrape_interval, abs=7)


async def test_an_engine_without_speculation_has_no_drafts(prometheus: Prometheus):
    """Unknown, which is not zero."""
    sample = only(await read(prometheus, "serving"), "serving", "demo-1")
    assert (sample.running, sample.drafts, sample.drafted, sample.accepted) == (10.0, None, None, None)
    assert sample.accepted_per_position == ()
    assert sample.generation_tokens == pytest.approx(90, rel=0.1)


async def test_the_load_of_one_object(prometheus: Prometheus):
    """Case G2-18: of three pods with the same model only the two of this object count."""
    load = joined(await read(prometheus, "serving", "dev"), "serving", "demo-0", "demo-1")
    assert isinstance(load, Load)
    assert (load.concurrency, load.worst_concurrency, load.engines) == (25, 40, 2)
    assert load.acceptance_length == pytest.approx(2.2, rel=0.05)
    assert load.acceptance_rate == pytest.approx(0.3, rel=0.05)


async def test_only_the_namespaces_asked_for_are_read(prometheus: Prometheus):
    """And all of them when none is named."""
    assert {namespace for namespace, _ in (await read(prometheus, "dev", "nan")).engines} == {"dev", "nan"}
    assert len({namespace for namespace, _ in (await read(prometheus)).engines}) >= 8


async def test_a_long_list_of_namespaces_is_filtered_here(prometheus: Prometheus):
    """The address of the query stays short, and the answer is the same."""
    many = [f"a-namespace-with-a-long-name-{index}" for index in range(200)]
    reading = await read(prometheus, "dev", *many)
    assert set(reading.engines) == {("dev", "demo-0")}


async def test_data_parallel_engines_are_told_apart(prometheus: Prometheus):
    """Case G2-10: one sample for each `engine` label, each with its own rates."""
    first, second = (await read(prometheus, "parallel")).engines["parallel", "demo-0"]
    assert (first.engine, second.engine) == ("0", "1")
    assert first.drafts == pytest.approx(100, rel=0.1)
    assert second.drafts == pytest.approx(200, rel=0.1)


async def test_creation_times_change_nothing(prometheus: Prometheus):
    """Case G2-11: an engine that exports no `_created` series reads like one that does."""
    reading = await read(prometheus, "serving", "bare")
    with_twins, without = only(reading, "serving"), only(reading, "bare")
    for name in ("running", "generation_tokens", "drafts", "drafted", "accepted"):
        assert getattr(with_twins, name) == pytest.approx(getattr(without, name), rel=0.1)


async def test_counters_without_the_suffix_are_found(prometheus: Prometheus):
    """Some pipelines drop `_total`."""
    sample = only(await read(prometheus, "untotalled"), "untotalled")
    assert sample.generation_tokens == pytest.approx(300, rel=0.1)
    assert sample.accepted_per_position == pytest.approx((30,) * 4, rel=0.1)


async def test_duplicates_of_a_pair_are_one(prometheus: Prometheus):
    """Two Prometheus that scrape the same pod differ in a replica label only."""
    sample = only(await read(prometheus, "pairs"), "pairs")
    assert (sample.running, sample.drafts) == (40.0, pytest.approx(100, rel=0.1))


async def test_one_pod_in_two_clusters_is_ambiguous(prometheus: Prometheus):
    """Case G4-10: neither the first nor the largest series is taken; the message says what to do."""
    reading = await read(prometheus, "clusters")
    problem = reading.problems["clusters", "demo-1"]
    assert problem.reason is Reason.AMBIGUOUS_SERIES
    assert "'east', 'west'" in problem.message
    assert "extraMatchers" in problem.message
    assert only(reading, "clusters", "demo-2").running == 3
    result = joined(reading, "clusters", "demo-1", "demo-2")
    assert isinstance(result, Unavailable)
    assert result.reason is Reason.AMBIGUOUS_SERIES


async def test_an_extra_matcher_chooses_the_cluster(prometheus: Prometheus):
    """Case G4-10: then both pods are found."""
    reading = await read(prometheus, "clusters", extraMatchers={"cluster": "east"})
    assert only(reading, "clusters", "demo-1").running == 61
    assert not reading.problems


@pytest.mark.parametrize(("pod", "text"), [("demo-0", "NaN"), ("demo-1", "+Inf"), ("demo-2", "-1")])
async def test_numbers_that_are_none_are_a_problem_of_their_pod(prometheus: Prometheus, pod: str, text: str):
    """The others of the namespace are read."""
    reading = await read(prometheus, "nan")
    assert reading.problems["nan", pod].message.endswith(f"vllm:num_requests_running of engine '0' is {text}")
    assert only(reading, "nan", "demo-3").running == 5


async def test_other_label_names(prometheus: Prometheus):
    """Where the target's own labels take the usual names, those of the pod are called exported_*."""
    labels = {"namespace": "exported_namespace", "pod": "exported_pod"}
    reading = await read(prometheus, "relabelled", labels=labels)
    assert only(reading, "relabelled").running == 40


async def test_a_matcher_is_a_text_and_never_a_query(prometheus: Prometheus):
    """Quotes, backslashes and line ends stay inside the string."""
    for text in ('a"} or vector(1) or up{x="', "\\", 'b\\"', "c\nd"):
        reading = await read(prometheus, "serving", extraMatchers={"cluster": text})
        assert not reading.engines


async def test_no_series_is_an_empty_reading(prometheus: Prometheus):
    """Case G4-02: which the join turns into NoSeries, never into a concurrency of 0."""
    result = joined(await read(prometheus, "nobody"), "nobody", "demo-0")
    assert isinstance(result, Unavailable)
    assert result.reason is Reason.NO_SERIES


async def test_an_engine_that_dies_is_gone_although_its_rates_go_on(prometheus: Prometheus, exposition: Exposition):
    """Case G4-01: `rate()` answers for a window longer; the instant values decide what exists."""
    assert ("dying", "demo-0") in (await read(prometheus, "dying")).engines
    exposition.engines["dying-demo-0"].status = 500
    await _until_gone(prometheus, "dying")


async def test_a_deleted_pod_is_gone(prometheus: Prometheus):
    """Case G4-01: once service discovery has dropped the target."""
    prometheus.remove("deleted-demo-0")
    await _until_gone(prometheus, "deleted")


async def _until_gone(prometheus: Prometheus, namespace: str) -> None:
    end = time.monotonic() + 20
    while (namespace, "demo-0") in (await read(prometheus, namespace)).engines:
        assert time.monotonic() < end
        await asyncio.sleep(0.2)
    result = joined(await read(prometheus, namespace), namespace, "demo-0")
    assert isinstance(result, Unavailable)
    assert result.reason is Reason.NO_SERIES


async def test_a_stale_sample_is_found_by_its_own_time(prometheus: Prometheus):
    """Freshness is that of the sample: the same reading joined five minutes later is stale."""
    reading = await read(prometheus, "serving")
    later = time.time() + 300
    aged = replace(reading, taken_at=later)
    pods = {"demo-0": time.time() - HOUR}
    result = summarise(aged, namespace="serving", pods=pods, now=later)
    assert isinstance(result, Unavailable)
    assert result.reason is Reason.STALE
