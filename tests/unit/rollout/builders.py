"""Pods and fleets as the planner sees them, healthy unless a test says otherwise."""

from dataclasses import replace
from typing import Any

from specdec_operator.api.spec import RolloutSpec
from specdec_operator.rollout.fleet import FleetView, MethodOnPod, Plan, PodView

NOW = 100_000.0
EAGLE = MethodOnPod("eagle3", '{"method":"eagle3","num_speculative_tokens":3}')
NONE = MethodOnPod("none", "null")


def pod(ordinal: int, method: MethodOnPod = EAGLE, **changes: Any) -> PodView:
    """Return a pod that has served for a long time, with no request right now."""
    serving = PodView(
        name=f"llama-{ordinal}",
        uid=f"uid-{ordinal}",
        resource_version="7",
        ordinal=ordinal,
        method=method.name,
        config=method.config,
        serving=True,
        ready=True,
        created_at=1000.0,
        container_id=f"containerd://first-{ordinal}",
        started_at=1010.0,
        ready_changed_at=1100.0,
        grace_seconds=625.0,
        spec_hash="h1",
        requests=0.0,
    )
    return replace(serving, **changes)


def draining(ordinal: int, method: MethodOnPod = EAGLE, **changes: Any) -> PodView:
    """Return a pod that left its Service 20 seconds ago and still has 3 requests."""
    left = {"serving": False, "drain_started_at": NOW - 20, "requests": 3.0}
    return pod(ordinal, method, **(left | changes))


def told(ordinal: int, method: MethodOnPod = NONE, **changes: Any) -> PodView:
    """Return a pod that was told 10 seconds ago to run `method`; its old engine still runs and says Ready."""
    order = {
        "drain_started_at": NOW - 60,
        "method_set_at": NOW - 10,
        "replaces_container": f"containerd://first-{ordinal}",
        "restarts_when_set": 0,
        "requests": 0.0,
    }
    return draining(ordinal, method, **(order | changes))


def restarted(ordinal: int, method: MethodOnPod = NONE, **changes: Any) -> PodView:
    """Return a pod that was told a minute ago, restarted, and is Ready since 5 seconds."""
    again = {
        "method_set_at": NOW - 60,
        "container_id": f"containerd://second-{ordinal}",
        "started_at": NOW - 50,
        "ready_changed_at": NOW - 5,
        "restarts": 1,
    }
    return told(ordinal, method, **(again | changes))


def crashing(ordinal: int, method: MethodOnPod = NONE, **changes: Any) -> PodView:
    """Return a pod that was told a minute ago and whose new engine has ended once; the kubelet waits."""
    ended = {
        "ready": False,
        "container_id": None,
        "started_at": None,
        "ready_changed_at": NOW - 50,
        "waiting_reason": "CrashLoopBackOff",
        "last_exit": "Error (exit code 1)",
    }
    return restarted(ordinal, method, **(ended | changes))


def pending(ordinal: int, method: MethodOnPod = EAGLE, **changes: Any) -> PodView:
    """Return a pod that has waited for an accelerator for 3 minutes."""
    waiting = {
        "ready": False,
        "scheduled": False,
        "created_at": NOW - 180,
        "pending_reason": "Unschedulable: 0/3 nodes are available: 3 Insufficient nvidia.com/gpu.",
        "container_id": None,
        "started_at": None,
        "ready_changed_at": None,
        "requests": None,
    }
    return pod(ordinal, method, **(waiting | changes))


def fleet(*pods: PodView, rollout: dict[str, Any] | None = None, **changes: Any) -> FleetView:
    """Return a fleet that is to switch from eagle3 to none."""
    counted = sum(pod.serving and pod.ready and not pod.terminating for pod in pods)
    view = FleetView(
        now=NOW,
        replicas=len(pods),
        rollout=RolloutSpec.model_validate(rollout or {}),
        target=NONE,
        fallback=EAGLE,
        spec_hash="h1",
        statefulset_current=True,
        budget_observed=True,
        budget_serving=counted,
        suspended=False,
        namespace="serving",
        switch_started_at=NOW - 600,
        pods=pods,
    )
    return replace(view, **changes)


def acts(plan: Plan) -> list[str]:
    """Return the steps in short: "SetMethod llama-0 none"."""
    return [_short(step) for step in plan.steps]


def _short(step: Any) -> str:
    parts = [type(step).__name__]
    if hasattr(step, "pod"):
        parts.append(step.pod.name)
    if hasattr(step, "method"):
        parts.append(getattr(step.method, "name", step.method))
    if getattr(step, "force", False):
        parts.append("by force")
    return " ".join(parts)
