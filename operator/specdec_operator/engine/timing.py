"""How an engine starts and stops in time: every number from `rollout` and the pod's grace period, in one place."""

import math
from dataclasses import dataclass
from typing import Final

from specdec_operator.api.quantities import parse_duration
from specdec_operator.api.spec import SpecDecDeploymentSpec

PRE_STOP_SECONDS: Final = 15
"""How long a pod that still serves waits before SIGTERM, so that nobody sends it new requests any more."""
MARGIN_SECONDS: Final = 10
"""What the process gets to exit after its last request, before SIGKILL."""
STARTUP_PERIOD_SECONDS: Final = 2


@dataclass(frozen=True, slots=True)
class ShutdownTiming:
    """Whole seconds; `grace` is always `PRE_STOP_SECONDS + drain + MARGIN_SECONDS`."""

    drain: int
    """`--shutdown-timeout`: how long running requests may go on after SIGTERM."""
    grace: int
    """`terminationGracePeriodSeconds` of the pod."""


def shutdown_timing(spec: SpecDecDeploymentSpec) -> ShutdownTiming:
    """Derive both numbers from `pod.terminationGracePeriodSeconds` if it is set, else from `rollout.drainTimeout`."""
    around = PRE_STOP_SECONDS + MARGIN_SECONDS
    grace = spec.pod.termination_grace_period_seconds
    if grace is None:
        grace = max(math.ceil(parse_duration(spec.rollout.drain_timeout)), 1) + around
    return ShutdownTiming(drain=grace - around, grace=grace)


def startup_failures(startup_timeout: str) -> int:
    """Return the failureThreshold with which probes every STARTUP_PERIOD_SECONDS last for `startup_timeout`.

    One more than the quotient, because the first probe may come at once.
    """
    return math.ceil(parse_duration(startup_timeout) / STARTUP_PERIOD_SECONDS) + 1
