"""`status` of a SpecDecDeployment: everything decided and measured."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from specdec_operator.api.base import ApiModel
from specdec_operator.api.conditions import ConditionStatus

Text = Annotated[str, Field(max_length=253)]
Message = Annotated[str, Field(max_length=1024)]
Time = Annotated[str, Field(max_length=40, json_schema_extra={"format": "date-time"})]
"""RFC 3339 in UTC with whole seconds."""
Number = Annotated[str, Field(max_length=16, pattern=r"^[0-9]+(\.[0-9]+)?$")]
"""A rounded decimal number as a string: the API conventions know no floats."""


class MethodState(StrEnum):
    """Where a method stands."""

    ACTIVE = "Active"
    ELIGIBLE = "Eligible"
    UNSUPPORTED = "Unsupported"
    QUARANTINED = "Quarantined"


class BreakEvenSource(StrEnum):
    """Where a break-even concurrency comes from, best first."""

    EXPLICIT = "Explicit"
    PROFILE = "Profile"
    LEARNED = "Learned"
    CLOSED_FORM = "ClosedForm"
    PRIOR = "Prior"


class RolloutKind(StrEnum):
    """What is going on with the pods."""

    SWITCH = "Switch"
    ROLLOUT = "Rollout"


class RolloutStep(StrEnum):
    """Where the pod in hand stands."""

    LEAVING = "Leaving"
    DRAINING = "Draining"
    RESTARTING = "Restarting"
    REPLACING = "Replacing"
    CANARY = "Canary"
    REVERTING = "Reverting"


class DecisionAction(StrEnum):
    """What the policy wants."""

    KEEP = "Keep"
    SWITCH = "Switch"
    RECOMMEND = "Recommend"
    HOLD = "Hold"


class ConditionRecord(ApiModel):
    """A condition as it is stored (metav1.Condition)."""

    type: Annotated[str, Field(max_length=64)]
    status: ConditionStatus
    reason: Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$")]
    message: Annotated[str, Field(max_length=4096)]
    observed_generation: int | None = None
    last_transition_time: Time


class ActiveMethod(ApiModel):
    """What the serving pods run."""

    method: Text
    num_speculative_tokens: int | None = None
    since: Time


class TargetMethod(ApiModel):
    """What they are to run."""

    method: Text
    num_speculative_tokens: int | None = None


class SignalsStatus(ApiModel):
    """What was measured when the status was last written; live values are in the operator's metrics."""

    concurrency: Number | None = None
    acceptance_rate: Number | None = None
    acceptance_length: Number | None = None
    waiting: Number | None = None
    tokens_per_second: Number | None = None
    sampled_at: Time | None = None


class MethodStatus(ApiModel):
    """One method, with what is known about it."""

    name: Text
    state: MethodState
    reason: Text | None = None
    message: Message | None = None
    retry_at: Time | None = None
    failures: int | None = None
    """How often it was quarantined; the retry time grows with it."""
    break_even_concurrency: int | None = None
    break_even_source: BreakEvenSource | None = None
    predicted_speedup: Number | None = None


class DecisionStatus(ApiModel):
    """What the policy wants, and why."""

    action: DecisionAction
    method: Text | None = None
    reason: Text
    message: Message
    since: Time


class SwitchRecord(ApiModel):
    """One switch, with the numbers it was decided on."""

    started_at: Time
    finished_at: Time | None = None
    from_: Annotated[str, Field(max_length=253, alias="from")]
    to: Text
    reason: Text
    message: Message
    concurrency: Number | None = None
    acceptance_length: Number | None = None
    outcome: Annotated[str, Field(max_length=64)] | None = None
    """Absent while it runs, then Done, RolledBack or Superseded."""


class RolloutStatus(ApiModel):
    """A switch or rollout on its way."""

    kind: RolloutKind
    from_: Annotated[str, Field(max_length=253, alias="from")] | None = None
    to: Text
    step: RolloutStep | None = None
    pod: Text | None = None
    started_at: Time
    updated_replicas: int = 0


class SpecDecDeploymentStatus(ApiModel):
    """`status` of a SpecDecDeployment."""

    observed_generation: int | None = None
    conditions: Annotated[tuple[ConditionRecord, ...], Field(max_length=32)] = ()
    replicas: int | None = None
    ready_replicas: int | None = None
    selector: Annotated[str, Field(max_length=1024)] | None = None
    active: ActiveMethod | None = None
    target: TargetMethod | None = None
    signals: SignalsStatus | None = None
    methods: Annotated[tuple[MethodStatus, ...], Field(max_length=16)] = ()
    decision: DecisionStatus | None = None
    switches: Annotated[tuple[SwitchRecord, ...], Field(max_length=10)] = ()
    rollout: RolloutStatus | None = None
    last_requested_at: Annotated[str, Field(max_length=253)] | None = None
    """The last value of the annotation specdec.dev/requestedAt that was acted on."""
