"""The PromQL of one tick: a constant number of instant queries, however many objects and pods there are.

Metric names are exact, with and without the `_total` that the exposition format adds to counters; the `_created`
twins that hold a timestamp never match. Decision inputs are never filled up with zeros.
"""

from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import quote

from specdec_operator.adapters.prometheus.configuration import LabelNames

RUNNING: Final = "vllm:num_requests_running"
WAITING: Final = "vllm:num_requests_waiting"
KV_CACHE_USAGE: Final = "vllm:kv_cache_usage_perc"
GENERATION_TOKENS: Final = "vllm:generation_tokens"
PROMPT_TOKENS: Final = "vllm:prompt_tokens"
DRAFTS: Final = "vllm:spec_decode_num_drafts"
DRAFTED: Final = "vllm:spec_decode_num_draft_tokens"
ACCEPTED: Final = "vllm:spec_decode_num_accepted_tokens"
ACCEPTED_PER_POSITION: Final = "vllm:spec_decode_num_accepted_tokens_per_pos"

SIGNAL: Final = "signal"
"""Label that tells the parts of one query apart."""
POSITION: Final = "position"
COUNTING_WINDOWS: Final = (15, 60, 600)
"""Seconds over which samples are counted to find the scrape interval."""
LONGEST_NAMESPACE_MATCHER: Final = 1000
"""Characters in a URL. A longer list of namespaces is left out: proxies refuse long addresses, and foreign
namespaces are dropped from the answer anyway."""

_REGEX_SPECIAL: Final = frozenset(r"\.+*?()|[]{}^$-")


def quoted(text: str) -> str:
    """Return a PromQL string literal of any text."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def alternatives(values: Iterable[str]) -> str:
    """Return a regular expression (RE2, anchored by Prometheus) that matches just these texts."""
    escaped = ("".join("\\" + char if char in _REGEX_SPECIAL else char for char in value) for value in sorted(values))
    return "|".join(escaped)


class Queries:
    """Builds the queries for some label names, matchers and namespaces (all when empty)."""

    def __init__(self, labels: LabelNames, extra_matchers: Mapping[str, str], namespaces: frozenset[str]) -> None:
        matchers = [f"{name}={quoted(value)}" for name, value in sorted(extra_matchers.items())]
        wanted = quoted(alternatives(namespaces))
        if namespaces and len(quote(wanted)) <= LONGEST_NAMESPACE_MATCHER:
            matchers.append(f"{labels.namespace}=~{wanted}")
        self._matchers = matchers
        self._engine = f"{labels.namespace}, {labels.pod}, {labels.engine}, {labels.cluster}"

    def gauges(self) -> str:
        """Running, waiting and KV usage as last scraped; rows carry `__name__`."""
        names = quoted(f"{RUNNING}|{WAITING}|{KV_CACHE_USAGE}")
        selector = ", ".join((f"__name__=~{names}", *self._matchers))
        return f"max by (__name__, {self._engine}) ({{{selector}}})"

    def sample_times(self) -> str:
        """Unix time of the newest sample of each engine."""
        return f"max by ({self._engine}) (timestamp({self._selector(RUNNING)}))"

    def sample_counts(self) -> str:
        """How many samples each engine has in each of `COUNTING_WINDOWS`; rows carry the window in `signal`."""
        return self._either(
            (str(seconds), f"max by ({self._engine}) (count_over_time({self._selector(RUNNING)}[{seconds}s]))")
            for seconds in COUNTING_WINDOWS
        )

    def token_rates(self, window: int) -> str:
        """Generated and prompt tokens per second; rows carry the metric in `signal`."""
        return self._rates((GENERATION_TOKENS, PROMPT_TOKENS), window)

    def draft_rates(self, window: int) -> str:
        """Drafts, drafted and accepted tokens per second; rows carry the metric in `signal`."""
        return self._rates((DRAFTS, DRAFTED, ACCEPTED), window)

    def position_rates(self, window: int) -> str:
        """Accepted tokens per second at each draft position; rows carry `position`."""
        return self._rate(ACCEPTED_PER_POSITION, window, POSITION)

    def _selector(self, name: str) -> str:
        return f"{name}{{{', '.join(self._matchers)}}}" if self._matchers else name

    def _rate(self, name: str, window: int, *labels: str) -> str:
        either = " or ".join(f"rate({self._selector(full)}[{window}s])" for full in (f"{name}_total", name))
        return f"max by ({', '.join((self._engine, *labels))}) ({either})"

    def _rates(self, names: Iterable[str], window: int) -> str:
        return self._either((name, self._rate(name, window)) for name in names)

    @staticmethod
    def _either(parts: Iterable[tuple[str, str]]) -> str:
        labelled = (f'label_replace({query}, "{SIGNAL}", {quoted(value)}, "", "")' for value, query in parts)
        return " or ".join(labelled)
