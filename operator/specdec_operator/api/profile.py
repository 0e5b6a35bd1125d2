"""SpecDecProfile: measured speed curves for one model on one kind of hardware."""

from typing import Annotated

from pydantic import Field

from specdec_operator.api.base import ApiModel
from specdec_operator.api.spec import LongText, Name40, ShortText
from specdec_operator.api.status import ConditionRecord, Time

Decimal = Annotated[str, Field(max_length=16, pattern=r"^[0-9]+(\.[0-9]+)?$")]


class BaselinePoint(ApiModel):
    """Plain decoding at one concurrency, in tokens per second per request."""

    concurrency: Annotated[int, Field(ge=1, le=1_000_000)]
    tokens_per_second_per_request: Decimal


class MethodPoint(BaselinePoint):
    """One method at one concurrency."""

    acceptance_length: Decimal


class Baseline(ApiModel):
    """The curve of plain decoding."""

    points: Annotated[tuple[BaselinePoint, ...], Field(min_length=1, max_length=64)]


class MethodCurve(ApiModel):
    """The curve of one method."""

    name: Name40 | None = None
    method: ShortText
    model: LongText | None = None
    num_speculative_tokens: Annotated[int, Field(ge=1, le=1024)] | None = None
    points: Annotated[tuple[MethodPoint, ...], Field(min_length=1, max_length=64)]


class SpecDecProfileSpec(ApiModel):
    """`spec` of a SpecDecProfile: what was measured, and where."""

    model: LongText
    engine_version: ShortText
    accelerator: Annotated[str, Field(min_length=1, max_length=64)]
    tensor_parallel_size: Annotated[int, Field(ge=1, le=1024)] = 1
    context_tokens: Annotated[int, Field(ge=1)] | None = None
    measured_at: Time | None = None
    baseline: Baseline
    methods: Annotated[tuple[MethodCurve, ...], Field(max_length=16)] = ()


class LearnedCurves(ApiModel):
    """What the operator has learned itself; the same shape as the measured curves."""

    baseline: Baseline | None = None
    methods: Annotated[tuple[MethodCurve, ...], Field(max_length=16)] = ()
    updated_at: Time | None = None


class SpecDecProfileStatus(ApiModel):
    """`status` of a SpecDecProfile."""

    observed_generation: int | None = None
    conditions: Annotated[tuple[ConditionRecord, ...], Field(max_length=32)] = ()
    learned: LearnedCurves | None = None
