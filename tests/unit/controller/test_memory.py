"""What a process that has just started knows from status."""

from dataclasses import replace

import pytest
from tests.helpers.deployments import EAGLE
from tests.unit.controller.builders import (
    NOW,
    make_body,
    make_reading,
    make_snapshot,
    running,
    with_status,
)

from specdec_operator.api.objects import readable
from specdec_operator.api.status import SpecDecDeploymentStatus
from specdec_operator.controller.memory import Memory, memory_from
from specdec_operator.controller.times import rfc3339
from specdec_operator.controller.work import work_out
from specdec_operator.policy.decision import PolicyMemory

PODS = ("llama-0", "llama-1")


def stored(body: dict) -> SpecDecDeploymentStatus:
    """Return the status of an object."""
    return readable(SpecDecDeploymentStatus, body["status"])


def test_an_empty_status_gives_an_empty_memory() -> None:
    """Nothing is made up."""
    assert memory_from("uid-1", SpecDecDeploymentStatus()) == Memory("uid-1", PolicyMemory())


def test_the_means_go_on_from_the_last_signals() -> None:
    """With the time they were measured at, so that old ones weigh little."""
    status = SpecDecDeploymentStatus.model_validate(
        {
            "active": {"method": "eagle3", "numSpeculativeTokens": 3, "since": rfc3339(NOW)},
            "signals": {
                "concurrency": "12.5",
                "acceptanceRate": "0.48",
                "acceptanceLength": "2.44",
                "sampledAt": rfc3339(NOW),
            },
        }
    )
    policy = memory_from("uid-1", status).policy
    assert (policy.smoothed, policy.smoothed_at, policy.method) == (12.5, NOW, "eagle3")
    assert policy.acceptance == (("eagle3", 2.44),)
    assert policy.acceptance_rate == 0.48


def test_a_method_that_is_off_is_remembered_by_the_switch_that_left_it() -> None:
    """An engine without speculation exports nothing about it."""
    record = {
        "startedAt": rfc3339(NOW),
        "from": "eagle3",
        "to": "none",
        "reason": "PastBreakEven",
        "message": "x",
        "acceptanceLength": "2.10",
        "outcome": "Done",
    }
    status = SpecDecDeploymentStatus.model_validate({"switches": [record]})
    assert memory_from("uid-1", status).policy.acceptance == (("eagle3", 2.10),)


@pytest.mark.parametrize("concurrency", [5.0, 0.0])
def test_a_restart_changes_no_word_of_the_status(concurrency: float) -> None:
    """Busy or idle: what the last process said, the next one says, too."""
    spec = {"methods": [EAGLE], "breakEven": {"accelerator": "H100"}, "policy": {"trigger": "Threshold"}}
    body, children = running(make_body(speculation=spec), reading=make_reading(5.0, *PODS))
    memory = Memory("uid-1")
    for tick in range(10):
        now = NOW + 15 * tick
        work = work_out(make_snapshot(body, children, reading=make_reading(5.0, *PODS, at=now), memory=memory, now=now))
        assert work.course is not None
        memory = replace(memory, policy=work.course.decision.memory)
        body = with_status(body, work) if work.status_changed else body
    later = NOW + 180
    reading = make_reading(concurrency, *PODS, at=later, speculating=concurrency > 0)
    fresh = memory_from("uid-1", stored(body))
    work = work_out(make_snapshot(body, children, reading=reading, memory=fresh, now=later))
    assert not work.status_changed
