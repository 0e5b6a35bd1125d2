"""Which method: what the pods run, what is in force, what may be chosen. Pure."""

from collections import Counter
from collections.abc import Iterable

from specdec_operator.api.names import METHOD_ANNOTATION, NONE_METHOD
from specdec_operator.api.quantities import parse_decimal
from specdec_operator.api.spec import MethodSpec, SpecDecDeploymentSpec
from specdec_operator.api.status import MethodStatus
from specdec_operator.controller.snapshot import Snapshot
from specdec_operator.controller.times import unix
from specdec_operator.engine.render import render_method
from specdec_operator.policy.decision import MethodView
from specdec_operator.rollout.fleet import MethodOnPod, PodView


def method_on_pod(spec: SpecDecDeploymentSpec, name: str) -> MethodOnPod:
    """Render a method as a pod carries it.

    Raises:
        KeyError: if there is no such method.
    """
    rendered = render_method(spec, name)
    return MethodOnPod(name=rendered.name, config=rendered.config)


def usable(snapshot: Snapshot, name: str) -> bool:
    """Say whether the method is in the spec and the engine release runs it."""
    if name == NONE_METHOD:
        return True
    return snapshot.spec.method(name) is not None and name not in snapshot.understanding.unsupported


def running_method(snapshot: Snapshot) -> str | None:
    """Return what most of the pods that serve run; None while none serves. A draw goes to what is in status."""
    known = snapshot.status.active.method if snapshot.status.active else None
    return _majority(snapshot.serving, known) or _majority(filter(_is_ready, snapshot.living), known)


def _is_ready(pod: PodView) -> bool:
    return pod.ready


def _majority(pods: Iterable[PodView], known: str | None) -> str | None:
    counts = Counter(pod.method for pod in pods if pod.method)
    if not counts:
        return None
    most = max(counts.values())
    leaders = [method for method, count in counts.items() if count == most]
    return known if known in leaders else leaders[0]


def standing_method(snapshot: Snapshot) -> str | None:
    """Return the method that is in force before anything is decided; None for an object that has nothing yet.

    That is the target in status; with status lost, what the pods run, else what the StatefulSet would start. It may
    have left the spec since.
    """
    stored = snapshot.status.target.method if snapshot.status.target else None
    return stored or running_method(snapshot) or _majority(snapshot.living, None) or _template_method(snapshot)


def _template_method(snapshot: Snapshot) -> str | None:
    stateful_set = snapshot.children.stateful_set or {}
    metadata = stateful_set.get("spec", {}).get("template", {}).get("metadata", {})
    method: str | None = (metadata.get("annotations") or {}).get(METHOD_ANNOTATION)
    return method


def method_views(snapshot: Snapshot) -> tuple[MethodView, ...]:
    """Return the methods of the spec as the policy sees them, in order of preference."""
    records = {record.name: record for record in snapshot.status.methods}
    return tuple(_view(snapshot, method, records.get(method.name)) for method in snapshot.spec.speculation.methods)


def _view(snapshot: Snapshot, method: MethodSpec, record: MethodStatus | None) -> MethodView:
    refused = snapshot.understanding.unsupported.get(method.name)
    expected = method.expected_acceptance_length
    return MethodView(
        name=method.name,
        supported=refused is None,
        unsupported_message=refused.message if refused else "",
        quarantined_until=quarantined_until(snapshot, record),
        num_speculative_tokens=method.num_speculative_tokens or 1,
        acceptance_length=parse_decimal(expected) if expected is not None else None,
        break_even_concurrency=method.break_even_concurrency,
    )


def quarantined_until(snapshot: Snapshot, record: MethodStatus | None) -> float | None:
    """Return when the quarantine of a method ends; None when it is in none, or the user asked for a retry."""
    if record is None or snapshot.requested_anew is not None:
        return None
    until = unix(record.retry_at)
    return until if until is not None and until > snapshot.now else None
