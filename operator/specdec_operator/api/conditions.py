"""Condition types and their reasons.

A reason is also the reason of the event that tells of it, and appears nowhere else as a literal.
Semantics follow kstatus: `Ready`, `Reconciling` and `Stalled` mean what Argo CD, Flux and `helm --wait` expect.
"""

from dataclasses import dataclass
from enum import StrEnum


class ConditionType(StrEnum):
    """Types of `status.conditions`."""

    READY = "Ready"
    RECONCILING = "Reconciling"
    STALLED = "Stalled"
    CONFIG_VALID = "ConfigValid"
    METRICS_AVAILABLE = "MetricsAvailable"
    SPECULATION_ACTIVE = "SpeculationActive"
    SWITCHING = "Switching"


class ConditionStatus(StrEnum):
    """Values of a condition's `status`."""

    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"


class Reason(StrEnum):
    """Every reason that a condition or an event of this operator can carry."""

    # Ready
    AVAILABLE = "Available"
    NO_REPLICA_READY = "NoReplicaReady"
    ROLLOUT_STALLED = "RolloutStalled"
    SCALED_TO_ZERO = "ScaledToZero"
    SUSPENDED = "Suspended"
    # Ready, Reconciling
    STARTING = "Starting"
    ROLLING_OUT = "RollingOut"
    DONE = "Done"
    # Ready, Stalled
    INVALID_SPEC = "InvalidSpec"
    NAME_TAKEN = "NameTaken"
    STARTUP_TIMEOUT = "StartupTimeout"
    CRASH_LOOPING = "CrashLooping"
    ACCELERATOR_TAKEN = "AcceleratorTaken"
    UNSCHEDULABLE = "Unschedulable"
    FORBIDDEN = "Forbidden"
    """The API server refuses what the operator must write: a missing right, or a quota."""
    SCHEDULING_GATED = "SchedulingGated"
    NOT_STALLED = "NotStalled"
    # ConfigValid
    VALID = "Valid"
    VALID_WITH_WARNINGS = "ValidWithWarnings"
    UNSUPPORTED_BY_ENGINE_VERSION = "UnsupportedByEngineVersion"
    RESERVED_ARGUMENT = "ReservedArgument"
    UNKNOWN_OPTION = "UnknownOption"
    CONFLICTING_OPTIONS = "ConflictingOptions"
    UNKNOWN_ENGINE_VERSION = "UnknownEngineVersion"
    # MetricsAvailable
    FOUND = "Found"
    NO_SERIES = "NoSeries"
    STALE = "Stale"
    SOURCE_UNREACHABLE = "SourceUnreachable"
    UNAUTHORIZED = "Unauthorized"
    NOT_SCRAPED_YET = "NotScrapedYet"
    AMBIGUOUS_SERIES = "AmbiguousSeries"
    # SpeculationActive
    ACTIVE = "Active"
    PAST_BREAK_EVEN = "PastBreakEven"
    LOW_ACCEPTANCE = "LowAcceptance"
    ACCEPTANCE_COLLAPSED = "AcceptanceCollapsed"
    NO_ELIGIBLE_METHOD = "NoEligibleMethod"
    MODE_OFF = "ModeOff"
    # Decision only
    BELOW_BREAK_EVEN = "BelowBreakEven"
    """Why a switch went back to speculation."""
    PINNED = "Pinned"
    RECOMMENDED = "Recommended"
    """What the operator would do in mode Recommend."""
    NOT_DECIDED_YET = "NotDecidedYet"
    MINIMUM_DWELL = "MinimumDwell"
    METHOD_REMOVED = "MethodRemoved"
    """The active method is no longer in the spec."""
    QUARANTINED = "Quarantined"
    # Switching
    DRAINING = "Draining"
    RESTARTING = "Restarting"
    CANARY_RUNNING = "CanaryRunning"
    IDLE = "Idle"
    RESTART_NEEDS_OUTAGE = "RestartNeedsOutage"
    ROLLED_BACK = "RolledBack"
    BUDGET_SPENT = "BudgetSpent"
    # Events only
    SWITCH_STARTED = "SwitchStarted"
    SWITCHED = "Switched"
    ENGINE_RESTARTED = "EngineRestarted"


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition as the operator computes it; times and the generation are added when status is written.

    `message` is one sentence or two with the numbers and what comes next.
    """

    type: ConditionType
    status: ConditionStatus
    reason: Reason
    message: str
