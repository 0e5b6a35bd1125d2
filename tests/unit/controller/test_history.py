"""Switches in status, and quarantine."""

from tests.helpers.deployments import EAGLE, NGRAM
from tests.unit.controller.builders import (
    NOW,
    condition,
    make_body,
    make_children,
    make_pod,
    make_reading,
    make_snapshot,
    running,
    with_status,
)

from specdec_operator.controller.course import fallback_of
from specdec_operator.controller.history import quarantine_seconds
from specdec_operator.controller.times import rfc3339
from specdec_operator.controller.work import work_out

PINNED = {"methods": [EAGLE, NGRAM], "mode": "Pinned", "pinned": "ngram"}


def test_the_quarantine_grows_with_each_failure_up_to_a_day() -> None:
    """10, 20, 40 minutes and so on."""
    minutes = [quarantine_seconds(failures) / 60 for failures in range(1, 12)]
    assert minutes[:4] == [10, 20, 40, 80]
    assert minutes[-1] == 24 * 60


def test_a_switch_carries_the_numbers_it_was_decided_on() -> None:
    """So that the story can be read weeks later."""
    body, children = running(make_body(), reading=make_reading(5.0, "llama-0", "llama-1"))
    body["spec"] = {**body["spec"], "speculation": PINNED}
    reading = make_reading(12.0, "llama-0", "llama-1")
    record = work_out(make_snapshot(body, children, reading=reading)).status.switches[0]
    assert (record.concurrency, record.acceptance_length) == ("12.0", "2.50")
    assert record.message
    assert record.started_at == rfc3339(NOW)


def test_the_last_ten_switches_are_kept() -> None:
    """The oldest goes."""
    old = [
        {
            "startedAt": rfc3339(NOW - 90_000 + index),
            "finishedAt": rfc3339(NOW - 89_000),
            "from": "none",
            "to": f"m{index}",
            "reason": "Pinned",
            "message": "x",
            "outcome": "Done",
        }
        for index in range(10)
    ]
    body, children = running(make_body(status={"switches": old}))
    body["spec"] = {**body["spec"], "speculation": PINNED}
    switches = work_out(make_snapshot(body, children)).status.switches
    assert len(switches) == 10
    assert (switches[0].to, switches[-1].to) == ("m1", "ngram")


def failing_switch():
    """Return an object whose switch to ngram has just shown on one pod that it does not come up."""
    body, children = running(make_body())
    body["spec"] = {**body["spec"], "speculation": PINNED}
    body = with_status(body, work_out(make_snapshot(body, children)))
    broken = make_pod(body, 1, method="ngram", ready=False, drained=True)
    broken["metadata"]["annotations"] |= {
        "specdec.dev/method-set-at": rfc3339(NOW - 5),
        "specdec.dev/replaces-container": "id-old",
        "specdec.dev/restarts-when-set": "0",
    }
    broken["status"]["containerStatuses"][0] |= {
        "restartCount": 4,
        "state": {"waiting": {"reason": "CrashLoopBackOff"}},
        "lastState": {"terminated": {"reason": "Error", "exitCode": 1}},
    }
    return body, make_children(body, make_pod(body, 0), broken, method="ngram")


def test_a_target_that_does_not_come_up_is_given_up_and_kept_in_quarantine() -> None:
    """Recorded first; the way back is the work of the next passes."""
    body, children = failing_switch()
    work = work_out(make_snapshot(body, children))

    assert (work.children, work.steps) == ((), ())
    assert work.status.target is not None
    assert work.status.target.method == "eagle3"
    assert work.status.switches[-1].outcome == "RolledBack"
    ngram = next(method for method in work.status.methods if method.name == "ngram")
    assert (ngram.state.value, ngram.failures, ngram.retry_at) == ("Quarantined", 1, rfc3339(NOW + 600))
    assert ngram.reason == "CrashLooping"
    assert work.status.rollout is not None
    assert (work.status.rollout.from_, work.status.rollout.to) == ("ngram", "eagle3")


def test_the_way_back_is_not_given_up_again() -> None:
    """There is no way back from the way back: the broken method stays in quarantine."""
    body, children = failing_switch()
    body = with_status(body, work_out(make_snapshot(body, children)))
    work = work_out(make_snapshot(body, children))

    assert work.status.target is not None
    assert work.status.target.method == "eagle3"
    assert [write.body["kind"] for write in work.children] == ["StatefulSet"]
    assert len(work.status.switches) == 1


def test_the_way_back_has_no_fallback_however_long_it_takes() -> None:
    """The broken method is no way out either when its quarantine ends before the old one has loaded."""
    body, children = failing_switch()
    body = with_status(body, work_out(make_snapshot(body, children)))

    assert fallback_of(make_snapshot(body, children, now=NOW + 3600)) is None


def test_after_the_way_back_status_says_so() -> None:
    """Switching is False with the reason, while the method is in quarantine and Ready is True."""
    body, children = failing_switch()
    body = with_status(body, work_out(make_snapshot(body, children)))
    work = work_out(make_snapshot(body, make_children(body, make_pod(body, 0), make_pod(body, 1))))
    assert work.status.rollout is None
    assert condition(work, "Switching") == ("False", "RolledBack")
    assert condition(work, "Ready") == ("True", "Available")


def test_failures_are_forgotten_after_an_hour_of_service() -> None:
    """The next failure starts from ten minutes again."""
    stored = [{"name": "eagle3", "state": "Active", "failures": 3}]
    active = {"method": "eagle3", "since": rfc3339(NOW - 100)}
    body = make_body(status={"methods": stored, "active": active})
    children = make_children(body, make_pod(body, 0), make_pod(body, 1))
    for now, failures in ((NOW, 3), (NOW + 3600, None)):
        work = work_out(make_snapshot(body, children, now=now))
        assert work.status.methods[0].failures == failures
