"""`status` of a SpecDecDeployment: everything decided and measured.

Values that another release may have written are read as far as this one knows them: see `objects.py`.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import BeforeValidator, Field

from specdec_operator.api.base import StatusModel
from specdec_operator.api.conditions import ConditionStatus
from specdec_operator.api.schema import UniqueBy


def _cut_to(longest: int) -> BeforeValidator:
    """Shorten a text that is too long: a status that cannot be written would hide everything else in it."""

    def cut(value: object) -> object:
        return f"{value[: longest - 3]}..." if isinstance(value, str) and len(value) > longest else value

    return BeforeValidator(cut)


def _at_most_16_digits(value: object) -> object:
    """Write a number that is too long, which no engine reaches and a broken one may report, as the largest."""
    return "9" * 16 if isinstance(value, str) and len(value) > 16 and value[:16].isdecimal() else value


Text = Annotated[str, Field(max_length=253), _cut_to(253)]
Message = Annotated[str, Field(max_length=1024), _cut_to(1024)]
Time = Annotated[str, Field(max_length=40, json_schema_extra={"format": "date-time"})]
"""RFC 3339 in UTC with whole seconds."""
Number = Annotated[str, Field(max_length=16, pattern=r"^[0-9]+(\.[0-9]+)?$"), BeforeValidator(_at_most_16_digits)]
"""A rounded decimal number as a string: the API conventions know no floats."""
Count = Annotated[int, Field(ge=0, le=2_147_483_647)]
Generation = Annotated[int, Field(ge=0)]


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


class ConditionRecord(StatusModel):
    """A condition as it is stored (metav1.Condition)."""

    type: Annotated[str, Field(max_length=64), _cut_to(64)]
    """Type of the condition."""
    status: ConditionStatus
    """True, False or Unknown."""
    reason: Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$")]
    """Why, in one word; events use the same words."""
    message: Annotated[str, Field(max_length=4096), _cut_to(4096)]
    """Why, in a sentence with the numbers and what comes next."""
    observed_generation: Generation | None = None
    """The generation of the object that this is about."""
    last_transition_time: Time
    """When the status of the condition last changed."""


class ActiveMethod(StatusModel):
    """What the serving pods run."""

    method: Text
    """Name of the method, or none."""
    num_speculative_tokens: Count | None = None
    """Its K; absent for none."""
    since: Time
    """When the pods were last switched, or first started."""


class TargetMethod(StatusModel):
    """What they are to run."""

    method: Text
    """Name of the method, or none."""
    num_speculative_tokens: Count | None = None
    """Its K; absent for none."""


class SignalsStatus(StatusModel):
    """What was measured when the status was last written; live values are in the operator's metrics."""

    concurrency: Number | None = None
    """Running requests per engine, median over busy engines."""
    acceptance_rate: Number | None = None
    """Accepted over drafted tokens; absent while speculation is off."""
    acceptance_length: Number | None = None
    """Tokens per step; absent while speculation is off."""
    waiting: Number | None = None
    """Waiting requests per engine."""
    tokens_per_second: Number | None = None
    """Generated tokens per second, summed over engines."""
    sampled_at: Time | None = None
    """When this was measured."""


class MethodStatus(StatusModel):
    """One method, with what is known about it."""

    name: Text
    """Name of the method."""
    state: MethodState
    """Active, Eligible, Unsupported or Quarantined."""
    reason: Text | None = None
    """Why it is in this state, in one word."""
    message: Message | None = None
    """Why it is in this state, in a sentence."""
    retry_at: Time | None = None
    """When its quarantine ends."""
    failures: Count | None = None
    """How often it was quarantined; the retry time grows with it."""
    break_even_concurrency: Count | None = None
    """Concurrency per engine from which it no longer pays."""
    break_even_source: BreakEvenSource | None = None
    """Explicit, Profile, Learned, ClosedForm or Prior."""
    predicted_speedup: Number | None = None
    """Speed at the present load against plain decoding."""


class DecisionStatus(StatusModel):
    """What the policy wants, and why."""

    action: DecisionAction
    """Keep, Switch, Recommend or Hold."""
    method: Text | None = None
    """The method it wants."""
    reason: Text
    """Why, in one word."""
    message: Message
    """Why, in a sentence with the numbers."""
    since: Time
    """Since when it has wanted this."""


class SwitchRecord(StatusModel):
    """One switch, with the numbers it was decided on."""

    started_at: Time
    """When the first pod left its Service."""
    finished_at: Time | None = None
    """When the last pod was back; absent while it runs."""
    from_: Annotated[Text, Field(alias="from")]
    """The method before."""
    to: Text
    """The method after."""
    reason: Text
    """Why, in one word."""
    message: Message
    """Why, in a sentence."""
    concurrency: Number | None = None
    """Running requests per engine when it was decided."""
    acceptance_length: Number | None = None
    """Tokens per step when it was decided."""
    outcome: Annotated[str, Field(max_length=64), _cut_to(64)] | None = None
    """Absent while it runs, then Done, RolledBack or Superseded."""


class RolloutStatus(StatusModel):
    """A switch or rollout on its way."""

    kind: RolloutKind
    """Switch (engines restart in their pods) or Rollout (pods are replaced)."""
    from_: Annotated[Text | None, Field(alias="from")] = None
    """The method before."""
    to: Text
    """The method after."""
    step: RolloutStep | None = None
    """Where the pod in hand stands."""
    pod: Text | None = None
    """The pod in hand."""
    started_at: Time
    """When it began."""
    updated_replicas: Count = 0
    """Replicas that are done."""


class SpecDecDeploymentStatus(StatusModel):
    """`status` of a SpecDecDeployment: everything decided and measured."""

    observed_generation: Generation | None = None
    """The generation of the object that this status is about."""
    conditions: Annotated[tuple[ConditionRecord, ...], Field(max_length=32), UniqueBy("type")] = ()
    """Ready, Reconciling, Stalled, ConfigValid, MetricsAvailable, SpeculationActive, Switching."""
    replicas: Count | None = None
    """Pods that exist."""
    ready_replicas: Count | None = None
    """Pods that are ready."""
    selector: Annotated[str, Field(max_length=1024), _cut_to(1024)] | None = None
    """Label selector of the pods, for the scale subresource."""
    engine_version: Text | None = None
    """The vLLM release whose rules are in force."""
    active: ActiveMethod | None = None
    """What the serving pods run."""
    target: TargetMethod | None = None
    """What they are to run."""
    break_even_concurrency: Count | None = None
    """Break-even of the active method or, while none is active, of the one that would come back."""
    signals: SignalsStatus | None = None
    """What was measured when the status was last written."""
    methods: Annotated[tuple[MethodStatus, ...], Field(max_length=17), UniqueBy("name")] = ()
    """Every method, with what is known about it."""
    decision: DecisionStatus | None = None
    """What the policy wants, and why."""
    switches: Annotated[tuple[SwitchRecord, ...], Field(max_length=10)] = ()
    """The last ten switches."""
    rollout: RolloutStatus | None = None
    """A switch or rollout on its way."""
    last_requested_at: Text | None = None
    """The last value of the annotation specdec.dev/requestedAt that was acted on."""
    budget_since: Time | None = None
    """Switches before this time do not count: the user asked for a retry."""
