"""`spec.speculation`: the methods, and the policy that chooses among them and `none`."""

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from specdec_operator.api.base import (
    ApiModel,
    Duration,
    FreeObject,
    LongArgument,
    Name40,
    ObjectName,
    ShortArgument,
    ShortText,
)
from specdec_operator.api.names import NONE_METHOD
from specdec_operator.api.schema import AtLeast, AtMost, Matches, Rule, UniqueBy, cel


class SpeculationMode(StrEnum):
    """Who decides what runs."""

    AUTO = "Auto"
    RECOMMEND = "Recommend"
    PINNED = "Pinned"
    OFF = "Off"


class Trigger(StrEnum):
    """What a switch is decided on."""

    OFFERED_LOAD = "OfferedLoad"
    THRESHOLD = "Threshold"


class ScheduleMode(StrEnum):
    """Whether vLLM's K schedule is rendered for a method."""

    AUTO = "Auto"
    OFF = "Off"


class MethodSpec(ApiModel):
    """One way to speculate: a vLLM method with its drafter and token count K."""

    name: Name40
    """Name of this entry, unique in the list; "none" is taken by plain decoding."""
    method: ShortText
    """vLLM's name of the method, such as eagle3, mtp, ngram or draft_model."""
    model: LongArgument | None = None
    """Drafter: hub id or absolute path. Required by methods that have one."""
    revision: ShortArgument | None = None
    """Branch, tag or commit of the drafter. Absent: the hub's default branch."""
    num_speculative_tokens: Annotated[int, Field(ge=1, le=1024)] | None = None
    """Tokens drafted a step (K). Absent: what vLLM takes from the drafter."""
    draft_tensor_parallel_size: Annotated[int, Field(ge=1, le=1024)] | None = None
    """Accelerators that share the drafter. Absent: vLLM's default."""
    options: Annotated[FreeObject, Field(max_length=64)] = Field(default_factory=dict)
    """Further keys of --speculative-config in vLLM's spelling, checked against the engine's version."""
    break_even_concurrency: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Concurrency per engine from which the method no longer pays. Absent: from the profile, learned, or computed."""
    expected_acceptance_length: (
        Annotated[
            str,
            Field(max_length=8),
            Matches(r"[1-9][0-9]*(?:\.[0-9]+)?", "write tokens per step as a text of 1 or more, such as '2.4'"),
        ]
        | None
    ) = None
    """Tokens per step to assume until it is measured, such as '2.4'. Absent: the prior of the method."""
    schedule: ScheduleMode = ScheduleMode.AUTO
    """Whether the engine itself lowers K with load, where its release can."""


class ProfileRef(ApiModel):
    """A SpecDecProfile in the same namespace."""

    name: ObjectName
    """Name of the profile."""


class BreakEvenSpec(ApiModel):
    """Where the break-even of methods without a number of their own comes from."""

    profile_ref: ProfileRef | None = None
    """Measured curves. Absent: learned or computed."""
    accelerator: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    """Kind of hardware, such as H100, H200, B200, A100, L40S or MI300X, for the computed break-even."""


Window = Annotated[str, Field(max_length=16), AtLeast("15s")]


class PolicySpec(ApiModel):
    """When to switch."""

    trigger: Trigger = Trigger.OFFERED_LOAD
    """OfferedLoad weighs gain against cost; Threshold compares the concurrency with the break-even."""
    disable_after: Window = "5m"
    """Threshold: how long the load must be past the break-even. At least 15s."""
    enable_after: Window = "15m"
    """Threshold: how long the load must be below the break-even again. At least 15s."""
    minimum_dwell: Duration = "15m"
    """Shortest time between two switches."""
    maximum_switches_per_day: Annotated[
        int,
        Field(ge=0, le=1000),
        AtMost(10, "write a number from 0 to 10: status.switches, by which switches are counted, keeps the last ten"),
    ] = 4
    """Most switches in 24 hours, at most 10; the last one may only go to none."""
    switch_cost: Duration | None = None
    """What a switch costs in engine time. Absent: the measured start-up time."""
    act_on_priors: bool = False
    """true: a single replica also switches on a break-even that is only computed."""


_NOT_NONE = Rule(
    f"!has(self.methods) || self.methods.all(m, m.name != '{NONE_METHOD}')",
    'speculation.methods: the name "none" stands for plain decoding; give the method another name',
    ".methods",
)
_PINNED_NAMED = Rule(
    "!has(self.mode) || self.mode != 'Pinned' || (has(self.pinned) && (self.pinned == 'none' || "
    "(has(self.methods) && self.methods.exists(m, m.name == self.pinned))))",
    'speculation.pinned: mode Pinned needs the name of one of speculation.methods, or "none"',
    ".pinned",
)


class SpeculationSpec(ApiModel):
    """Methods in order of preference and the policy that chooses among them and `none`."""

    model_config = cel(_NOT_NONE, _PINNED_NAMED)

    mode: SpeculationMode = SpeculationMode.AUTO
    """Auto decides and acts, Recommend decides and says so, Pinned runs `pinned`, Off runs none."""
    pinned: Name40 | None = None
    """With mode Pinned: the name of a method, or none."""
    methods: Annotated[tuple[MethodSpec, ...], Field(max_length=16), UniqueBy("name")] = ()
    """Methods in order of preference; the first that the engine supports starts."""
    break_even: BreakEvenSpec | None = None
    """Where the break-even of methods without a number of their own comes from."""
    policy: PolicySpec = Field(default_factory=PolicySpec)
    """When to switch."""

    @model_validator(mode="after")
    def _names_fit(self) -> Self:
        names = [method.name for method in self.methods]
        if NONE_METHOD in names:
            raise ValueError(_NOT_NONE.message)
        if self.mode is SpeculationMode.PINNED and self.pinned not in (*names, NONE_METHOD):
            raise ValueError(_PINNED_NAMED.message)
        return self
