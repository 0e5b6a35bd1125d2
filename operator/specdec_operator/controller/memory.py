"""What is remembered of one object between passes. Losing it only delays."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from specdec_operator.api.conditions import Reason
from specdec_operator.api.status import SpecDecDeploymentStatus
from specdec_operator.controller.times import unix
from specdec_operator.engine.render import RenderedMethod
from specdec_operator.policy.decision import PolicyMemory


@dataclass(frozen=True, slots=True)
class Verified:
    """What the children were last found to say when they were read live."""

    generation: int
    spec_hash: str
    target: RenderedMethod
    digests: Mapping[str, str]
    """By kind: digest of the child as it was then."""
    at: float
    """Unix seconds when that was."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why the operator may not or cannot touch the children at all."""

    reason: Reason
    message: str


@dataclass(frozen=True, slots=True)
class Hindrance:
    """A trouble that only somebody else can end: nothing is tried before `until`, unless the spec changes."""

    trouble: Trouble
    generation: int
    until: float
    attempt: int = 0
    """How often in a row it was met, from 0."""


@dataclass(frozen=True, slots=True)
class Memory:
    """What is remembered of one object."""

    uid: str
    policy: PolicyMemory = field(default_factory=PolicyMemory)
    verified: Verified | None = None
    hindrance: Hindrance | None = None
    metrics_lost_at: float | None = None
    """Unix seconds since when there are no metrics; None while there are."""


def memory_from(uid: str, status: SpecDecDeploymentStatus) -> Memory:
    """Return what a process that has just started can know of an object: what the last one wrote into its status.

    The means go on from there, weighted by the time since; of methods that are off now, the acceptance length is that
    of the switch that left them.
    """
    seen = status.signals
    active = status.active.method if status.active is not None else None
    lengths = {record.from_: record.acceptance_length for record in status.switches if record.acceptance_length}
    if seen is None or active is None or seen.concurrency is None:
        return Memory(uid, PolicyMemory(acceptance=_numbers(lengths)))
    if seen.acceptance_length is not None:
        lengths[active] = seen.acceptance_length
    at = unix(seen.sampled_at)
    policy = PolicyMemory(
        smoothed=float(seen.concurrency),
        smoothed_at=at,
        method=active,
        acceptance=_numbers(lengths),
        acceptance_at=at if seen.acceptance_length is not None else None,
        acceptance_rate=float(seen.acceptance_rate) if seen.acceptance_rate is not None else None,
    )
    return Memory(uid, policy)


def _numbers(lengths: Mapping[str, str]) -> tuple[tuple[str, float], ...]:
    return tuple(sorted((name, float(text)) for name, text in lengths.items()))
