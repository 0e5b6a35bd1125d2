"""Steps, as the API server is asked for them."""

import pytest
from tests.unit.controller.builders import NOW, make_body, make_children, make_pod, make_snapshot
from tests.unit.controller.fakes import FakeCluster

from specdec_operator.api.names import SERVING_LABEL
from specdec_operator.controller.apply import StepTaker
from specdec_operator.controller.snapshot import Snapshot
from specdec_operator.controller.times import rfc3339
from specdec_operator.ports import ClusterError, Failure, PodPatch
from specdec_operator.rollout.fleet import (
    DeletePod,
    LeaveService,
    MethodOnPod,
    Rejoin,
    SetMethod,
    Step,
    TouchBudget,
)

BODY = make_body()
OTHER = MethodOnPod("ngram", '{"method":"ngram"}')


@pytest.fixture(name="snapshot")
def _snapshot() -> Snapshot:
    return make_snapshot(BODY, make_children(BODY, make_pod(BODY, 0), make_pod(BODY, 1)))


async def taken(snapshot: Snapshot, *steps: Step) -> list[tuple[str, object]]:
    """Take steps and return the calls."""
    cluster = FakeCluster(BODY)
    await StepTaker(cluster, snapshot).take(steps)
    return cluster.calls


async def test_leaving_takes_label_and_notes_time_in_one_patch(snapshot: Snapshot) -> None:
    """The start of the drain survives the operator, and the patch is fenced by what was read."""
    ((name, patch),) = await taken(snapshot, LeaveService(snapshot.pods[0]))
    assert name == "patch_pod"
    assert patch == PodPatch(
        namespace="serving",
        name="llama-0",
        uid="pod-0",
        resource_version="1",
        labels={SERVING_LABEL: None},
        annotations={"specdec.dev/drain-started-at": rfc3339(NOW)},
    )


async def test_setting_a_method_records_what_it_replaces(snapshot: Snapshot) -> None:
    """Container, restarts and time: by them the next process knows whether the restart has happened."""
    ((_, patch),) = await taken(snapshot, SetMethod(snapshot.pods[1], OTHER))
    assert isinstance(patch, PodPatch)
    assert patch.annotations == {
        "specdec.dev/method": "ngram",
        "specdec.dev/speculative-config": '{"method":"ngram"}',
        "specdec.dev/method-set-at": rfc3339(NOW),
        "specdec.dev/replaces-container": "id-1",
        "specdec.dev/restarts-when-set": "0",
    }
    assert patch.labels == {}


async def test_another_name_for_the_same_config_restarts_nothing(snapshot: Snapshot) -> None:
    """Only the name is written."""
    same = MethodOnPod("renamed", snapshot.pods[0].config)
    ((_, patch),) = await taken(snapshot, SetMethod(snapshot.pods[0], same))
    assert isinstance(patch, PodPatch)
    assert patch.annotations == {"specdec.dev/method": "renamed"}


async def test_a_pod_goes_back_without_the_start_of_its_drain(snapshot: Snapshot) -> None:
    """What the last setting recorded stays."""
    ((_, patch),) = await taken(snapshot, Rejoin(snapshot.pods[0]))
    assert isinstance(patch, PodPatch)
    assert patch.labels == {SERVING_LABEL: "true"}
    assert patch.annotations == {"specdec.dev/drain-started-at": None}


async def test_a_second_patch_of_a_pod_is_fenced_by_the_first(snapshot: Snapshot) -> None:
    """Else it would be refused by our own write."""
    pod = snapshot.pods[0]
    calls = await taken(snapshot, LeaveService(pod), SetMethod(pod, OTHER), LeaveService(snapshot.pods[1]))
    assert [patch.resource_version for _, patch in calls] == ["1", "1+", "1"]  # type: ignore[attr-defined]


async def test_a_pod_is_deleted_by_its_uid(snapshot: Snapshot) -> None:
    """A successor of the same name is safe."""
    calls = await taken(snapshot, DeletePod(snapshot.pods[0]), DeletePod(snapshot.pods[1], force=True))
    assert [argument for _, argument in calls] == [
        ("serving", "llama-0", "pod-0", False),
        ("serving", "llama-1", "pod-1", True),
    ]


async def test_the_budget_is_touched_by_an_annotation(snapshot: Snapshot) -> None:
    """Its controller looks again at every change of the object."""
    ((name, annotations),) = await taken(snapshot, TouchBudget())
    assert (name, annotations) == ("annotate_budget", {"specdec.dev/touched-at": rfc3339(NOW)})


async def test_a_budget_that_is_gone_is_an_error_for_the_queue() -> None:
    """The next pass makes a new one first."""
    with pytest.raises(ClusterError) as caught:
        await taken(make_snapshot(BODY), TouchBudget())
    assert caught.value.failure is Failure.NOT_FOUND


async def test_after_a_step_that_fails_no_other_is_taken(snapshot: Snapshot) -> None:
    """Steps are ordered."""
    cluster = FakeCluster(BODY, fails={"patch_pod": ClusterError(Failure.CONFLICT, "changed")})
    with pytest.raises(ClusterError):
        await StepTaker(cluster, snapshot).take([LeaveService(snapshot.pods[0]), TouchBudget()])
    assert cluster.named() == ["patch_pod"]
