"""The operator's own metrics, for Prometheus.

Labels are bounded: results, actions and reasons come from enumerations, and what is labelled with an object goes
when the object goes.
"""

from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

OBJECT = ("namespace", "name")
SIGNALS = ("concurrency", "acceptance_rate", "acceptance_length", "waiting", "tokens_per_second", "break_even")


@dataclass(frozen=True, slots=True)
class Signals:
    """The live numbers of one object; None where there is none."""

    concurrency: float | None = None
    acceptance_rate: float | None = None
    acceptance_length: float | None = None
    waiting: float | None = None
    tokens_per_second: float | None = None
    break_even: float | None = None
    """Break-even concurrency of the active method, or of the preferred one while `none` is active."""


def _signal_gauges(registry: CollectorRegistry) -> dict[str, Gauge]:
    texts = {
        "concurrency": "Median number of running requests per busy engine",
        "acceptance_rate": "Accepted over drafted tokens",
        "acceptance_length": "1 + accepted tokens over drafts",
        "waiting": "Median number of waiting requests per busy engine",
        "tokens_per_second": "Generated tokens per second, summed over engines",
        "break_even": "Break-even concurrency per engine of the method in question",
    }
    return {name: Gauge(f"specdec_{name}", text, OBJECT, registry=registry) for name, text in texts.items()}


@dataclass(slots=True)
class Metrics:
    """All metrics of one process, in a registry of their own."""

    registry: CollectorRegistry = field(default_factory=CollectorRegistry)
    reconciles: Counter = field(init=False)
    reconcile_seconds: Histogram = field(init=False)
    queue_depth: Gauge = field(init=False)
    objects: Gauge = field(init=False)
    last_reconcile: Gauge = field(init=False)
    last_tick: Gauge = field(init=False)
    tick_seconds: Histogram = field(init=False)
    decisions: Counter = field(init=False)
    switches: Counter = field(init=False)
    status_writes: Counter = field(init=False)
    signals: dict[str, Gauge] = field(init=False)
    _switch_labels: dict[tuple[str, str], set[tuple[str, ...]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Register everything."""
        registry = self.registry
        self.reconciles = Counter("specdec_reconciles", "Passes over an object", ("result",), registry=registry)
        self.reconcile_seconds = Histogram("specdec_reconcile_seconds", "Duration of a pass", registry=registry)
        self.queue_depth = Gauge("specdec_queue_depth", "Objects that wait for a worker", registry=registry)
        self.objects = Gauge("specdec_objects", "SpecDecDeployments that are watched", registry=registry)
        self.last_reconcile = Gauge("specdec_last_reconcile_time_seconds", "When a pass ended", registry=registry)
        self.last_tick = Gauge("specdec_last_tick_time_seconds", "When metrics were last read", registry=registry)
        self.tick_seconds = Histogram("specdec_tick_seconds", "Duration of reading metrics", registry=registry)
        self.decisions = Counter("specdec_decisions", "Changes of a decision", ("action", "reason"), registry=registry)
        self.switches = Counter(
            "specdec_switches", "Switches started", (*OBJECT, "from", "to", "reason"), registry=registry
        )
        self.status_writes = Counter("specdec_status_writes", "Writes of a status", registry=registry)
        self.signals = _signal_gauges(registry)

    def show(self, namespace: str, name: str, signals: Signals) -> None:
        """Set the live numbers of an object; a number that is missing is taken away, never shown as 0."""
        for signal, gauge in self.signals.items():
            value = getattr(signals, signal)
            if value is None:
                _remove(gauge, (namespace, name))
            else:
                gauge.labels(namespace, name).set(value)

    def switched(self, namespace: str, name: str, source: str, target: str, reason: str) -> None:
        """Count a switch that starts."""
        labels = (namespace, name, source, target, reason)
        self.switches.labels(*labels).inc()
        self._switch_labels.setdefault((namespace, name), set()).add(labels)

    def forget(self, namespace: str, name: str) -> None:
        """Take away everything that is labelled with this object."""
        self.show(namespace, name, Signals())
        for labels in self._switch_labels.pop((namespace, name), set()):
            _remove(self.switches, labels)


def _remove(metric: Gauge | Counter, labels: tuple[str, ...]) -> None:
    try:
        metric.remove(*labels)
    except KeyError:
        return
