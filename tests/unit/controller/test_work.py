"""What one pass works out: children, steps and status from a snapshot."""

from dataclasses import replace

import pytest
from tests.helpers.deployments import EAGLE, NGRAM
from tests.unit.controller.builders import (
    NOW,
    condition,
    make_body,
    make_children,
    make_pod,
    make_reading,
    make_snapshot,
    message,
    running,
    settled,
    with_status,
)

from specdec_operator.api.conditions import Reason
from specdec_operator.api.status import DecisionAction
from specdec_operator.controller.children import Apply, Create
from specdec_operator.controller.memory import Hindrance, Memory, Trouble
from specdec_operator.controller.times import rfc3339
from specdec_operator.controller.work import work_out
from specdec_operator.ports import Children
from specdec_operator.rollout.fleet import LeaveService, Rejoin, TouchBudget

PINNED = {"methods": [EAGLE, NGRAM], "mode": "Pinned", "pinned": "ngram"}


def test_a_new_object_gets_its_children_and_starts_with_the_first_method() -> None:
    """Nothing exists yet: everything is created in one pass, and status says what is awaited."""
    work = work_out(make_snapshot(make_body()))

    assert [type(write) for write in work.children] == [Create, Create, Create]
    assert work.status.target is not None
    assert work.status.target.method == "eagle3"
    assert condition(work, "Ready") == ("False", "Starting")
    assert condition(work, "Reconciling") == ("True", "Starting")
    assert condition(work, "Stalled") == ("False", "NotStalled")
    assert condition(work, "SpeculationActive") == ("Unknown", "Starting")
    assert work.status.active is None


@pytest.mark.parametrize(("mode", "first"), [({"mode": "Off"}, "none"), (PINNED, "ngram")])
def test_a_new_object_starts_with_what_the_user_orders(mode: dict[str, object], first: str) -> None:
    """An order is no switch when nothing runs yet."""
    body = make_body(speculation={"methods": [EAGLE, NGRAM], **mode})
    work = work_out(make_snapshot(body))

    assert work.status.target is not None
    assert work.status.target.method == first
    assert work.status.switches == ()


def test_an_object_in_order_needs_nothing() -> None:
    """No write, no step, no reason to look again soon: also for an operator that has just started."""
    body, children = running(make_body())
    work = work_out(make_snapshot(body, children))

    assert not work.is_due
    assert condition(work, "Ready") == ("True", "Available")
    assert condition(work, "Reconciling") == ("False", "Done")


def test_from_the_cache_children_are_never_judged() -> None:
    """The cache is trimmed: only a live snapshot says what is there."""
    body, children = running(make_body())
    assert work_out(make_snapshot(body, children, live=False)).children == ()
    assert work_out(make_snapshot(body, Children(), live=False)).children == ()


@pytest.mark.parametrize("kind", ["service", "budget", "stateful_set"])
def test_a_child_that_was_edited_by_hand_is_healed(kind: str) -> None:
    """Whatever of our fields was changed is applied again, with the uid that was read."""
    body, children = running(make_body())
    child = getattr(children, kind)
    changed = {
        "service": ("selector", {"app": "other"}),
        "budget": ("minAvailable", 0),
        "stateful_set": ("replicas", 9),
    }
    field, value = changed[kind]
    edited = replace(children, **{kind: {**child, "spec": {**child["spec"], field: value}}})
    work = work_out(make_snapshot(body, edited))

    assert [type(write) for write in work.children] == [Apply]
    assert work.children[0].body["metadata"]["uid"] == child["metadata"]["uid"]


def test_fields_that_others_add_to_a_child_are_left_alone() -> None:
    """Defaults of the API server and annotations of other tools are none of our business."""
    body, children = running(make_body())
    service = children.service or {}
    metadata = {**service["metadata"], "annotations": {**service["metadata"]["annotations"], "other": "x"}}
    spec = {**service["spec"], "clusterIP": "10.0.0.1", "sessionAffinity": "None"}
    decorated = replace(children, service={**service, "metadata": metadata, "spec": spec})

    assert work_out(make_snapshot(body, decorated)).children == ()


def test_somebody_elses_object_of_our_name_is_named_and_not_touched() -> None:
    """Nothing at all is written but status."""
    stranger = {"kind": "Service", "metadata": {"name": "llama", "namespace": "serving", "uid": "x"}, "spec": {}}
    work = work_out(make_snapshot(make_body(), Children(service=stranger)))

    assert (work.children, work.steps) == ((), ())
    assert condition(work, "Ready") == ("False", "NameTaken")
    assert condition(work, "Stalled") == ("True", "NameTaken")
    assert condition(work, "Reconciling") == ("False", "NameTaken")
    assert "Service llama" in message(work, "Ready")


def test_a_name_that_was_taken_is_told_from_memory_until_it_is_looked_up_again() -> None:
    """The watch does not see strangers, so the last live look counts for a while; an edit ends that."""
    hindrance = Hindrance(Trouble(Reason.NAME_TAKEN, "Service llama exists."), generation=1, until=NOW + 60)
    memory = Memory("uid-1", hindrance=hindrance)
    known = work_out(make_snapshot(make_body(), live=False, memory=memory))
    assert condition(known, "Ready") == ("False", "NameTaken")
    assert known.look_again == 60.0
    for body, now in ((make_body(generation=2), NOW), (make_body(), NOW + 61)):
        later = work_out(make_snapshot(body, live=False, memory=memory, now=now))
        assert condition(later, "Ready") == ("False", "Starting")


@pytest.mark.parametrize(
    ("spec", "reason", "words"),
    [
        ({"engine": {"image": "own/image:latest"}}, "UnknownEngineVersion", "spec.engine"),
        ({"engine": {"version": "0.32.0", "extraArgs": ["--port=1"]}}, "ReservedArgument", "extraArgs"),
        ({"replicas": "two"}, "InvalidSpec", "spec.replicas"),
        ({"unheard": 1}, "InvalidSpec", "spec.unheard"),
    ],
)
def test_a_spec_that_cannot_be_used_is_explained(spec: dict[str, object], reason: str, words: str) -> None:
    """ConfigValid names field, value and remedy, and no child is touched."""
    work = work_out(make_snapshot(make_body(**spec)))

    assert (work.children, work.steps) == ((), ())
    assert condition(work, "ConfigValid") == ("False", reason)
    assert words in message(work, "ConfigValid")
    assert condition(work, "Ready") == ("False", "InvalidSpec")
    assert condition(work, "Stalled") == ("True", "InvalidSpec")
    assert condition(work, "Reconciling") == ("False", "InvalidSpec")


def test_a_bad_edit_leaves_what_runs_and_keeps_reporting_it() -> None:
    """The latest spec is not in force, so Ready is not True; but the replicas serve, and the method stays."""
    body, children = running(make_body())
    broken = {**body, "metadata": {**body["metadata"], "generation": 2}}
    broken["spec"] = {**body["spec"], "engine": {"version": "not-a-release"}}
    work = work_out(make_snapshot(broken, children))

    assert (work.children, work.steps) == ((), ())
    assert condition(work, "Ready") == ("False", "RolloutStalled")
    assert "2 replicas keep serving" in message(work, "Ready")
    assert work.status.ready_replicas == 2
    assert work.status.active is not None
    assert work.status.active.method == "eagle3"
    assert {record.observed_generation for record in work.status.conditions} == {2}
    repaired = {**with_status(broken, work), "spec": body["spec"]}
    repaired["metadata"] = {**body["metadata"], "generation": 3}
    again = work_out(make_snapshot(repaired, children))
    assert condition(again, "Ready") == ("True", "Available")
    assert (again.children, again.steps) == ((), ())


def test_a_refused_method_is_left_out_and_the_others_run() -> None:
    """The first method that the release runs is taken; status tells why not the other one."""
    broken = {**EAGLE, "method": "unheard-of"}
    work = work_out(make_snapshot(make_body(speculation={"methods": [broken, NGRAM]})))

    assert work.status.target is not None
    assert work.status.target.method == "ngram"
    assert condition(work, "ConfigValid")[0] == "False"
    states = {method.name: method.state.value for method in work.status.methods}
    assert states == {"eagle3": "Unsupported", "ngram": "Eligible", "none": "Eligible"}


def test_a_switch_is_recorded_before_anything_is_done() -> None:
    """Intent first: an operator that dies right after the write has lost nothing."""
    body, children = running(make_body())
    body["spec"] = {**body["spec"], "speculation": PINNED}
    recording = work_out(make_snapshot(body, children))

    assert (recording.children, recording.steps, recording.look_again) == ((), (), 0.0)
    assert recording.status_changed
    assert recording.status.rollout is not None
    assert (recording.status.rollout.from_, recording.status.rollout.to) == ("eagle3", "ngram")
    assert [(record.from_, record.to, record.outcome) for record in recording.status.switches] == [
        ("eagle3", "ngram", None)
    ]

    applying = work_out(make_snapshot(with_status(body, recording), children))
    assert [(type(write), write.body["kind"]) for write in applying.children] == [(Apply, "StatefulSet")]
    assert applying.steps == ()
    assert len(applying.status.switches) == 1

    applied = make_children(body, *children.pods, method="ngram")
    leaving = work_out(make_snapshot(with_status(body, applying), applied))
    assert leaving.children == ()
    assert [type(step) for step in leaving.steps] == [LeaveService, TouchBudget]
    assert len(leaving.status.switches) == 1


def test_a_switch_that_is_over_is_closed_with_its_time() -> None:
    """All pods run the target and serve: the record is done, nothing is on its way."""
    body, children = running(make_body())
    body["spec"] = {**body["spec"], "speculation": PINNED}
    body = with_status(body, work_out(make_snapshot(body, children)))
    pods = [make_pod(body, index, method="ngram") for index in (0, 1)]
    work = work_out(make_snapshot(body, make_children(body, *pods, method="ngram")))

    assert work.status.rollout is None
    assert work.status.switches[0].outcome == "Done"
    assert work.status.switches[0].finished_at == rfc3339(NOW)
    assert work.status.active is not None
    assert (work.status.active.method, work.status.active.num_speculative_tokens) == ("ngram", 4)


def test_a_new_order_turns_a_switch_round() -> None:
    """The user changes their mind half-way: the way that was begun is superseded."""
    body, _ = running(make_body())
    body["spec"] = {**body["spec"], "speculation": PINNED}
    pods = [make_pod(body, 0), make_pod(body, 1)]
    body = with_status(body, work_out(make_snapshot(body, make_children(body, *pods))))
    body["spec"] = {**body["spec"], "speculation": {"methods": [EAGLE, NGRAM], "mode": "Pinned", "pinned": "eagle3"}}
    work = work_out(make_snapshot(body, make_children(body, *pods, method="ngram")))

    assert work.status.target is not None
    assert work.status.target.method == "eagle3"
    assert [record.outcome for record in work.status.switches] == ["Superseded", None]


def test_no_switch_begins_while_as_many_as_allowed_are_on_their_way() -> None:
    """The decision stands and says what it waits for; its own switch on the way is not held back."""
    body, children = running(make_body())
    body["spec"] = {**body["spec"], "speculation": PINNED}
    held = work_out(make_snapshot(body, children, switching_elsewhere=2))

    assert held.status.rollout is None
    assert held.status.decision is not None
    assert held.status.decision.action is DecisionAction.SWITCH
    assert "maximumConcurrentSwitches" in held.status.decision.message
    assert work_out(make_snapshot(body, children, switching_elsewhere=1)).status.rollout is not None


def test_a_suspended_object_gets_status_only() -> None:
    """Neither children nor steps, whatever is wanted."""
    body, children = running(make_body())
    body["spec"] = {**body["spec"], "speculation": PINNED, "suspend": True}
    for given in (children, Children()):
        work = work_out(make_snapshot(body, given))
        assert (work.children, work.steps) == ((), ())
        assert condition(work, "Reconciling") == ("False", "Suspended")
        assert work.status.rollout is None


def test_with_status_lost_the_method_is_read_from_the_pods() -> None:
    """The pods run ngram: it stays in force, is recorded first, and nothing restarts."""
    body = make_body()
    pods = [make_pod(body, index, method="ngram") for index in (0, 1)]
    children = make_children(body, *pods, method="ngram")
    work = work_out(make_snapshot(body, children))

    assert work.status.target is not None
    assert work.status.target.method == "ngram"
    assert (work.children, work.steps) == ((), ())
    body = settled(body, children)
    assert not work_out(make_snapshot(body, children)).is_due


def test_an_edit_keeps_the_active_method_if_it_is_still_there() -> None:
    """A new method in front is no reason to restart everything at once."""
    body, children = running(make_body(), method="ngram")
    other = {**EAGLE, "name": "fresh"}
    body["spec"] = {**body["spec"], "speculation": {"methods": [other, EAGLE, NGRAM]}}
    work = work_out(make_snapshot(body, children))

    assert work.status.target is not None
    assert work.status.target.method == "ngram"
    assert work.status.rollout is None


def test_a_method_that_left_the_spec_is_switched_away_from() -> None:
    """The first eligible one takes its place, as a recorded switch."""
    body, children = running(make_body())
    body["spec"] = {**body["spec"], "speculation": {"methods": [NGRAM]}}
    work = work_out(make_snapshot(body, children))

    assert work.status.target is not None
    assert work.status.target.method == "ngram"
    assert work.status.switches[-1].reason == "MethodRemoved"


def test_a_single_replica_is_left_alone_and_no_switch_is_recorded() -> None:
    """Restarting it would be an outage: status says so, and the target stays."""
    body = make_body(replicas=1)
    children = make_children(body, make_pod(body))
    body = settled(body, children)
    body["spec"] = {**body["spec"], "speculation": PINNED}
    work = work_out(make_snapshot(body, children))

    assert condition(work, "Switching") == ("False", "RestartNeedsOutage")
    assert work.status.rollout is None
    assert work.status.target is not None
    assert work.status.target.method == "eagle3"
    assert not work_out(make_snapshot(with_status(body, work), children)).is_due


def test_ready_follows_the_pods_and_flips_its_time_once() -> None:
    """G3-20: no change of the object is needed, and the time of the flip stays while it lasts."""
    body, _ = running(make_body())
    down = make_children(body, make_pod(body, 0, ready=False), make_pod(body, 1, ready=False))
    first = work_out(make_snapshot(body, down, now=NOW + 60))
    assert condition(first, "Ready") == ("False", "NoReplicaReady")
    assert condition(first, "Reconciling") == ("False", "Done")
    flipped = next(record for record in first.status.conditions if record.type == "Ready")
    assert flipped.last_transition_time == rfc3339(NOW + 60)

    body = with_status(body, first)
    later = work_out(make_snapshot(body, down, now=NOW + 75))
    assert not later.status_changed
    still = next(record for record in later.status.conditions if record.type == "Ready")
    assert still.last_transition_time == rfc3339(NOW + 60)


def test_one_replica_that_fails_is_no_reconciling_and_no_outage() -> None:
    """Ready needs one replica that serves; Reconciling speaks of changes of the spec only."""
    body, _ = running(make_body())
    half = make_children(body, make_pod(body, 0), make_pod(body, 1, ready=False))
    work = work_out(make_snapshot(body, half))

    assert condition(work, "Ready") == ("True", "Available")
    assert condition(work, "Reconciling") == ("False", "Done")
    assert work.status.ready_replicas == 1


def test_a_changed_spec_is_reconciling_until_every_pod_has_it() -> None:
    """The pods keep serving with the old fields meanwhile, and Ready says that the latest are not in force."""
    body, children = running(make_body())
    body["spec"] = {**body["spec"], "engine": {"version": "0.31.0"}}
    body["metadata"] = {**body["metadata"], "generation": 2}
    work = work_out(make_snapshot(body, children))
    assert condition(work, "Reconciling") == ("True", "RollingOut")
    assert condition(work, "Ready") == ("Unknown", "RollingOut")

    renewed = make_children(body, make_pod(body, 0), make_pod(body, 1))
    body = with_status(body, work)
    done = work_out(make_snapshot(body, renewed))
    assert condition(done, "Reconciling") == ("False", "Done")
    assert condition(done, "Ready") == ("True", "Available")
    assert done.status.rollout is None


def test_scaled_to_zero_is_ready() -> None:
    """Nothing is to run and nothing runs, as with a Deployment of no replicas."""
    body = make_body(replicas=0)
    work = work_out(make_snapshot(body, make_children(body)))
    assert condition(work, "Ready") == ("True", "ScaledToZero")


def test_a_load_that_moves_costs_no_write() -> None:
    """20 ticks with other numbers each time: nothing is written, although all messages carry numbers."""
    spec = {"methods": [{**EAGLE, "breakEvenConcurrency": 20}], "policy": {"trigger": "Threshold"}}
    body, children = running(make_body(speculation=spec), reading=make_reading(5.0, "llama-0", "llama-1"))
    memory = Memory("uid-1")
    for tick in range(20):
        now = NOW + 15 * tick
        reading = make_reading(3.0 + tick % 5, "llama-0", "llama-1", at=now)
        work = work_out(make_snapshot(body, children, reading=reading, memory=memory, now=now))
        assert work.course is not None
        memory = replace(memory, policy=work.course.decision.memory)
        assert not work.status_changed, work.status


def test_a_retry_that_the_user_asks_for_clears_quarantine_and_budget_once() -> None:
    """The annotation is acted on once per value, which status remembers."""
    until = rfc3339(NOW + 3600)
    stored = [{"name": "eagle3", "state": "Quarantined", "reason": "CrashLooping", "retryAt": until, "failures": 3}]
    body = make_body(status={"methods": stored})
    before = work_out(make_snapshot(body))
    assert before.status.target is not None
    assert before.status.target.method == "ngram"
    assert before.status.methods[0].failures == 3

    asked = make_body(status={"methods": stored}, annotations={"specdec.dev/requestedAt": "now"})
    work = work_out(make_snapshot(asked))
    assert work.status.target is not None
    assert work.status.target.method == "eagle3"
    assert work.status.methods[0].state.value == "Eligible"
    assert work.status.methods[0].failures is None
    assert work.status.last_requested_at == "now"
    assert work.status.budget_since == rfc3339(NOW)
    again = {**with_status(asked, work), "status": {**with_status(asked, work)["status"], "methods": stored}}
    assert work_out(make_snapshot(again)).status.methods[0].state.value == "Quarantined"


@pytest.mark.parametrize("text", ["x" * 253, "x" * 254, "x" * 10_000, "\N{SNOWMAN}" * 253, "\N{PILE OF POO}" * 10_000])
def test_a_retry_with_a_long_value_is_acted_on_once(text: str) -> None:
    """Whatever stands in the annotation, the status can be written; another value with the same start is a new one."""
    body = make_body(annotations={"specdec.dev/requestedAt": text})
    first = make_snapshot(body)
    work = work_out(first)
    stored = with_status(body, work)

    assert first.requested_anew is not None
    assert work.status.last_requested_at == first.requested_anew
    assert len(first.requested_anew) <= 253
    assert make_snapshot(stored).requested_anew is None
    stored["metadata"]["annotations"] = {"specdec.dev/requestedAt": f"{text}!"}
    assert make_snapshot(stored).requested_anew is not None


def test_what_the_api_server_refuses_is_reported_and_not_tried_again_at_once() -> None:
    """Until then nothing is written but status; what was decided stays."""
    trouble = Trouble(Reason.FORBIDDEN, "The API server refused a write: quota.")
    memory = Memory("uid-1", hindrance=Hindrance(trouble, generation=1, until=NOW + 30))
    work = work_out(make_snapshot(make_body(), memory=memory))

    assert (work.children, work.steps, work.look_again) == ((), (), 30.0)
    assert condition(work, "Stalled") == ("True", "Forbidden")
    assert "quota" in message(work, "Ready")


def test_a_pod_that_was_taken_out_comes_back_when_the_spec_becomes_unusable() -> None:
    """What can serve serves, though nobody can say what should run."""
    body, _ = running(make_body())
    pods = [make_pod(body, 0), make_pod(body, 1, drained=True)]
    children = make_children(body, *pods)
    broken = {**body, "spec": {**body["spec"], "engine": {"image": "own/image:latest"}}}
    work = work_out(make_snapshot(broken, children))
    assert [type(step) for step in work.steps] == [Rejoin]
    assert work.children == ()
