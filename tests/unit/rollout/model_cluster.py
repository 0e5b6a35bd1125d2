"""A small model of a cluster: StatefulSet controller, scheduler, disruption controller, clients and our controller.

Checks while it runs what must hold at every moment; raises AssertionError at the moment it does not.
"""

import random
from dataclasses import dataclass, field

from tests.unit.rollout.model_kubelet import Engine, ModelPod

from specdec_operator.api.spec import RolloutSpec
from specdec_operator.rollout.fleet import (
    DeletePod,
    FleetView,
    GiveUpTarget,
    LeaveService,
    MethodOnPod,
    Plan,
    Rejoin,
    SetMethod,
    Step,
    TouchBudget,
)
from specdec_operator.rollout.plan import plan

TICK = 0.5
EAGLE = MethodOnPod("eagle3", '{"method":"eagle3"}')
NGRAM = MethodOnPod("ngram", '{"method":"ngram"}')
NONE = MethodOnPod("none", "null")
CRASHES = MethodOnPod("crashes", '{"method":"crashes"}')
HANGS = MethodOnPod("hangs", '{"method":"hangs"}')
HEALTHY = (EAGLE, NGRAM, NONE)
BROKEN = (CRASHES, HANGS)
ENGINES = {
    EAGLE.config: Engine(start=6.0),
    NGRAM.config: Engine(start=4.0),
    NONE.config: Engine(start=3.0),
    CRASHES.config: Engine(start=20.0, crash=3.0),
    HANGS.config: Engine(start=None),
}
ROLLOUT = RolloutSpec.model_validate({"startupTimeout": "60s", "drainTimeout": "30s", "singleReplica": "Restart"})
LONGEST_REQUEST = 25.0
"""Requests are shorter than `drainTimeout`, less the time for which they still come after a pod left."""


@dataclass
class ModelCluster:
    """One object with its pods. `accelerators` is what the cluster has left for it."""

    seed: int = 0
    replicas: int = 3
    rollout: RolloutSpec = ROLLOUT
    target: MethodOnPod = EAGLE
    accelerators: int = 16
    load: float = 0.3
    """New requests a tick and serving pod."""
    now: float = 1000.0
    spec_hash: str = "h1"
    fallback: MethodOnPod | None = None
    switch_started_at: float | None = None
    proven: MethodOnPod = EAGLE
    template: tuple[MethodOnPod, str] = (EAGLE, "h1")
    suspended: bool = False
    pods: dict[int, ModelPod] = field(default_factory=dict)
    budget_serving: int = 0
    budget_touched_at: float | None = None
    budget_due: float | None = None
    steps: list[Step] = field(default_factory=list)
    given_up: list[GiveUpTarget] = field(default_factory=list)
    last: Plan | None = None
    cut: int = 0
    writes: int = 0

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)

    # What users and the policy do.

    def switch_to(self, method: MethodOnPod) -> None:
        """Make `method` the target, as the controller does after a decision."""
        if method == self.target:
            return
        self.target = method
        self.fallback = self.proven if self.proven != method else None
        self.switch_started_at = self.now

    def change_spec(self) -> None:
        """Change a field that only a new pod can take up."""
        self.spec_hash = f"h{int(self.spec_hash[1:]) + 1}"

    # Time.

    def run(self, seconds: float, *, operator: bool = True) -> None:
        """Let time pass; the operator looks about every second, unless it is down."""
        end = self.now + seconds
        while self.now < end:
            self.tick()
            if operator and self.rng.random() < 0.4:
                self.reconcile()

    def run_until_settled(self, limit: float) -> None:
        """Let time pass until every pod serves with the target; fail if that takes longer than `limit` seconds."""
        end = self.now + limit
        while not self.is_wanted():
            assert self.now < end, f"not settled: {self.target.name}, {self.last}"
            self.tick()
            if self.rng.random() < 0.4:
                self.reconcile()

    def is_wanted(self) -> bool:
        """Say whether each replica serves with the target and the present spec, and the planner has no more to do."""
        return (
            sorted(self.pods) == list(range(self.replicas))
            and all(self._as_wanted(pod) for pod in self.pods.values())
            and self.last is not None
            and (self.last.settled or self.replicas == 0)
        )

    def _as_wanted(self, pod: ModelPod) -> bool:
        runs = pod.container is not None and pod.container.config == self.target.config == pod.config
        return runs and pod.serving and pod.ready and pod.method == self.target.name and pod.spec_hash == self.spec_hash

    def tick(self) -> None:
        """Let the kubelets, the scheduler and the other controllers do what is due."""
        self.now += TICK
        for pod in list(self.pods.values()):
            counted = pod.serving and pod.ready
            pod.step(self.now, ENGINES)
            if pod.serving and counted != (pod.serving and pod.ready):
                self.budget_due = self.now + TICK  # it does see changes of pods that have the label
            if pod.takes_requests(self.now) and self.rng.random() < self.load:
                pod.requests.append(self.now + self.rng.uniform(0.5, LONGEST_REQUEST))
        self._stateful_set()
        self._schedule()
        if self.budget_due is not None and self.now >= self.budget_due:
            self.budget_due, self.budget_serving = None, self.available()
        self._check()

    def _stateful_set(self) -> None:
        for ordinal, pod in list(self.pods.items()):
            if ordinal >= self.replicas and pod.terminating_at is None:
                self.end_pod(ordinal)
            if pod.terminating_at is not None and self.now >= pod.terminating_at and not pod.node_lost:
                self._remove(ordinal)
        for ordinal in range(self.replicas):
            if ordinal not in self.pods:
                method, spec_hash = self.template
                self.pods[ordinal] = ModelPod(
                    ordinal, method.config, method.name, spec_hash, float(int(self.now)), self.rng
                )

    def _schedule(self) -> None:
        free = self.accelerators - sum(pod.scheduled for pod in self.pods.values())
        for pod in self.pods.values():
            if free > 0 and not pod.scheduled and pod.terminating_at is None:
                pod.scheduled, pod.next_start, pod.ready_changed_at = True, self.now + 1.0, self.now
                pod.version += 1
                free -= 1

    def _remove(self, ordinal: int) -> None:
        self.pods.pop(ordinal)
        self.budget_due = self.now + TICK

    def end_pod(self, ordinal: int) -> None:
        """Begin to delete a pod, as an eviction, a user or the StatefulSet does: running requests finish first."""
        pod = self.pods[ordinal]
        pod.terminating_at = self.now + self.rng.choice((0.5, 3.0))
        pod.version += 1
        self.budget_due = self.now + TICK

    def available(self) -> int:
        """Count the pods that serve."""
        return sum(pod.serving and pod.ready and pod.terminating_at is None for pod in self.pods.values())

    # Our controller.

    def view(self) -> FleetView:
        """Read everything, as the controller does before it plans."""
        return FleetView(
            now=self.now,
            replicas=self.replicas,
            rollout=self.rollout,
            target=self.target,
            fallback=self.fallback,
            spec_hash=self.spec_hash,
            statefulset_current=self.template == (self.target, self.spec_hash),
            budget_observed=True,
            budget_serving=self.budget_serving,
            budget_touched_at=self.budget_touched_at,
            suspended=self.suspended,
            namespace="serving",
            switch_started_at=self.switch_started_at,
            pods=tuple(pod.view(self.now, reachable=self.rng.random() < 0.95) for pod in self.pods.values()),
        )

    def reconcile(self) -> None:
        """Plan and apply. At times something happens between reading and writing, or the operator dies half-way."""
        if self.template != (self.target, self.spec_hash) and self.rng.random() < 0.7:
            self.template = (self.target, self.spec_hash)
        view = self.view()
        self.last = plan(view)
        if self.rng.random() < 0.05:
            assert self.last == plan(view), "planning twice gives the same plan"
        if self.last.settled and self.target == view.target:
            self.proven, self.fallback, self.switch_started_at = self.target, None, None
        if self.rng.random() < 0.1:
            self.tick()
        for step in self.last.steps:
            if self.rng.random() < 0.05:
                return  # SIGKILL
            self._apply(step)

    def _apply(self, step: Step) -> None:
        self.writes += 1
        match step:
            case TouchBudget():
                self.budget_due, self.budget_touched_at = self.now + TICK, self.now
            case GiveUpTarget():
                assert self.fallback is not None
                self.given_up.append(step)
                self.target, self.fallback = self.fallback, None
            case _:
                pod = self.pods.get(step.pod.ordinal)
                if pod is None or pod.uid != step.pod.uid or str(pod.version) != step.pod.resource_version:
                    return  # the fence
                pod.version += 1
                self._apply_to(pod, step)
        self.steps.append(step)

    def _apply_to(self, pod: ModelPod, step: LeaveService | SetMethod | Rejoin | DeletePod) -> None:
        match step:
            case LeaveService():
                self._leave(pod)
            case SetMethod(method=method):
                self._set_method(pod, method)
            case Rejoin():
                assert pod.container is not None
                assert pod.ready
                assert pod.container.config == pod.config, "a pod goes back before it runs what it was told to"
                pod.serving, pod.drain, pod.left_at = True, None, None
                self.budget_due = self.now + TICK
            case DeletePod(force=force):
                self._delete(pod, force=force)

    def _leave(self, pod: ModelPod) -> None:
        served = pod.serving and pod.ready
        pod.serving, pod.drain, pod.left_at = False, self.now, self.now
        if served:
            missing = self.replicas - sum(
                other.serving and other.ready and other.terminating_at is None
                for other in self.pods.values()
                if other.ordinal < self.replicas
            )
            assert missing <= self.rollout.max_unavailable, "too many replicas out of service by our act"

    def _set_method(self, pod: ModelPod, method: MethodOnPod) -> None:
        if pod.config == method.config:
            pod.method = method.name
            return
        assert not pod.serving, "a pod restarts while it serves"
        pod.replaces = pod.container.id if pod.container else ""
        pod.restarts_when_set = max(pod.restarts, 0)
        pod.earlier_config, pod.config, pod.method = pod.config, method.config, method.name
        pod.set_at = pod.annotated_at = self.now

    def _delete(self, pod: ModelPod, *, force: bool) -> None:
        if force:
            assert pod.node_lost
            self._remove(pod.ordinal)
            return
        assert not pod.serving, "a pod is deleted while it serves"
        self.cut += len(pod.requests)
        self.end_pod(pod.ordinal)

    def _check(self) -> None:
        self.cut += sum(pod.cut for pod in self.pods.values())
        assert self.cut == 0, "a request shorter than drainTimeout was cut"
        assert all(pod.ordinal == ordinal for ordinal, pod in self.pods.items())
