"""The PromQL of a tick: exact names, escaped labels, constant number."""

import gzip
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_operator.adapters.prometheus.configuration import LabelNames
from specdec_operator.adapters.prometheus.queries import (
    LONGEST_NAMESPACE_MATCHER,
    Queries,
    alternatives,
    quoted,
)

DATA = Path(__file__).resolve().parents[3] / "data" / "prometheus"
STRING = r'"(?:[^"\\\n]|\\.)*"'


def all_queries(namespaces: frozenset[str] = frozenset(), **matchers: str) -> list[str]:
    """Return the queries of one tick."""
    queries = Queries(LabelNames(), matchers, namespaces)
    return [
        queries.gauges(),
        queries.sample_times(),
        queries.sample_counts(),
        queries.token_rates(90),
        queries.draft_rates(90),
        queries.position_rates(90),
    ]


def exported_names() -> set[str]:
    """Return all metric names of a real vLLM with speculation."""
    text = gzip.decompress((DATA / "vllm-0.32-ngram.metrics.gz").read_bytes()).decode()
    return set(re.findall(r"^(vllm:[a-z_]+)", text, re.MULTILINE))


def test_creation_times_are_never_asked_for():
    """Case G2-11: of all that a real vLLM exports, exactly nine names are read, and no `_created` twin."""
    text = " ".join(all_queries())
    asked = set(re.findall(r"vllm:[a-z_]+", text))
    assert asked & exported_names() == {
        "vllm:num_requests_running",
        "vllm:num_requests_waiting",
        "vllm:kv_cache_usage_perc",
        "vllm:generation_tokens_total",
        "vllm:prompt_tokens_total",
        "vllm:spec_decode_num_drafts_total",
        "vllm:spec_decode_num_draft_tokens_total",
        "vllm:spec_decode_num_accepted_tokens_total",
        "vllm:spec_decode_num_accepted_tokens_per_pos_total",
    }
    assert "_created" not in text


def test_nothing_is_filled_up_with_zeros():
    """Case G4-02: an empty answer has to stay empty."""
    assert "vector(" not in " ".join(all_queries())


def test_names_match_with_and_without_total():
    """Each counter in both spellings, nothing in between."""
    assert "rate(vllm:prompt_tokens_total[90s]) or rate(vllm:prompt_tokens[90s])" in all_queries()[3]


def test_namespaces_are_a_matcher():
    """Sorted, so that the query is the same every tick."""
    assert all('namespace=~"dev|serving"' in query for query in all_queries(frozenset({"serving", "dev"})))
    assert "{" not in all_queries()[1]


def test_a_long_list_of_namespaces_is_left_out():
    """The addresses stay below what proxies take."""
    many = frozenset(f"namespace-{index}" for index in range(500))
    assert all("namespace=~" not in query for query in all_queries(many))
    fitting = frozenset(f"namespace-{index}" for index in range(50))
    assert max(len(query) for query in all_queries(fitting)) < 6 * LONGEST_NAMESPACE_MATCHER + 2000


@given(st.text())
def test_any_text_becomes_one_string_literal(text):
    """No label value can end the string it is in."""
    literal = quoted(text)
    assert re.fullmatch(STRING, literal)
    unescaped = re.sub(r"\\(.)", lambda match: {"n": "\n"}.get(match[1], match[1]), literal[1:-1])
    assert unescaped == text


@given(st.sets(st.text(min_size=1), min_size=1), st.text(min_size=1))
def test_alternatives_match_exactly_what_was_given(values, other):
    """As Prometheus anchors it; Python's dialect agrees on these escapes."""
    pattern = re.compile(alternatives(values), re.DOTALL)
    assert all(pattern.fullmatch(value) for value in values)
    assert bool(pattern.fullmatch(other)) is (other in values)


@pytest.mark.parametrize("text", ['a"} or up{x="', "\\", "a\nb", "}"])
def test_a_matcher_stays_inside_its_string(text):
    """Without the strings, no query has more braces than with a harmless value."""
    harmless, odd = all_queries(cluster="east"), all_queries(cluster=text)
    assert [re.sub(STRING, "S", query) for query in odd] == [re.sub(STRING, "S", query) for query in harmless]
