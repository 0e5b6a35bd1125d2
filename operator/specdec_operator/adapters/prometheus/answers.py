"""From the rows of the answers to a `Reading`: strict about numbers, explicit about what is ambiguous."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from statistics import median
from typing import Any, Final, TypeVar

from specdec_operator.adapters.prometheus import queries
from specdec_operator.adapters.prometheus.configuration import LabelNames
from specdec_operator.adapters.prometheus.intervals import scrape_interval
from specdec_operator.api.conditions import Reason
from specdec_operator.policy.signals import EngineSample, Reading, Unavailable

Rows = list[dict[str, Any]]
PodKey = tuple[str, str]
Key = TypeVar("Key", str, int)

_FIELDS: Final = {
    queries.GENERATION_TOKENS: "generation_tokens",
    queries.PROMPT_TOKENS: "prompt_tokens",
    queries.DRAFTS: "drafts",
    queries.DRAFTED: "drafted",
    queries.ACCEPTED: "accepted",
    queries.KV_CACHE_USAGE: "kv_cache_usage",
}
_NEWEST: Final = "time of the newest sample"


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a vector. `at` is when the server evaluated the query, by its own clock."""

    pod: PodKey
    engine: str
    cluster: str
    labels: Mapping[str, str]
    text: str
    at: float

    @property
    def value(self) -> float | None:
        """The number, None unless it is finite and not negative."""
        number = _number(self.text)
        return number if isfinite(number) and number >= 0 else None


@dataclass(slots=True)
class _Engine:
    values: dict[str, float] = field(default_factory=dict)
    counts: dict[int, float] = field(default_factory=dict)
    positions: dict[int, float] = field(default_factory=dict)


def _values(engine: _Engine) -> dict[str, float]:
    return engine.values


def _counts(engine: _Engine) -> dict[int, float]:
    return engine.counts


def _positions(engine: _Engine) -> dict[int, float]:
    return engine.positions


@dataclass(slots=True)
class _Pod:
    clusters: set[str] = field(default_factory=set)
    engines: dict[str, _Engine] = field(default_factory=dict)
    problems: dict[str, Reason] = field(default_factory=dict)

    def put(self, row: Row, name: str, key: Key, choose: Callable[[_Engine], dict[Key, float]]) -> None:
        """Keep a number under `key` in one of the engine's stores, or note why it cannot be used."""
        value = row.value
        if value is None:
            self.problems[f"{name} of engine {row.engine!r} is {row.text}"] = Reason.NO_SERIES
            return
        values = choose(self.engines.setdefault(row.engine, _Engine()))
        if key in values:
            self.problems[f"{name} of engine {row.engine!r} is there twice"] = Reason.AMBIGUOUS_SERIES
        values[key] = value


class Answers:
    """Collects the rows of one tick. First `live`, then `counts`, then the rates."""

    def __init__(self, labels: LabelNames, namespaces: frozenset[str], taken_at: float) -> None:
        self._labels = labels
        self._namespaces = namespaces
        self._taken_at = taken_at
        self._pods: dict[PodKey, _Pod] = {}

    def live(self, gauges: Rows, times: Rows) -> None:
        """Take in the instant values. They alone tell which engines exist: rates go on after a target has died."""
        for row in self._parse(gauges):
            pod = self._pods.setdefault(row.pod, _Pod())
            pod.clusters.add(row.cluster)
            name = row.labels.get("__name__", "")
            pod.put(row, name, name, _values)
        for row in self._parse(times):
            pod = self._pods.setdefault(row.pod, _Pod())
            pod.clusters.add(row.cluster)
            age = row.at - row.value if row.value is not None else None
            pod.put(row, _NEWEST, _NEWEST, _values)
            if age is not None:
                # By our own clock, so that two clocks that differ do not make fresh samples look stale.
                pod.engines[row.engine].values[_NEWEST] = self._taken_at - age

    def counts(self, rows: Rows) -> None:
        """Take in how many samples each engine has in each counting window."""
        for row, pod in self._of_live(rows):
            window = row.labels.get(queries.SIGNAL, "")
            pod.put(row, f"sample count over {window} s", int(window), _counts)

    def intervals(self) -> list[float]:
        """Return the scrape interval of each engine that has one."""
        found = (scrape_interval(engine.counts) for pod in self._pods.values() for engine in pod.engines.values())
        return [interval for interval in found if interval is not None]

    def rates(self, rows: Rows) -> None:
        """Take in rates whose metric is in the label `signal`."""
        for row, pod in self._of_live(rows):
            name = row.labels.get(queries.SIGNAL, "")
            pod.put(row, f"rate of {name}", name, _values)

    def positions(self, rows: Rows) -> None:
        """Take in accepted tokens per draft position."""
        for row, pod in self._of_live(rows):
            position = row.labels.get(queries.POSITION, "")
            if position.isdecimal():
                name = f"rate of {queries.ACCEPTED_PER_POSITION} at {position}"
                pod.put(row, name, int(position), _positions)

    def reading(self, window: float) -> Reading:
        """Return everything that was collected."""
        engines: dict[PodKey, tuple[EngineSample, ...]] = {}
        problems: dict[PodKey, Unavailable] = {}
        for key, pod in self._pods.items():
            result = _samples(key[1], pod)
            if isinstance(result, Unavailable):
                problems[key] = result
            else:
                engines[key] = result
        intervals = self.intervals()
        return Reading(
            taken_at=self._taken_at,
            scrape_interval=median(intervals) if intervals else None,
            window=window,
            engines=engines,
            problems=problems,
        )

    def _of_live(self, rows: Rows) -> Iterable[tuple[Row, _Pod]]:
        """Rows of engines that are there now, in the cluster that they are there in."""
        for row in self._parse(rows):
            pod = self._pods.get(row.pod)
            if pod is not None and row.engine in pod.engines and pod.clusters == {row.cluster}:
                yield row, pod

    def _parse(self, rows: Rows) -> Iterable[Row]:
        names = self._labels
        for raw in rows:
            labels = raw["metric"]
            at, text = raw["value"]
            key = (labels.get(names.namespace, ""), labels.get(names.pod, ""))
            if "" in key or (self._namespaces and key[0] not in self._namespaces):
                continue
            engine, cluster = labels.get(names.engine, ""), labels.get(names.cluster, "")
            yield Row(pod=key, engine=engine, cluster=cluster, labels=labels, text=str(text), at=float(at))


def _samples(name: str, pod: _Pod) -> tuple[EngineSample, ...] | Unavailable:
    if len(pod.clusters) > 1:
        values = ", ".join(repr(cluster) for cluster in sorted(pod.clusters))
        text = f"has series of several clusters ({values}); choose one with prometheus.extraMatchers"
        return Unavailable(Reason.AMBIGUOUS_SERIES, text)
    problems = pod.problems or _missing(pod)
    if problems:
        first = min(problems)
        return Unavailable(problems[first], f"has no usable metrics: {first}")
    return tuple(_sample(name, label, engine) for label, engine in sorted(pod.engines.items()))


def _missing(pod: _Pod) -> dict[str, Reason]:
    """A decision needs these of every engine."""
    needed = (queries.RUNNING, queries.WAITING, _NEWEST)
    return {
        f"{name} of engine {label!r} is missing": Reason.NO_SERIES
        for label, engine in pod.engines.items()
        for name in needed
        if name not in engine.values
    }


def _sample(pod: str, label: str, engine: _Engine) -> EngineSample:
    optional = {name: engine.values[metric] for metric, name in _FIELDS.items() if metric in engine.values}
    return EngineSample(
        pod=pod,
        engine=label,
        sampled_at=engine.values[_NEWEST],
        running=engine.values[queries.RUNNING],
        waiting=engine.values[queries.WAITING],
        accepted_per_position=tuple(rate for _, rate in sorted(engine.positions.items())),
        scrape_interval=scrape_interval(engine.counts),
        **optional,
    )


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")
