"""From what the API server says about a pod to what the planner sees."""

import pytest
from tests.unit.controller.builders import NOW, make_body, make_pod

from specdec_operator.api.names import (
    DRAIN_ANNOTATION,
    REPLACES_ANNOTATION,
    RESTARTS_ANNOTATION,
    SWITCHED_ANNOTATION,
)
from specdec_operator.controller.pods import pod_view
from specdec_operator.controller.times import rfc3339

BODY = make_body()


def test_a_pod_that_serves() -> None:
    """Everything that the planner asks for is there."""
    view = pod_view(make_pod(BODY, 3), now=NOW, requests=2.0)
    assert (view.name, view.ordinal, view.method) == ("llama-3", 3, "eagle3")
    assert (view.serving, view.ready, view.scheduled, view.terminating) == (True, True, True, False)
    assert (view.container_id, view.started_at, view.restarts) == ("id-3", NOW - 3600, 0)
    assert view.ready_changed_at == NOW - 3600
    assert view.requests == 2.0
    assert view.pending_reason == ""


def test_a_pod_that_was_just_made_has_nothing_yet() -> None:
    """Only name and uid are sure to be there."""
    view = pod_view({"metadata": {"name": "llama-0", "uid": "u"}}, now=NOW)
    assert (view.ready, view.scheduled, view.container_id, view.method) == (False, False, None, "")
    assert view.created_at == NOW


def test_a_pod_without_a_node_says_why() -> None:
    """In the scheduler's words."""
    pod = make_pod(BODY, ready=False)
    del pod["spec"]["nodeName"]
    pod["status"] = {
        "conditions": [
            {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "Insufficient x/gpu"}
        ]
    }
    view = pod_view(pod, now=NOW)
    assert not view.scheduled
    assert view.pending_reason == "Unschedulable: Insufficient x/gpu"


def test_a_container_that_waits_or_ended_says_why() -> None:
    """Reason, exit code, and no container that runs."""
    pod = make_pod(BODY, ready=False)
    pod["status"]["containerStatuses"][0] |= {
        "restartCount": 4,
        "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 40s"}},
        "lastState": {"terminated": {"reason": "Error", "exitCode": 1}},
    }
    view = pod_view(pod, now=NOW)
    assert (view.container_id, view.started_at, view.restarts) == (None, None, 4)
    assert view.waiting_reason == "CrashLoopBackOff"
    assert view.last_exit == "Error (exit code 1)"


def test_other_containers_of_the_pod_do_not_count() -> None:
    """A sidecar may restart as it likes."""
    pod = make_pod(BODY)
    sidecar = {"name": "sidecar", "restartCount": 9, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
    pod["status"]["containerStatuses"].insert(0, sidecar)
    assert pod_view(pod, now=NOW).restarts == 0


def test_what_the_operator_wrote_on_a_pod_is_read_back() -> None:
    """The whole state of a switch is on the pod, so that another process can go on."""
    pod = make_pod(BODY, drained=True)
    pod["metadata"]["annotations"] |= {
        SWITCHED_ANNOTATION: rfc3339(NOW - 5),
        REPLACES_ANNOTATION: "id-0",
        RESTARTS_ANNOTATION: "2",
    }
    view = pod_view(pod, now=NOW)
    assert not view.serving
    assert (view.drain_started_at, view.method_set_at) == (NOW - 10, NOW - 5)
    assert (view.replaces_container, view.restarts_when_set) == ("id-0", 2)


@pytest.mark.parametrize(("name", "value"), [(DRAIN_ANNOTATION, "soon"), (RESTARTS_ANNOTATION, "-1")])
def test_nonsense_in_an_annotation_counts_as_absent(name: str, value: str) -> None:
    """Users can write on pods, too."""
    pod = make_pod(BODY)
    pod["metadata"]["annotations"][name] = value
    view = pod_view(pod, now=NOW)
    assert (view.drain_started_at, view.restarts_when_set) == (None, None)


@pytest.mark.parametrize(("after", "lost"), [(10, False), (29, False), (31, True)])
def test_a_node_counts_as_lost_when_its_kubelet_did_not_end_an_evicted_pod(after: int, *, lost: bool) -> None:
    """The deletion's time already contains the grace period."""
    pod = make_pod(BODY)
    pod["metadata"]["deletionTimestamp"] = rfc3339(NOW)
    evicted = {"type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager"}
    pod["status"]["conditions"].append(evicted)
    assert pod_view(pod, now=NOW + after).node_lost is lost
    pod["status"]["conditions"].pop()
    assert not pod_view(pod, now=NOW + after).node_lost
