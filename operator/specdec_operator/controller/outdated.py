"""Which times of `rollout` the running pods do not have yet, because taking them up would cost a restart. Pure."""

from specdec_operator.api.names import ENGINE_CONTAINER, RESTARTED_AT_ANNOTATION, SPEC_HASH_ANNOTATION
from specdec_operator.controller.snapshot import Snapshot
from specdec_operator.engine.findings import Finding, warning
from specdec_operator.engine.timing import shutdown_timing, startup_failures
from specdec_operator.ports import JsonObject

_REMEDY = f"restart the pods one by one with a new value of the annotation {RESTARTED_AT_ANNOTATION}"


def outdated_times(snapshot: Snapshot) -> tuple[Finding, ...]:
    """Return a warning for each of startupTimeout and drainTimeout that a pod was made with another value of.

    A pod that is going anyway, or that will be replaced because of another field, has nothing to tell.
    """
    spec = snapshot.understanding.spec
    if spec is None:
        return ()
    staying = [pod for pod in snapshot.children.pods if _stays(snapshot, pod)]
    startup = sum(_differs(_startup_failures(pod), startup_failures(spec.rollout.startup_timeout)) for pod in staying)
    grace = sum(_differs(_grace(pod), shutdown_timing(spec).grace) for pod in staying)
    found = (
        ("startupTimeout", spec.rollout.startup_timeout, startup),
        ("drainTimeout", spec.rollout.drain_timeout, grace),
    )
    return tuple(_told(field, value, count) for field, value, count in found if count)


def _told(field: str, value: str, count: int) -> Finding:
    one = count == 1
    made = "1 running pod was made" if one else f"{count} running pods were made"
    whose = "its engine" if one else "their engines"
    message = f"{made} with another value than {value}, which stays in force for {whose}"
    return warning(f"spec.rollout.{field}", message, _REMEDY, rule="times-of-running-pods")


def _stays(snapshot: Snapshot, pod: JsonObject) -> bool:
    metadata = pod["metadata"]
    same = (metadata.get("annotations") or {}).get(SPEC_HASH_ANNOTATION) == snapshot.spec_hash
    return same and metadata.get("deletionTimestamp") is None


def _differs(carried: int | None, wanted: int) -> bool:
    """Say whether the pod is known to carry another value."""
    return carried is not None and carried != wanted


def _grace(pod: JsonObject) -> int | None:
    grace: int | None = (pod.get("spec") or {}).get("terminationGracePeriodSeconds")
    return grace


def _startup_failures(pod: JsonObject) -> int | None:
    containers = (pod.get("spec") or {}).get("containers") or ()
    engine: JsonObject = next((each for each in containers if each.get("name") == ENGINE_CONTAINER), {})
    failures: int | None = (engine.get("startupProbe") or {}).get("failureThreshold")
    return failures
