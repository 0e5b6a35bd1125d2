"""What the policy is asked and what it answers."""

from dataclasses import dataclass

from specdec_operator.api.conditions import Condition, Reason
from specdec_operator.api.spec import SpeculationSpec
from specdec_operator.api.status import BreakEvenSource, DecisionAction
from specdec_operator.policy.signals import Load, Unavailable


@dataclass(frozen=True, slots=True)
class MethodView:
    """One method as the policy sees it, in order of preference."""

    name: str
    supported: bool
    """False where the engine release refuses it or silently runs something else."""
    unsupported_message: str = ""
    quarantined_until: float | None = None
    """Unix seconds; None when it is not in quarantine."""
    num_speculative_tokens: int = 1
    acceptance_length: float | None = None
    """`expectedAcceptanceLength` of the spec."""
    break_even_concurrency: int | None = None
    """`breakEvenConcurrency` of the spec."""


@dataclass(frozen=True, slots=True)
class PolicyInput:
    """Everything one decision depends on; `memory` is what the last decision returned."""

    now: float
    speculation: SpeculationSpec
    methods: tuple[MethodView, ...]
    replicas: int
    active: str
    """The method that the serving pods run, or the first eligible one before any pod runs."""
    active_since: float | None
    """Unix seconds when the last switch ended; None when there was none."""
    switches: tuple[float, ...]
    """Start times of the switches of the last 24 hours."""
    load: Load | Unavailable
    frozen: str | None
    """Why nothing may be decided now (a switch, rollout or scaling is on its way); None when it may."""
    memory: "PolicyMemory"


@dataclass(frozen=True, slots=True)
class PolicyMemory:
    """What the threshold trigger remembers between ticks. Lost with the process, which only delays."""

    smoothed: float | None = None
    """Exponential mean of the concurrency, weighted by time."""
    smoothed_at: float | None = None
    method: str | None = None
    """The method that was active when it was measured: another one starts the mean afresh."""
    crossed_since: float | None = None
    """Unix seconds since which the same other method has been the better one; moved on by each short gap."""
    candidate: str | None = None
    measured: bool = False
    """Whether the tick before was measured, by this process: only then is it known what lies between."""
    missing_since: float | None = None
    """Unix seconds of the first tick of a gap in the metrics; None outside of gaps."""
    acceptance: tuple[tuple[str, float], ...] = ()
    """Smoothed acceptance length of each method that has run, by name: once off, an engine exports none."""
    acceptance_at: float | None = None
    acceptance_rate: float | None = None
    """Smoothed acceptance rate of `method`."""
    low_acceptance: bool = False
    """The rate is below the alarm level, or was and has not risen clearly above it."""
    collapsed_since: float | None = None
    """Unix seconds since which hardly any drafted token of `method` is accepted although drafts go on."""


@dataclass(frozen=True, slots=True)
class BreakEven:
    """The concurrency per engine below which a method pays, and where the number comes from."""

    concurrency: int
    source: BreakEvenSource
    explanation: str


@dataclass(frozen=True, slots=True)
class Decision:
    """What should run and why. `target` is the active method unless `action` is Switch or Recommend."""

    action: DecisionAction
    target: str
    reason: Reason
    message: str
    """One or two sentences with the numbers and what comes next."""
    break_even: dict[str, BreakEven]
    memory: PolicyMemory
    speculation_active: Condition
    """The condition SpeculationActive."""
