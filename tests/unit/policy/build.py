"""Shorthand for the inputs of the policy."""

from typing import Any

from specdec_operator.api.spec import SpeculationSpec
from specdec_operator.policy.decide import decide
from specdec_operator.policy.decision import Decision, MethodView, PolicyInput, PolicyMemory
from specdec_operator.policy.signals import EngineSample, Load, Reading, Unavailable

NOW = 1_800_000_000.0
TICK = 15.0


def speculation(**fields: Any) -> SpeculationSpec:
    """Return `spec.speculation` from camelCase fields, with one EAGLE-3 method unless methods are given."""
    methods = [{"name": "eagle3", "method": "eagle3", "numSpeculativeTokens": 3}]
    return SpeculationSpec.model_validate({"methods": methods, **fields})


def method(name: str = "eagle3", break_even: int | None = 60, **fields: Any) -> MethodView:
    """Return a supported method with an explicit break-even."""
    values = {"supported": True, "num_speculative_tokens": 3, "break_even_concurrency": break_even, **fields}
    return MethodView(name=name, **values)


def load(concurrency: float, **fields: Any) -> Load:
    """Return a load of two engines."""
    values: dict[str, Any] = {
        "sampled_at": NOW,
        "worst_concurrency": concurrency,
        "waiting": 0.0,
        "tokens_per_second": None,
        "acceptance_rate": None,
        "acceptance_length": None,
        "engines": 2,
        **fields,
    }
    return Load(concurrency=concurrency, **values)


def view(**fields: Any) -> PolicyInput:
    """Return an input with two replicas and one method, EAGLE-3, that runs at 20 requests."""
    values: dict[str, Any] = {
        "now": NOW,
        "speculation": speculation(),
        "methods": (method(),),
        "replicas": 2,
        "active": "eagle3",
        "active_since": None,
        "switches": (),
        "load": load(20),
        "frozen": None,
        "memory": PolicyMemory(),
        **fields,
    }
    return PolicyInput(**values)


def engine(pod: str = "demo-0", running: float = 10.0, **fields: Any) -> EngineSample:
    """Return a fresh sample."""
    values: dict[str, Any] = {"engine": "0", "sampled_at": NOW - 5, "waiting": 0.0, "scrape_interval": 15.0, **fields}
    return EngineSample(pod=pod, running=running, **values)


def reading(*samples: EngineSample, namespace: str = "serving", **fields: Any) -> Reading:
    """Return a reading of these engines."""
    engines: dict[tuple[str, str], tuple[EngineSample, ...]] = {}
    for sample in samples:
        key = (namespace, sample.pod)
        engines[key] = (*engines.get(key, ()), sample)
    values: dict[str, Any] = {"taken_at": NOW, "scrape_interval": 15.0, "window": 90.0, "engines": engines, **fields}
    return Reading(**values)


class Story:
    """Runs the policy tick by tick and carries out its switches at once."""

    def __init__(self, start: PolicyInput, *, tick: float = TICK, outage: float = 60.0) -> None:
        self.now = start.now
        self.active = start.active
        self.active_since = start.active_since
        self.memory = start.memory
        self.switches: list[tuple[float, str]] = []
        self.decisions: list[tuple[float, Decision]] = []
        self._start = start
        self._tick = tick
        self._outage = outage

    def step(self, seen: Load | Unavailable) -> Decision:
        """Take one tick with this load."""
        since = self.now - 86_400
        started = tuple(moment for moment, _ in self.switches if moment > since)
        decision = decide(
            PolicyInput(
                now=self.now,
                speculation=self._start.speculation,
                methods=self._start.methods,
                replicas=self._start.replicas,
                active=self.active,
                active_since=self.active_since,
                switches=self._start.switches + started,
                load=seen,
                frozen=self._start.frozen,
                memory=self.memory,
            )
        )
        self.memory = decision.memory
        self.decisions.append((self.now, decision))
        if decision.action == "Switch":
            self.switches.append((self.now, decision.target))
            self.active, self.active_since = decision.target, self.now + self._outage
        self.now += self._tick
        return decision

    def hold_at(self, concurrency: float, seconds: float) -> Decision:
        """Keep one concurrency for so long; return the last decision."""
        last = self.step(load(concurrency))
        end = self.now + seconds - self._tick
        while self.now < end:
            last = self.step(load(concurrency))
        return last
