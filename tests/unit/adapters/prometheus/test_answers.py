"""From rows to a reading, for rows of any kind."""

import math

from hypothesis import given
from hypothesis import strategies as st

from specdec_operator.adapters.prometheus import queries
from specdec_operator.adapters.prometheus.answers import Answers
from specdec_operator.adapters.prometheus.configuration import LabelNames
from specdec_operator.api.conditions import Reason
from specdec_operator.policy.signals import Reading

NOW = 1_800_000_000.0
SERVER = NOW + 3600
"""The server's clock is an hour ahead."""


def row(value: object, *, name: str = "", at: float = SERVER, **labels: str) -> dict[str, object]:
    """Return one row as Prometheus gives it, of pod demo-0 in namespace serving."""
    metric = {"namespace": "serving", "pod": "demo-0", "engine": "0", **labels}
    return {"metric": {**metric, **({"__name__": name} if name else {})}, "value": [at, str(value)]}


GAUGES = [row(40, name=queries.RUNNING), row(2, name=queries.WAITING)]
TIMES = [row(SERVER - 4)]


def reading(gauges=GAUGES, times=TIMES, rates=(), positions=(), counts=()) -> Reading:
    """Return the reading of these rows."""
    answers = Answers(LabelNames(), frozenset(), NOW)
    answers.live(gauges, times)
    answers.counts(counts)
    answers.rates(rates)
    answers.positions(positions)
    return answers.reading(90.0)


def test_the_age_of_a_sample_does_not_depend_on_the_clocks():
    """Four seconds by the server's clock are four seconds by ours."""
    (sample,) = reading().engines["serving", "demo-0"]
    assert sample.sampled_at == NOW - 4


def test_rows_without_namespace_or_pod_are_nobodys():
    """They cannot be joined."""
    found = reading(
        gauges=[row(40, name=queries.RUNNING, pod=""), row(40, name=queries.RUNNING, namespace="")], times=[]
    )
    assert (found.engines, found.problems) == ({}, {})


def test_rates_of_engines_that_are_gone_are_dropped():
    """`rate()` answers for a window after the target has died."""
    rates = [row(300, signal=queries.GENERATION_TOKENS, pod="gone"), row(300, signal=queries.DRAFTS, engine="9")]
    found = reading(rates=rates)
    assert list(found.engines) == [("serving", "demo-0")]
    assert found.engines["serving", "demo-0"][0].drafts is None


def test_rates_of_a_former_cluster_label_are_dropped():
    """The instant values say which cluster it is now."""
    found = reading(rates=[row(300, signal=queries.GENERATION_TOKENS, cluster="old")])
    assert not found.problems
    assert found.engines["serving", "demo-0"][0].generation_tokens is None


def test_an_engine_without_waiting_is_partial():
    """The problem names the series."""
    found = reading(gauges=GAUGES[:1])
    problem = found.problems["serving", "demo-0"]
    assert problem.reason is Reason.NO_SERIES
    assert problem.message == "has no usable metrics: vllm:num_requests_waiting of engine '0' is missing"


def test_the_same_row_twice_is_ambiguous():
    """Which `max by` rules out, so something stands in between."""
    found = reading(gauges=[*GAUGES, row(41, name=queries.RUNNING)])
    assert found.problems["serving", "demo-0"].reason is Reason.AMBIGUOUS_SERIES


def test_positions_are_sorted_by_number():
    """10 comes after 9."""
    positions = [row(index, position=str(index)) for index in (10, 2, 0)]
    (sample,) = reading(positions=positions).engines["serving", "demo-0"]
    assert sample.accepted_per_position == (0.0, 2.0, 10.0)


def test_intervals_come_from_counts():
    """For each engine and, as the median, for the reading."""
    counts = [row(4, signal="60"), row(1, signal="15"), row(40, signal="600")]
    found = reading(counts=counts)
    assert found.scrape_interval == 15
    assert found.engines["serving", "demo-0"][0].scrape_interval == 15


NUMBERS = st.sampled_from(["0", "1", "40", "1e+06", "NaN", "+Inf", "-Inf", "-1", "abc", "", "1796120239.8"])
LABELS = st.fixed_dictionaries(
    {},
    optional={
        "pod": st.sampled_from(["a", "b"]),
        "engine": st.sampled_from(["0", "1"]),
        "cluster": st.sampled_from(["east", "west"]),
        "signal": st.sampled_from([queries.DRAFTS, queries.GENERATION_TOKENS, "15"]),
        "position": st.sampled_from(["0", "1", "x"]),
        "name": st.sampled_from([queries.RUNNING, queries.WAITING, queries.KV_CACHE_USAGE]),
    },
)
ROWS = st.lists(st.builds(lambda value, labels: row(value, **labels), NUMBERS, LABELS), max_size=12)


@given(gauges=ROWS, times=ROWS, rates=ROWS, positions=ROWS)
def test_no_row_gives_a_number_that_is_none(gauges, times, rates, positions):
    """Whatever comes, samples hold finite numbers that are not negative, and a pod is either usable or a problem."""
    found = reading(gauges, times, rates, positions)
    assert not set(found.engines) & set(found.problems)
    for samples in found.engines.values():
        for sample in samples:
            given_numbers = [sample.running, sample.waiting, *sample.accepted_per_position]
            given_numbers += [value for value in (sample.drafts, sample.generation_tokens) if value is not None]
            assert all(math.isfinite(value) and value >= 0 for value in given_numbers)
