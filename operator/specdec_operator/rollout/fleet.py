"""The fleet of one object as the step planner sees it, and the actions it can ask for."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from specdec_operator.api.conditions import Condition, Reason
from specdec_operator.api.spec import RolloutSpec
from specdec_operator.api.status import RolloutKind


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
    ready_changed_at: float | None = None
    """When `ready` last changed: lastTransitionTime of the condition Ready; None unknown."""
    grace_seconds: float = 600.0
    """`terminationGracePeriodSeconds`: the longest that a container may take to end."""
    drain_started_at: float | None = None
    method_set_at: float | None = None
    replaces_container: str | None = None
    """The container that still ran the old method when the new one was set; empty when none ran."""
    restarts_when_set: int | None = None
    """`restarts` when the method was set, so that exits since then can be counted; None unknown."""
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
    namespace: str = ""
    """Namespace of the object, for commands that messages tell the user to run."""
    switch_started_at: float | None = None
    """When the switch on its way began, None unknown. Pods that had the target before it do not speak against it
    while others serve with it."""
    budget_touched_at: float | None = None
    """When the budget was last touched (whole Unix seconds), None never or unknown."""
    pods: tuple[PodView, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class LeaveService:
    """Remove the serving label and note the start of the drain, in one patch."""

    pod: PodView


@dataclass(frozen=True, slots=True)
class TouchBudget:
    """Write an annotation of the PodDisruptionBudget: its controller does not see a label go.

    A plan asks for it right after LeaveService, and again at times while the budget still counts pods that have left.
    """


@dataclass(frozen=True, slots=True)
class SetMethod:
    """Annotate the pod with the method.

    If `method.config` differs from `pod.config` the engine restarts, and the same patch records what it replaces:
    `pod.container_id` (empty when none runs), `pod.restarts` and the time. If only the name differs, only the name
    is written: nothing restarts.
    """

    pod: PodView
    method: MethodOnPod


@dataclass(frozen=True, slots=True)
class Rejoin:
    """Put the serving label back and remove the start of the drain.

    What the last SetMethod recorded stays: it tells exits of this method's engine from earlier ones.
    """

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
    kind: RolloutKind | None = None
    """Whether pods are switched or replaced; None when idle."""
    reconciling: Condition | None = None
    """The condition Reconciling=True while pods are replaced because the spec changed; None otherwise."""
    settled: bool = False
    """The switch or rollout is over: every pod there is has the target and the spec, none is out of service by our
    acts, and, with a fallback, at least one serves with the target."""
    details: Mapping[str, str] = field(default_factory=dict)
    """Facts that move too often for a condition's message, such as the number of requests still running."""
