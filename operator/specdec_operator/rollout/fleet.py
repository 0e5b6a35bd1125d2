"""The fleet of one object as the step planner sees it, and the actions it can ask for."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from specdec_operator.api.conditions import Condition, Reason
from specdec_operator.api.spec import RolloutSpec


@dataclass(frozen=True, slots=True)
class MethodOnPod:
    """What is put on a pod to make its engine run a method."""

    name: str
    config: str
    """JSON of `--speculative-config`, "null" for plain decoding."""


@dataclass(frozen=True, slots=True)
class PodView:
    """One pod of the StatefulSet. All times are Unix seconds."""

    name: str
    uid: str
    resource_version: str
    ordinal: int
    method: str
    """Annotation specdec.dev/method: what its engine runs or will run after its next start."""
    config: str
    """Annotation specdec.dev/speculative-config."""
    serving: bool
    """It has the label that its Service selects."""
    ready: bool
    """The kubelet says Ready; true also for a short while after the method was set and before the restart."""
    created_at: float
    terminating: bool = False
    scheduled: bool = True
    pending_reason: str = ""
    """Why it is not scheduled or its container does not start, in Kubernetes' words."""
    container_id: str | None = None
    """Id of the running container; None when none runs."""
    started_at: float | None = None
    restarts: int = 0
    waiting_reason: str = ""
    """Reason of a container that waits: CrashLoopBackOff, ImagePullBackOff, ..."""
    last_exit: str = ""
    """How the last container ended, such as "Error (exit code 1)"."""
    drain_started_at: float | None = None
    method_set_at: float | None = None
    replaces_container: str | None = None
    """The container that still ran the old method when the new one was set."""
    spec_hash: str = ""
    node_lost: bool = False
    requests: float | None = None
    """Running plus waiting requests: asked of the pod itself, else the last value of the metrics; None unknown."""


@dataclass(frozen=True, slots=True)
class FleetView:
    """Everything one planning step depends on."""

    now: float
    replicas: int
    """`spec.replicas`."""
    rollout: RolloutSpec
    target: MethodOnPod
    """What all pods are to run."""
    fallback: MethodOnPod | None
    """What they ran before the switch that is on its way; None when no switch is."""
    spec_hash: str
    """Digest of the pod-relevant fields of the present spec."""
    statefulset_current: bool
    """The StatefulSet carries this target and this spec."""
    budget_observed: bool
    """The PodDisruptionBudget's status has seen its last touch (its observedGeneration is its generation)."""
    budget_serving: int | None
    """`status.currentHealthy` of the budget; None when unknown."""
    suspended: bool
    pods: tuple[PodView, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class LeaveService:
    """Remove the serving label and note the start of the drain, in one patch; then touch the budget."""

    pod: PodView


@dataclass(frozen=True, slots=True)
class TouchBudget:
    """Write an annotation of the PodDisruptionBudget: its controller does not see a label go."""


@dataclass(frozen=True, slots=True)
class SetMethod:
    """Annotate the pod with the method and with the container that is to end."""

    pod: PodView
    method: MethodOnPod


@dataclass(frozen=True, slots=True)
class Rejoin:
    """Put the serving label back and remove the drain's annotations."""

    pod: PodView


@dataclass(frozen=True, slots=True)
class DeletePod:
    """Delete the pod so that its successor takes up the new template."""

    pod: PodView
    force: bool = False


@dataclass(frozen=True, slots=True)
class GiveUpTarget:
    """The target does not come up: make the fallback the target again and quarantine the method."""

    method: str
    reason: Reason
    message: str


Step = LeaveService | TouchBudget | SetMethod | Rejoin | DeletePod | GiveUpTarget


@dataclass(frozen=True, slots=True)
class Plan:
    """The next steps, what to tell the user, and when to look again at the latest (seconds)."""

    steps: tuple[Step, ...]
    switching: Condition
    """The condition Switching."""
    phase: str | None = None
    """A value of `RolloutStep` for status.rollout.step, None when idle."""
    pod: str | None = None
    updated_replicas: int = 0
    look_again: float | None = None
    stalled: Condition | None = None
    """The condition Stalled=True when the fleet cannot go on; None otherwise."""
    details: Mapping[str, str] = field(default_factory=dict)
