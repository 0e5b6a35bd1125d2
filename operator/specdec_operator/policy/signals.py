"""What is measured, as the policy sees it. Missing is a type of its own and never a number."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from specdec_operator.api.conditions import Reason


@dataclass(frozen=True, slots=True)
class EngineSample:
    """One vLLM engine, that is one (pod, `engine` label), over the last window.

    All rates are per second. `drafts`, `drafted` and `accepted` are None where the engine exports no
    `spec_decode` series, which is so exactly when speculation is off. All numbers are finite and not negative.
    """

    pod: str
    engine: str
    sampled_at: float
    """Unix seconds of the newest sample of the series, not of the answer."""
    running: float
    waiting: float
    generation_tokens: float | None = None
    prompt_tokens: float | None = None
    drafts: float | None = None
    drafted: float | None = None
    accepted: float | None = None
    accepted_per_position: tuple[float, ...] = ()
    kv_cache_usage: float | None = None
    scrape_interval: float | None = None
    """Seconds between the samples of this engine as found, None while there are too few of them."""


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Why there are no metrics: a reason of the condition `MetricsAvailable`, and a sentence for the user."""

    reason: Reason
    message: str


@dataclass(frozen=True, slots=True)
class Reading:
    """One answer of the metrics source for all objects of the cluster: engines by (namespace, pod)."""

    taken_at: float
    scrape_interval: float | None = None
    """Seconds between samples of a series as found, None while unknown."""
    window: float | None = None
    """Seconds that the rates cover, None where the source did not say."""
    engines: Mapping[tuple[str, str], tuple[EngineSample, ...]] = field(default_factory=dict)
    problems: Mapping[tuple[str, str], Unavailable] = field(default_factory=dict)
    """Pods whose series are there and cannot be used (stale, ambiguous, not finite)."""


@dataclass(frozen=True, slots=True)
class Load:
    """The joined and summarised signals of one object; concurrency is per engine, never summed over engines."""

    sampled_at: float
    concurrency: float
    """Median of `running` over busy engines (0 when none is busy)."""
    worst_concurrency: float
    waiting: float
    """Median of `waiting` over the same engines."""
    tokens_per_second: float | None
    """Summed over engines."""
    acceptance_rate: float | None
    acceptance_length: float | None
    engines: int
