"""Whatever happens, the fleet ends up as wanted and nothing is lost on the way."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from tests.unit.rollout.model_cluster import BROKEN, EAGLE, HEALTHY, NGRAM, NONE, ROLLOUT, ModelCluster

from specdec_operator.rollout.fleet import SetMethod

SEEDS = st.integers(min_value=0, max_value=2**32)


def running_fleet(seed: int, replicas: int, max_unavailable: int) -> ModelCluster:
    """Return a cluster whose replicas all serve."""
    rollout = ROLLOUT.model_copy(update={"max_unavailable": max_unavailable})
    cluster = ModelCluster(seed=seed, replicas=replicas, rollout=rollout)
    cluster.run_until_settled(60)
    return cluster


def restarts(cluster: ModelCluster) -> int:
    """Count the restarts that the planner asked for."""
    return sum(isinstance(step, SetMethod) for step in cluster.steps)


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.integers(1, 4), st.integers(1, 2))
def test_a_switch_restarts_every_engine_once_in_its_pod(seed: int, replicas: int, max_unavailable: int) -> None:
    """Uids stay, each engine restarts once, and no request is cut."""
    cluster = running_fleet(seed, replicas, max_unavailable)
    uids = {pod.uid for pod in cluster.pods.values()}

    cluster.switch_to(NONE)
    cluster.run_until_settled(replicas * 90)

    assert {pod.uid for pod in cluster.pods.values()} == uids
    assert [pod.restarts for pod in cluster.pods.values()] == [1] * replicas
    assert restarts(cluster) == replicas


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.floats(0, 60), st.floats(0, 60))
def test_switches_in_quick_succession_end_with_the_last_one(seed: int, first: float, second: float) -> None:
    """Two changes of mind, in both directions, at any distance."""
    cluster = running_fleet(seed, 3, 1)

    cluster.switch_to(NONE)
    cluster.run(first)
    cluster.switch_to(NGRAM)
    cluster.run(second)
    cluster.switch_to(NONE)

    cluster.run_until_settled(600)
    assert not cluster.given_up


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.floats(0, 40))
def test_a_switch_taken_back_while_its_first_pod_drains_restarts_at_most_that_pod(seed: int, seconds: float) -> None:
    """A pod that has not been told yet goes back as it is."""
    cluster = running_fleet(seed, 3, 1)
    cluster.switch_to(NONE)
    while not cluster.steps:
        cluster.run(0.5)
    told_before = restarts(cluster)

    cluster.switch_to(EAGLE)
    cluster.run_until_settled(60)

    assert told_before == restarts(cluster) == 0


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.sampled_from(BROKEN), st.integers(2, 4), st.integers(1, 2))
def test_a_target_that_does_not_come_up_is_put_back_and_spreads_no_further(
    seed: int, broken: object, replicas: int, max_unavailable: int
) -> None:
    """At most maxUnavailable pods ever see it; the others are never touched."""
    cluster = running_fleet(seed, replicas, max_unavailable)

    cluster.switch_to(broken)
    cluster.run_until_settled(600)

    assert cluster.target == EAGLE
    assert [order.method for order in cluster.given_up] == [broken.name]
    told = {step.pod.uid for step in cluster.steps if isinstance(step, SetMethod)}
    assert len(told) <= max_unavailable


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.floats(0, 90), st.floats(0, 300))
def test_an_operator_that_is_down_for_a_while_changes_nothing_in_the_end(seed: int, before: float, down: float) -> None:
    """The same end and no extra restart."""
    cluster = running_fleet(seed, 3, 1)
    cluster.switch_to(NONE)
    cluster.run(before)
    cluster.run(down, operator=False)

    cluster.run_until_settled(400)

    assert [pod.restarts for pod in cluster.pods.values()] == [1, 1, 1]


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.integers(1, 4))
def test_a_change_of_spec_replaces_every_pod_once(seed: int, replicas: int) -> None:
    """Each replica gets one new pod, after the last one is Ready."""
    cluster = running_fleet(seed, replicas, 1)
    uids = {pod.uid for pod in cluster.pods.values()}

    cluster.change_spec()
    cluster.run_until_settled(replicas * 90)

    assert not uids & {pod.uid for pod in cluster.pods.values()}
    assert [pod.restarts for pod in cluster.pods.values()] == [0] * replicas


class Fleet(RuleBasedStateMachine):
    """Everything that can happen to a fleet, in any order; the model checks each moment."""

    @initialize(seed=SEEDS, replicas=st.integers(1, 4), max_unavailable=st.integers(1, 2))
    def start(self, seed: int, replicas: int, max_unavailable: int) -> None:
        """Begin with a running fleet."""
        self.cluster = running_fleet(seed, replicas, max_unavailable)

    @rule(seconds=st.floats(0.5, 40))
    def time_passes(self, seconds: float) -> None:
        """Let the operator work."""
        self.cluster.run(seconds)

    @rule(seconds=st.floats(0.5, 90))
    def operator_is_down(self, seconds: float) -> None:
        """Let time pass without it."""
        self.cluster.run(seconds, operator=False)

    @rule(method=st.sampled_from(HEALTHY))
    def policy_switches(self, method: object) -> None:
        """Change the target at any moment."""
        self.cluster.switch_to(method)

    @precondition(lambda self: self.cluster.fallback is None and self.cluster.target == self.cluster.proven)
    @rule(method=st.sampled_from(BROKEN))
    def policy_switches_to_a_broken_method(self, method: object) -> None:
        """Change to a method that does not come up."""
        self.cluster.switch_to(method)

    @rule()
    def user_changes_spec(self) -> None:
        """Change a field that only new pods take up."""
        self.cluster.change_spec()

    @rule(replicas=st.integers(0, 4))
    def autoscaler_scales(self, replicas: int) -> None:
        """Change the number of replicas at any moment."""
        self.cluster.replicas = replicas

    @precondition(lambda self: self.cluster.pods)
    @rule(data=st.data())
    def pod_is_deleted(self, data: st.DataObject) -> None:
        """Let an eviction or a user delete any pod."""
        self.cluster.end_pod(data.draw(st.sampled_from(sorted(self.cluster.pods))))

    @precondition(lambda self: self.cluster.pods)
    @rule(data=st.data())
    def engine_crashes(self, data: st.DataObject) -> None:
        """Let an engine die for a reason of its own."""
        self.cluster.pods[data.draw(st.sampled_from(sorted(self.cluster.pods)))].crash(self.cluster.now)

    @precondition(lambda self: self.cluster.pods)
    @rule(data=st.data(), seconds=st.floats(1, 20))
    def readiness_blinks(self, data: st.DataObject, seconds: float) -> None:
        """Let a busy engine miss its probes for a moment."""
        pod = self.cluster.pods[data.draw(st.sampled_from(sorted(self.cluster.pods)))]
        pod.unready_until = self.cluster.now + seconds

    @precondition(lambda self: self.cluster.pods)
    @rule(data=st.data())
    def node_is_lost(self, data: st.DataObject) -> None:
        """Let a node vanish for longer than the toleration."""
        pod = self.cluster.pods[data.draw(st.sampled_from(sorted(self.cluster.pods)))]
        pod.node_lost, pod.ready, pod.terminating_at, pod.version = True, False, self.cluster.now, pod.version + 1

    @rule(accelerators=st.integers(1, 4))
    def stranger_takes_accelerators(self, accelerators: int) -> None:
        """Leave fewer accelerators for new pods."""
        self.cluster.accelerators = accelerators

    @rule(suspended=st.booleans())
    def user_suspends(self, suspended: bool) -> None:
        """Suspend or resume."""
        self.cluster.suspended = suspended

    def teardown(self) -> None:
        """In the end, with accelerators enough, everything is as wanted."""
        if hasattr(self, "cluster"):
            self.cluster.accelerators, self.cluster.suspended = 16, False
            self.cluster.run_until_settled(3000)
            assert self.cluster.target in HEALTHY or self.cluster.replicas == 0


TestFleet = pytest.mark.timeout(240)(Fleet.TestCase)
Fleet.TestCase.settings = settings(
    max_examples=60, stateful_step_count=12, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
