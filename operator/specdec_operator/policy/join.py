"""From one reading of all engines to the load of one object: joined by pod, or a reason why not.

Anything missing makes the whole load unavailable: a decision on half of the engines is a decision on wrong numbers.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from statistics import median
from typing import Final

from specdec_operator.api.conditions import Condition, ConditionStatus, ConditionType, Reason
from specdec_operator.api.quantities import format_duration
from specdec_operator.policy.signals import EngineSample, Load, Reading, Unavailable

READING_LIFETIME: Final = 90.0
"""Seconds after which a reading is too old to be used: the longest tick there can be, and half of it."""
SCRAPES_MISSED: Final = 3
"""A series is stale when this many scrapes in a row are missing."""
LATENESS: Final = 15.0
"""Seconds that a scrape may be late because Prometheus or the engine is busy."""
DISCOVERY_TIME: Final = 60.0
"""Seconds that a source may take to find a new pod."""
DEFAULT_INTERVAL: Final = 60.0
"""Prometheus' own default, used while the interval is unknown."""
DEFAULT_WINDOW: Final = 60.0
MINIMUM_DRAFT_RATE: Final = 1.0
"""Drafts per second, over all engines, below which an acceptance would be noise (or 0/0)."""

_GRAVITY: Final = (Reason.AMBIGUOUS_SERIES, Reason.STALE, Reason.NO_SERIES, Reason.NOT_SCRAPED_YET)
"""Which reason speaks for the object when its pods have different ones."""


def summarise(
    reading: Reading | Unavailable, *, namespace: str, pods: Mapping[str, float], now: float
) -> Load | Unavailable:
    """Join a reading to the pods of one object and reduce it to one load.

    Args:
        reading: what the metrics source gave for the whole cluster.
        namespace: namespace of the object.
        pods: the pods that exist now, are Ready and serve, with the Unix time since when their engine runs.
        now: Unix seconds.

    Returns:
        The load, or why there is none. Series of pods that are not in `pods` never count. A pod without usable
        series makes the load unavailable, and so does one whose engine runs for less than a window: rates would
        still cover what it ran before.
    """
    if isinstance(reading, Unavailable):
        return reading
    if not pods:
        return Unavailable(Reason.NOT_SCRAPED_YET, "No pod serves, so there is nothing to measure.")
    if now - reading.taken_at > READING_LIFETIME:
        age = format_duration(now - reading.taken_at)
        return Unavailable(Reason.STALE, f"The last reading of the metrics is {age} old.")
    found: dict[str, tuple[EngineSample, ...]] = {}
    problems: dict[str, Unavailable] = {}
    for pod in sorted(pods):
        result = _engines_of(reading, (namespace, pod), runs_for=now - pods[pod])
        if isinstance(result, Unavailable):
            problems[pod] = result
        else:
            found[pod] = result
    problem = _gravest(problems, of=len(pods)) or _uneven(found)
    if problem is not None:
        return problem
    return _reduce([sample for samples in found.values() for sample in samples])


def metrics_condition(load: Load | Unavailable) -> Condition:
    """Return the condition MetricsAvailable: Unknown for pods too young to have been scraped, False for the rest."""
    if isinstance(load, Unavailable):
        young = load.reason is Reason.NOT_SCRAPED_YET
        status = ConditionStatus.UNKNOWN if young else ConditionStatus.FALSE
        message = f"{load.message} Nothing is switched until metrics are there."
        return Condition(ConditionType.METRICS_AVAILABLE, status, load.reason, message)
    engines = "1 engine" if load.engines == 1 else f"{load.engines} engines"
    message = f"Fresh metrics of {engines}."
    return Condition(ConditionType.METRICS_AVAILABLE, ConditionStatus.TRUE, Reason.FOUND, message)


def _engines_of(reading: Reading, key: tuple[str, str], *, runs_for: float) -> tuple[EngineSample, ...] | Unavailable:
    window = reading.window or DEFAULT_WINDOW
    if runs_for < window:
        text = f"runs for {format_duration(max(runs_for, 0))}; its metrics count after a window of"
        return Unavailable(Reason.NOT_SCRAPED_YET, f"{text} {format_duration(window)}")
    if (problem := reading.problems.get(key)) is not None:
        return problem
    samples = reading.engines.get(key, ())
    if not samples:
        return _absent(runs_for, window)
    return _first_problem(samples, reading) or tuple(samples)


def _absent(runs_for: float, window: float) -> Unavailable:
    age = format_duration(runs_for)
    if runs_for < max(window, DISCOVERY_TIME):
        return Unavailable(Reason.NOT_SCRAPED_YET, f"has no series yet, {age} after its engine started")
    return Unavailable(Reason.NO_SERIES, f"has no series, {age} after its engine started; is it scraped?")


def _first_problem(samples: Sequence[EngineSample], reading: Reading) -> Unavailable | None:
    if len({sample.engine for sample in samples}) < len(samples):
        return Unavailable(Reason.AMBIGUOUS_SERIES, "has several series for the same engine")
    for sample in samples:
        if not all(isfinite(value) and value >= 0 for value in _numbers(sample)):
            return Unavailable(Reason.NO_SERIES, f"has no usable number for engine {sample.engine!r}")
        limit = SCRAPES_MISSED * (sample.scrape_interval or reading.scrape_interval or DEFAULT_INTERVAL) + LATENESS
        age = reading.taken_at - sample.sampled_at
        if age > limit:
            text = f"has no sample newer than {format_duration(age)} (limit {format_duration(limit)})"
            return Unavailable(Reason.STALE, text)
    return None


def _numbers(sample: EngineSample) -> Iterable[float]:
    optional = (
        sample.generation_tokens,
        sample.prompt_tokens,
        sample.drafts,
        sample.drafted,
        sample.accepted,
        sample.kv_cache_usage,
    )
    given = (value for value in optional if value is not None)
    return (sample.running, sample.waiting, sample.sampled_at, *sample.accepted_per_position, *given)


def _gravest(problems: Mapping[str, Unavailable], *, of: int) -> Unavailable | None:
    """One problem for the object, independent of the order in which its pods came."""
    if not problems:
        return None
    ranks = {reason: rank for rank, reason in enumerate(_GRAVITY)}
    pod = min(problems, key=lambda name: (ranks.get(problems[name].reason, -1), name))
    others = f" ({len(problems)} of {of} pods have no usable metrics)" if of > 1 else ""
    return Unavailable(problems[pod].reason, f"Pod {pod} {problems[pod].message}{others}.")


def _uneven(found: Mapping[str, tuple[EngineSample, ...]]) -> Unavailable | None:
    """Data-parallel pods of one object have equally many engines; fewer in one of them means that some are missing."""
    most = max(len(samples) for samples in found.values())
    fewer = [pod for pod, samples in found.items() if len(samples) < most]
    if not fewer:
        return None
    text = f"Pod {fewer[0]} shows {len(found[fewer[0]])} of {most} engines."
    return Unavailable(Reason.NO_SERIES, text)


def _reduce(samples: Sequence[EngineSample]) -> Load:
    busy = [sample for sample in samples if sample.running > 0]
    rate, length = _acceptance(samples)
    return Load(
        sampled_at=min(sample.sampled_at for sample in samples),
        concurrency=median(sample.running for sample in busy) if busy else 0.0,
        worst_concurrency=max(sample.running for sample in samples),
        waiting=median(sample.waiting for sample in busy) if busy else 0.0,
        tokens_per_second=_sum(sample.generation_tokens for sample in samples),
        acceptance_rate=rate,
        acceptance_length=length,
        engines=len(samples),
    )


def _acceptance(samples: Iterable[EngineSample]) -> tuple[float | None, float | None]:
    """Rate and length from summed counter rates: a mean of ratios would give an idle engine a full voice."""
    counted = [
        (sample.drafts, sample.drafted, sample.accepted)
        for sample in samples
        if sample.drafts is not None and sample.drafted is not None and sample.accepted is not None
    ]
    drafts, drafted, accepted = (sum(sorted(column)) for column in zip(*counted, strict=True)) if counted else (0, 0, 0)
    if drafts < MINIMUM_DRAFT_RATE or drafted <= 0:
        return None, None
    return min(1.0, accepted / drafted), 1.0 + accepted / drafts


def _sum(values: Iterable[float | None]) -> float | None:
    """Sum in a fixed order, so that the result does not depend on that of the series; None if one is missing."""
    known: list[float] = []
    for value in values:
        if value is None:
            return None
        known.append(value)
    return sum(sorted(known))
