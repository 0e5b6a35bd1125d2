"""SpecDecProfile: measured speed curves for one model on one kind of hardware."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from specdec_operator.api.base import ApiModel, Decimal, LongArgument, ModelName, Name40, ShortText, StatusModel
from specdec_operator.api.engine_spec import EngineVersion, ParallelSize
from specdec_operator.api.schema import UniqueBy
from specdec_operator.api.status import ConditionRecord, Generation, Time


class BaselinePoint(ApiModel):
    """Plain decoding at one concurrency, in tokens per second per request."""

    concurrency: Annotated[int, Field(ge=1, le=1_000_000)]
    """Running requests per engine."""
    tokens_per_second_per_request: Decimal
    """Speed of each request, such as '42.5'."""


class MethodPoint(BaselinePoint):
    """One method at one concurrency."""

    acceptance_length: Decimal
    """Tokens per step, such as '2.4'."""


class Baseline(ApiModel):
    """The curve of plain decoding."""

    points: Annotated[tuple[BaselinePoint, ...], Field(min_length=1, max_length=64)]
    """The curve, one entry for each concurrency."""


class MethodCurve(ApiModel):
    """The curve of one method."""

    name: Name40 | None = None
    """Name of the method in a SpecDecDeployment. Absent: it fits by method, model and K."""
    method: ShortText
    """vLLM's name of the method."""
    model: LongArgument | None = None
    """Drafter."""
    num_speculative_tokens: Annotated[int, Field(ge=1, le=1024)] | None = None
    """Tokens drafted a step (K)."""
    points: Annotated[tuple[MethodPoint, ...], Field(min_length=1, max_length=64)]
    """The curve, one entry for each concurrency."""


class SpecDecProfileSpec(ApiModel):
    """`spec` of a SpecDecProfile: what was measured, and where."""

    model: ModelName
    """The model that was served."""
    engine_version: EngineVersion
    """vLLM release, such as 0.32.0."""
    accelerator: Annotated[str, Field(min_length=1, max_length=64)]
    """Kind of hardware, such as H100."""
    tensor_parallel_size: ParallelSize = 1
    """Accelerators that shared each layer."""
    context_tokens: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = None
    """Length of the sequences in tokens."""
    measured_at: Time | None = None
    """When it was measured."""
    baseline: Baseline
    """Plain decoding."""
    methods: Annotated[tuple[MethodCurve, ...], Field(max_length=16)] = ()
    """The methods that were measured."""


def _without_unknown_fields(curves: type[ApiModel]) -> BeforeValidator:
    """Read curves of the spec's own types within a status, where another release may have written more."""

    def read(value: object) -> object:
        return curves.model_validate(value, extra="ignore") if isinstance(value, dict) else value

    return BeforeValidator(read)


class LearnedCurves(StatusModel):
    """What the operator has learned itself; the same shape as the measured curves."""

    baseline: Annotated[Baseline | None, _without_unknown_fields(Baseline)] = None
    """Plain decoding."""
    methods: Annotated[
        tuple[Annotated[MethodCurve, _without_unknown_fields(MethodCurve)], ...], Field(max_length=16)
    ] = ()
    """The methods that were seen at work."""
    updated_at: Time | None = None
    """When it was last written."""


class SpecDecProfileStatus(StatusModel):
    """`status` of a SpecDecProfile: what became of it, and what was learned."""

    observed_generation: Generation | None = None
    """The generation of the object that this status is about."""
    conditions: Annotated[tuple[ConditionRecord, ...], Field(max_length=32), UniqueBy("type")] = ()
    """State of the profile."""
    learned: LearnedCurves | None = None
    """Curves that the operator keeps itself, in the profile named after the deployment with -learned."""
