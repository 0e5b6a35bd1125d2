"""Times of `rollout` that running pods were made without."""

from typing import Any

import pytest
from tests.unit.controller.builders import condition, make_body, make_children, make_pod, make_snapshot, message

from specdec_operator.adapters.cluster.trim import trim
from specdec_operator.controller.work import Work, work_out
from specdec_operator.ports import ChildKind, Children

Body = dict[str, Any]


def made_pod(body: Body, index: int, **changed: Any) -> Body:
    """Return a pod made from the template that is rendered for this body, as the cache keeps it."""
    pod, template = make_pod(body, index, **changed), make_children(body).stateful_set
    assert template is not None
    return trim(ChildKind.POD, {**pod, "spec": {**template["spec"]["template"]["spec"], **pod["spec"]}})


def after_an_edit(*pods: Body, **rollout: str) -> Work:
    """Return what is worked out when `rollout` is edited while these pods run."""
    body = make_body(rollout=rollout, generation=2)
    children = make_children(body)
    return work_out(make_snapshot(body, Children(children.stateful_set, children.service, children.budget, pods=pods)))


@pytest.mark.parametrize(
    ("edit", "field"),
    [({"startupTimeout": "45m"}, "spec.rollout.startupTimeout"), ({"drainTimeout": "5m"}, "spec.rollout.drainTimeout")],
    ids=["startup", "drain"],
)
def test_a_time_that_running_pods_do_not_have_is_told(edit: dict[str, str], field: str) -> None:
    """The edit restarts nothing; the user learns that, and what to do to have it everywhere."""
    before = make_body()

    work = after_an_edit(made_pod(before, 0), made_pod(before, 1), **edit)

    assert work.steps == ()
    assert condition(work, "ConfigValid") == ("True", "ValidWithWarnings")
    assert message(work, "ConfigValid") == (
        f"{field}: 2 running pods were made with another value than {next(iter(edit.values()))}, which stays in force "
        "for their engines; restart the pods one by one with a new value of the annotation specdec.dev/restartedAt."
    )


def test_a_pod_made_since_the_edit_is_not_counted() -> None:
    """It came from the new template."""
    before, edit = make_body(), {"startupTimeout": "45m"}

    told = message(after_an_edit(made_pod(before, 0), made_pod(make_body(rollout=edit), 1), **edit), "ConfigValid")

    assert "spec.rollout.startupTimeout: 1 running pod was made with another value than 45m" in told


def test_pods_that_have_the_times_of_the_spec_are_no_cause_for_a_warning() -> None:
    """Nor is one that goes, one that is to be replaced anyway, or one of which nothing is known."""
    before, edit = make_body(), {"startupTimeout": "45m", "drainTimeout": "5m"}
    current, other = made_pod(make_body(rollout=edit), 0), made_pod(before, 1, hash="other")
    going = made_pod(before, 1)
    going["metadata"]["deletionTimestamp"] = "2026-12-01T09:00:00Z"

    for pod in (current, other, going, make_pod(before, 1)):
        assert condition(after_an_edit(current, pod, **edit), "ConfigValid") == ("True", "Valid")
