"""From a reading to the load of one object: only its pods count, and nothing missing is ever a number."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.policy.build import NOW, engine, reading

from specdec_operator.api.conditions import ConditionStatus, Reason
from specdec_operator.policy.join import metrics_condition, summarise
from specdec_operator.policy.signals import Load, Reading, Unavailable

OLD = NOW - 3600


def joined(found: Reading | Unavailable, *pods: str, since: float = OLD) -> Load | Unavailable:
    """Summarise for these pods of namespace "serving"."""
    return summarise(found, namespace="serving", pods=dict.fromkeys(pods, since), now=NOW)


def reason_of(result: Load | Unavailable) -> Reason:
    """Return why there is no load; fails when there is one."""
    assert isinstance(result, Unavailable), result
    return result.reason


def load_of(result: Load | Unavailable) -> Load:
    """Return the load; fails when there is none."""
    assert isinstance(result, Load), result
    return result


def test_concurrency_is_the_median_over_busy_engines():
    """Idle engines do not pull it down, and the busiest one is reported beside it."""
    found = reading(engine("a", 10), engine("b", 0), engine("c", 14), engine("d", 90))
    load = load_of(joined(found, "a", "b", "c", "d"))
    assert (load.concurrency, load.worst_concurrency, load.engines) == (14, 90, 4)


def test_all_idle_is_a_concurrency_of_zero():
    """An idle fleet is measured, not missing."""
    load = load_of(joined(reading(engine("a", 0), engine("b", 0)), "a", "b"))
    assert (load.concurrency, load.worst_concurrency, load.waiting) == (0, 0, 0)


def test_concurrency_is_per_engine_under_data_parallelism():
    """Case G2-10: two engines in one pod count as two engines, and their tokens are summed."""
    first = engine("a", 9, engine="0", drafts=50.0, drafted=150.0, accepted=25.0)
    second = engine("a", 31, engine="1", drafts=50.0, drafted=150.0, accepted=75.0)
    load = load_of(joined(reading(first, second), "a"))
    assert (load.concurrency, load.worst_concurrency, load.engines) == (20, 31, 2)
    assert load.acceptance_length == pytest.approx(2.0)


def test_only_pods_of_this_object_count():
    """Case G2-18: neither another object's pod in the namespace nor a namesake in another one counts."""
    mine = engine("demo-abc", 10, drafts=10.0, drafted=10.0, accepted=9.0)
    other = engine("other-xyz", 80, drafts=1000.0, drafted=1000.0, accepted=1.0)
    namesake = engine("demo-abc", 70, drafts=1000.0, drafted=1000.0, accepted=5.0)
    found = reading(mine, other)
    found = replace(found, engines={**found.engines, ("dev", "demo-abc"): (namesake,)})
    load = load_of(joined(found, "demo-abc"))
    assert (load.concurrency, load.acceptance_rate) == (10, pytest.approx(0.9))


def test_pods_that_are_gone_do_not_count():
    """Case G4-01: series of deleted pods are still there; only the living one is measured."""
    found = reading(engine("demo-old-1", 40), engine("demo-old-2", 38), engine("demo-new-1", 2))
    assert load_of(joined(found, "demo-new-1")).concurrency == 2


def test_a_new_engine_counts_after_a_full_window():
    """Case G4-01: right after a switch the rates still cover what the pod ran before."""
    found = reading(engine("demo-0", 40))
    assert reason_of(joined(found, "demo-0", since=NOW - 89)) is Reason.NOT_SCRAPED_YET
    assert load_of(joined(found, "demo-0", since=NOW - 90)).concurrency == 40


def test_an_empty_answer_is_no_load():
    """Case G4-02: no series is never a concurrency of 0."""
    result = joined(reading(), "demo-0")
    assert reason_of(result) is Reason.NO_SERIES
    assert metrics_condition(result).status is ConditionStatus.FALSE


def test_a_pod_that_started_a_moment_ago_is_not_scraped_yet():
    """Its condition is Unknown rather than False."""
    result = joined(reading(window=10.0), "demo-0", since=NOW - 30)
    assert reason_of(result) is Reason.NOT_SCRAPED_YET
    condition = metrics_condition(result)
    assert condition.status is ConditionStatus.UNKNOWN
    assert "Nothing is switched" in condition.message


def test_one_missing_pod_makes_the_load_unavailable():
    """Half of the engines would be half of the truth; the message names the pod and the numbers."""
    result = joined(reading(engine("a", 10)), "a", "b")
    assert reason_of(result) is Reason.NO_SERIES
    assert isinstance(result, Unavailable)
    assert "Pod b" in result.message
    assert "1 of 2 pods" in result.message


def test_no_pod_at_all_is_no_load():
    """Nothing serves, so nothing is measured."""
    assert reason_of(joined(reading())) is Reason.NOT_SCRAPED_YET


@pytest.mark.parametrize(
    ("interval", "age", "stale"), [(15.0, 59, False), (15.0, 61, True), (1.0, 17, False), (1.0, 19, True)]
)
def test_the_age_that_is_stale_follows_the_scrape_interval(interval: float, age: float, *, stale: bool):
    """Three scrapes missing in a row, plus the time that one may be late."""
    result = joined(reading(engine("a", scrape_interval=interval, sampled_at=NOW - age)), "a")
    assert (reason_of(result) is Reason.STALE) if stale else isinstance(result, Load)


def test_without_an_interval_of_its_own_an_engine_takes_that_of_the_reading():
    """And without either, Prometheus' default of a minute."""
    young = engine("a", scrape_interval=None, sampled_at=NOW - 100)
    assert reason_of(joined(reading(young, scrape_interval=15.0), "a")) is Reason.STALE
    assert isinstance(joined(reading(young, scrape_interval=None), "a"), Load)


def test_an_old_reading_is_stale():
    """A reading that was not renewed says nothing about now."""
    assert reason_of(joined(reading(engine("a"), taken_at=NOW - 91), "a")) is Reason.STALE


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0])
@pytest.mark.parametrize("name", ["running", "waiting", "drafts", "accepted", "generation_tokens", "sampled_at"])
def test_a_number_that_is_none_makes_the_load_unavailable(name: str, value: float):
    """NaN, infinite and negative values never reach a comparison."""
    broken = replace(engine("a"), **{name: value})
    assert reason_of(joined(reading(broken), "a")) is Reason.NO_SERIES


def test_two_series_of_one_engine_are_ambiguous():
    """Nobody can tell which one is right."""
    assert reason_of(joined(reading(engine("a", 3), engine("a", 61)), "a")) is Reason.AMBIGUOUS_SERIES


def test_fewer_engines_than_the_other_pods_is_partial():
    """A data-parallel pod of which one engine is missing."""
    found = reading(engine("a", engine="0"), engine("a", engine="1"), engine("b", engine="0"))
    assert reason_of(joined(found, "a", "b")) is Reason.NO_SERIES


def test_problems_of_the_source_are_passed_on():
    """With the reason that the source found; problems of other pods do not matter."""
    problems = {("serving", "a"): Unavailable(Reason.AMBIGUOUS_SERIES, "has series of two clusters")}
    found = reading(engine("b"), problems=problems)
    assert reason_of(joined(found, "a", "b")) is Reason.AMBIGUOUS_SERIES
    assert isinstance(joined(found, "b"), Load)


def test_a_source_that_is_away_is_passed_on():
    """With its own words."""
    away = Unavailable(Reason.SOURCE_UNREACHABLE, "Prometheus cannot be reached: Connection refused.")
    assert joined(away, "a") is away


def test_acceptance_comes_from_sums_not_from_a_mean_of_ratios():
    """A nearly idle engine with perfect acceptance weighs as little as it drafts."""
    busy = engine("a", drafts=99.0, drafted=297.0, accepted=0.0)
    lucky = engine("b", drafts=1.0, drafted=3.0, accepted=3.0)
    load = load_of(joined(reading(busy, lucky), "a", "b"))
    assert load.acceptance_rate == pytest.approx(0.01)
    assert load.acceptance_length == pytest.approx(1.03)


@pytest.mark.parametrize("drafts", [None, 0.0, 0.5])
def test_without_drafts_acceptance_is_unknown(drafts: float | None):
    """Off, idle (0/0) and too few to tell are all unknown, never 0."""
    load = load_of(joined(reading(engine("a", drafts=drafts, drafted=drafts, accepted=drafts and 0.0)), "a"))
    assert load.acceptance_rate is None
    assert load.acceptance_length is None


def test_tokens_are_summed_and_unknown_when_one_engine_has_none():
    """Throughput is of the whole object."""
    both = reading(engine("a", generation_tokens=100.0), engine("b", generation_tokens=50.0))
    assert load_of(joined(both, "a", "b")).tokens_per_second == 150
    one = reading(engine("a", generation_tokens=100.0), engine("b"))
    assert load_of(joined(one, "a", "b")).tokens_per_second is None


def test_found_says_how_many_engines():
    """The condition does not change from tick to tick."""
    condition = metrics_condition(joined(reading(engine("a"), engine("b")), "a", "b"))
    assert (condition.status, condition.reason) == (ConditionStatus.TRUE, Reason.FOUND)
    assert condition.message == "Fresh metrics of 2 engines."


POD_NAMES = st.sampled_from(["a", "b", "c", "d"])
SAMPLES = st.builds(
    engine,
    pod=POD_NAMES,
    running=st.sampled_from([0.0, 1.0, 40.0, math.nan]),
    engine=st.sampled_from(["0", "1"]),
    sampled_at=st.sampled_from([NOW, NOW - 20, NOW - 500]),
    drafts=st.sampled_from([None, 0.0, 3.3]),
    drafted=st.sampled_from([None, 9.9]),
    accepted=st.sampled_from([None, 1.1]),
    generation_tokens=st.sampled_from([None, 0.1, 0.2, 0.7]),
)


@given(samples=st.lists(SAMPLES, max_size=8), pods=st.sets(POD_NAMES), seed=st.randoms(use_true_random=False))
def test_the_order_of_series_and_pods_does_not_matter(samples, pods, seed):
    """The same reading in any order gives the same load or the same reason."""
    shuffled, names = list(samples), sorted(pods)
    seed.shuffle(shuffled)
    seed.shuffle(names)
    assert joined(reading(*samples), *sorted(pods)) == joined(reading(*shuffled), *names)
