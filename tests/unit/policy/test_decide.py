"""What is decided on the load: windows, coordinates, dwell, budget, consent, and the words for it."""

from dataclasses import replace

import pytest
from tests.unit.policy.build import NOW, TICK, Story, load, method, speculation, view

from specdec_operator.api.conditions import ConditionStatus, Reason
from specdec_operator.api.spec import SpeculationSpec
from specdec_operator.api.status import BreakEvenSource, DecisionAction
from specdec_operator.policy.decide import decide, first_method
from specdec_operator.policy.decision import PolicyMemory
from specdec_operator.policy.signals import Unavailable

MINUTE = 60.0
AWAY = Unavailable(Reason.SOURCE_UNREACHABLE, "Prometheus cannot be reached: Connection refused.")


def policy(**fields: object) -> SpeculationSpec:
    """Return a spec with this policy."""
    return speculation(policy=fields)


def test_below_the_break_even_the_method_stays():
    """The message has the numbers."""
    decision = decide(view(load=load(20)))
    assert (decision.action, decision.target, decision.reason) == ("Keep", "eagle3", Reason.BELOW_BREAK_EVEN)
    assert decision.message == (
        "20.0 running requests per engine (smoothed; the busiest has 20) are below the break-even of 60 of eagle3 "
        "(explicit)."
    )


def test_past_the_break_even_for_the_window_it_is_switched_off():
    """Not a tick earlier; until then the message says when."""
    story = Story(view())
    first = story.step(load(80))
    assert (first.action, first.reason) == (DecisionAction.KEEP, Reason.NOT_DECIDED_YET)
    assert first.message.endswith("none follows at 2027-01-15T08:05:00Z if that stays so.")
    story.hold_at(80, 4.75 * MINUTE)
    assert not story.switches
    last = story.step(load(80))
    assert (last.action, last.target, last.reason) == (DecisionAction.SWITCH, "none", Reason.PAST_BREAK_EVEN)
    assert last.message == (
        "80.0 running requests per engine (smoothed) are above the break-even of 60 of eagle3 (explicit) for 5m; "
        "switching to none."
    )


def test_a_burst_shorter_than_the_window_changes_nothing():
    """Fast bursts belong to the engine."""
    story = Story(view())
    story.hold_at(20, 5 * MINUTE)
    story.hold_at(200, 3 * MINUTE)
    story.hold_at(20, 20 * MINUTE)
    assert not story.switches


def test_it_comes_back_although_an_engine_without_speculation_exports_no_acceptance():
    """On the concurrency alone, in the coordinate of plain decoding, after the longer window."""
    story = Story(view(active="none"))
    story.hold_at(33, 14 * MINUTE)
    assert not story.switches
    last = story.hold_at(33, 2 * MINUTE)
    assert story.active == "eagle3"
    assert last.reason is Reason.BELOW_BREAK_EVEN


def test_between_the_way_out_and_the_way_back_nothing_moves():
    """At 40 of 60 speculation would stay on, and plain decoding stays too."""
    for active in ("eagle3", "none"):
        story = Story(view(active=active))
        story.hold_at(40, 60 * MINUTE)
        assert not story.switches


def test_the_way_back_says_how_far_it_is():
    """So that nobody has to ask why it is still off."""
    decision = decide(view(active="none", load=load(50)))
    assert (decision.action, decision.reason) == (DecisionAction.KEEP, Reason.PAST_BREAK_EVEN)
    assert decision.message.endswith("plain decoding stays until they are below 34.3, then eagle3 follows.")


def test_the_dwell_holds_a_switch_back():
    """The message says until when; the crossing lasts meanwhile."""
    story = Story(view(active_since=NOW - MINUTE))
    last = story.hold_at(80, 10 * MINUTE)
    assert (last.action, last.reason) == (DecisionAction.KEEP, Reason.MINIMUM_DWELL)
    assert last.message.endswith("none waits for the minimum dwell until 2027-01-15T08:14:00Z.")
    story.hold_at(80, 4.5 * MINUTE)
    assert [moment - NOW for moment, _ in story.switches] == [14 * MINUTE]


@pytest.mark.parametrize(
    ("active", "concurrency", "spent", "allowed"),
    [("eagle3", 80, 3, True), ("eagle3", 80, 4, False), ("none", 5, 2, True), ("none", 5, 3, False)],
)
def test_the_last_switch_of_a_day_may_only_go_to_none(active, concurrency, spent, allowed):
    """Four a day: the fourth is kept for the way out."""
    story = Story(view(active=active, switches=tuple(NOW - 3600 * (1 + index) for index in range(spent))))
    last = story.hold_at(concurrency, 20 * MINUTE)
    assert bool(story.switches) is allowed
    if not allowed:
        assert last.reason is Reason.BUDGET_SPENT


def test_a_spent_budget_says_when_it_is_free_again():
    """The oldest switch of the last 24 hours has to fall out."""
    spent = tuple(NOW - hours * 3600 for hours in (4, 3, 2, 1))
    last = Story(view(switches=spent)).hold_at(80, 10 * MINUTE)
    assert last.message.endswith(
        "The 4 switches of a day are spent; the next one to none is possible at 2027-01-16T04:00:00Z."
    )


def test_a_budget_of_none_never_switches():
    """And says so."""
    last = Story(view(speculation=policy(maximumSwitchesPerDay=0))).hold_at(80, 10 * MINUTE)
    assert last.message.endswith("maximumSwitchesPerDay is 0, which allows no switch to none.")


def test_switches_older_than_a_day_do_not_count():
    """The budget is that of the last 24 hours."""
    story = Story(view(switches=tuple(NOW - 86_400 - index for index in range(4))))
    story.hold_at(80, 10 * MINUTE)
    assert story.active == "none"


@pytest.mark.parametrize("active", ["eagle3", "none"])
def test_missing_metrics_hold(active):
    """For hours, at any load before."""
    story = Story(view(active=active))
    story.hold_at(80 if active == "eagle3" else 5, 4 * MINUTE)
    for _ in range(400):
        held = story.step(AWAY)
        assert (held.action, held.target, held.reason) == (DecisionAction.HOLD, active, Reason.SOURCE_UNREACHABLE)
    assert held.message == f"{AWAY.message} {active} keeps running."


@pytest.mark.parametrize("missed", [1, 2, 3])
def test_the_clock_of_the_window_stands_still_in_a_short_gap(missed):
    """A gap of up to 45 s neither counts nor forgets: the switch comes later by its length."""
    story = Story(view())
    story.hold_at(80, 4 * MINUTE)
    for _ in range(missed):
        assert story.step(AWAY).action == DecisionAction.HOLD
    story.hold_at(80, 3 * MINUTE)
    assert [moment - NOW for moment, _ in story.switches] == [5 * MINUTE + missed * TICK]


def test_a_gap_just_before_the_end_of_the_window_does_not_end_it():
    """The time that the tick without data stood for is still to be measured."""
    story = Story(view())
    story.hold_at(80, 4.75 * MINUTE)
    assert story.step(AWAY).action == DecisionAction.HOLD
    assert story.step(load(80)).reason == Reason.NOT_DECIDED_YET
    assert story.step(load(80)).reason == Reason.PAST_BREAK_EVEN
    assert story.active == "none"


def test_the_window_starts_anew_after_a_long_gap_in_the_metrics():
    """What happened in more than 45 s is unknown, so it did not last."""
    story = Story(view())
    story.hold_at(80, 4 * MINUTE)
    for _ in range(4):
        story.step(AWAY)
    back = story.now
    story.hold_at(80, 6 * MINUTE)
    assert [moment - back for moment, _ in story.switches] == [5 * MINUTE]


def test_a_tick_that_is_late_after_a_short_gap_starts_the_window_anew():
    """The gap lasts until something is measured again, also where no tick came in between."""
    story = Story(view())
    story.hold_at(80, 4.75 * MINUTE)
    story.step(AWAY)
    story.now += 60.0
    assert story.step(load(80)).memory.crossed_since == story.now - TICK


def test_a_scrape_that_fails_once_per_window_does_not_keep_an_overload_from_being_acted_on():
    """Load 60 at a break-even of 20, one tick in 16 without one pod's series: the missed tick is all that it costs."""
    story = Story(view(methods=(method(break_even=20),)))
    for tick in range(4 * 60 * 2):
        story.step(AWAY if tick % 16 == 15 else load(60))
    assert [moment - NOW for moment, _ in story.switches] == [5 * MINUTE + TICK]


def test_time_without_metrics_does_not_count_as_past_the_break_even():
    """One sample after an outage is no crossing in the middle of it: the window counts from that sample."""
    story = Story(view(methods=(method(break_even=20),), speculation=policy(disableAfter="60s", enableAfter="60s")))
    story.step(load(10))
    story.step(load(10))
    while story.now < NOW + 120:
        story.step(AWAY)
    story.now = NOW + 130
    first = story.step(load(60))
    assert (first.action, first.reason, first.memory.crossed_since) == ("Keep", Reason.NOT_DECIDED_YET, NOW + 130)
    story.hold_at(60, 2 * MINUTE)
    assert [moment - NOW for moment, _ in story.switches] == [190.0]


@pytest.mark.parametrize("missed", [1, 2])
def test_a_crossing_within_a_short_gap_counts_from_the_tick_after_it(missed):
    """No line is drawn over ticks that measured nothing."""
    story = Story(view())
    story.step(load(10))
    for _ in range(missed):
        story.step(AWAY)
    back = story.now
    assert story.step(load(600)).memory.crossed_since == back


def test_a_crossing_within_a_restart_counts_from_the_first_tick_after_it():
    """What the process before wrote into status is where the mean goes on, and no end of a line."""
    before = PolicyMemory(smoothed=10.0, smoothed_at=NOW - 60, method="eagle3")
    assert decide(view(load=load(600), memory=before)).memory.crossed_since == NOW


def test_the_window_starts_anew_after_a_gap():
    """Ticks that did not come, for example while another replica of the operator led, do not count either."""
    story = Story(view())
    story.hold_at(80, 4.75 * MINUTE)
    story.now += 3 * MINUTE
    story.step(load(80))
    assert not story.switches


def test_a_restart_of_the_operator_restarts_the_window():
    """It delays the decision by what had passed, and no more."""
    story = Story(view())
    story.hold_at(80, 4 * MINUTE)
    story.memory = PolicyMemory()
    restarted = story.now
    story.hold_at(80, 6 * MINUTE)
    assert [moment - restarted for moment, _ in story.switches] == [5 * MINUTE]


def test_nothing_is_decided_while_frozen():
    """A switch, rollout or scaling on its way changes the load by itself."""
    story = Story(view(frozen="A rollout is on its way"))
    last = story.hold_at(200, 20 * MINUTE)
    assert (last.action, last.reason) == (DecisionAction.HOLD, Reason.NOT_DECIDED_YET)
    assert last.message == "A rollout is on its way; nothing is decided until that is done."


def test_recommend_says_and_does_not_act():
    """The recommendation stays as long as its reason."""
    story = Story(view(speculation=speculation(mode="Recommend")))
    last = story.hold_at(80, 30 * MINUTE)
    assert (last.action, last.target, last.reason) == (DecisionAction.RECOMMEND, "none", Reason.RECOMMENDED)
    assert "none is recommended (mode Recommend, nothing is switched)" in last.message
    assert not story.switches
    assert story.hold_at(20, 5 * MINUTE).action is DecisionAction.KEEP


def test_one_replica_does_not_act_on_a_guess():
    """Without a canary nobody can check it; the message says what to do."""
    guessed = view(methods=(method(break_even=None),), replicas=1)
    last = Story(guessed).hold_at(150, 10 * MINUTE)
    assert (last.action, last.target, last.reason) == (DecisionAction.RECOMMEND, "none", Reason.RECOMMENDED)
    assert "breakEvenConcurrency" in last.message
    assert "actOnPriors" in last.message


@pytest.mark.parametrize(
    "change",
    [
        {"replicas": 2},
        {"speculation": policy(actOnPriors=True)},
        {"methods": (method(break_even=130),)},
    ],
)
def test_with_a_second_replica_with_consent_or_with_a_number_it_acts(change):
    """The number may be the user's; the consent too."""
    story = Story(view(**{"methods": (method(break_even=None),), "replicas": 1, **change}))
    story.hold_at(150, 10 * MINUTE)
    assert story.active == "none"


def test_break_evens_of_all_methods_come_with_their_source():
    """For status.methods."""
    found = decide(view(methods=(method(), method("ngram", None)))).break_even
    assert [(name, value.source) for name, value in found.items()] == [
        ("eagle3", BreakEvenSource.EXPLICIT),
        ("ngram", BreakEvenSource.PRIOR),
    ]


def test_the_acceptance_seen_moves_the_closed_form():
    """And is remembered when the method is off and exports nothing."""
    spec = speculation(breakEven={"accelerator": "H100"})
    start = view(speculation=spec, methods=(method(break_even=None),))
    before = decide(start).break_even["eagle3"].concurrency
    seen = decide(replace(start, load=load(20, acceptance_length=1.9, acceptance_rate=0.3)))
    off = decide(replace(start, active="none", memory=seen.memory))
    assert before == 154
    assert off.break_even["eagle3"].concurrency == 107


def test_the_busiest_engine_is_always_shown():
    """The median hides it; and a sentence that came and went would be a write of status each time."""
    decision = decide(view(load=load(20, worst_concurrency=90.0)))
    assert "(smoothed; the busiest has 90)" in decision.message


def speculating_at(length: float, ticks: int, story: Story | None = None) -> tuple[Story, str]:
    """Run at one acceptance length (K = 3) and return the message of the condition."""
    story = story or Story(view())
    for _ in range(ticks):
        condition = story.step(load(20, acceptance_length=length, acceptance_rate=(length - 1) / 3)).speculation_active
    assert (condition.status, condition.reason) == (ConditionStatus.TRUE, Reason.ACTIVE)
    assert not story.switches
    return story, condition.message


def test_low_acceptance_is_reported_and_does_not_switch():
    """85 % can lose and 9 % can win: only the break-even decides. A rate near the alarm does not make it blink."""
    story, message = speculating_at(2.48, 200)
    assert "LowAcceptance: below 0.50" in message
    story, message = speculating_at(2.56, 200, story)
    assert "LowAcceptance" in message
    story, message = speculating_at(2.9, 400, story)
    assert "LowAcceptance" not in message


def test_a_collapse_is_reported_after_several_windows_and_does_not_switch():
    """Drafts go on and nothing is accepted; the mean would take an hour to tell."""
    story, message = speculating_at(2.8, 20)
    story, message = speculating_at(1.01, 12, story)
    assert "AcceptanceCollapsed" not in message
    story, message = speculating_at(1.01, 2, story)
    assert "AcceptanceCollapsed: hardly any drafted token is accepted since 2027-01-15T08:05:00Z" in message
    story, message = speculating_at(1.2, 1, story)
    assert "AcceptanceCollapsed" not in message


def test_an_idle_moment_does_not_change_what_is_said_of_the_acceptance():
    """Nor do missing metrics: the mean is remembered."""
    story, message = speculating_at(2.8, 4)
    assert story.step(load(0)).speculation_active.message == message
    assert story.step(AWAY).speculation_active.message == message


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, Reason.PAST_BREAK_EVEN),
        ({"speculation": speculation(mode="Off")}, Reason.MODE_OFF),
        ({"speculation": speculation(mode="Pinned", pinned="none")}, Reason.MODE_OFF),
        ({"methods": (method(supported=False, unsupported_message="needs 0.20"),)}, Reason.NO_ELIGIBLE_METHOD),
        ({"methods": (method(quarantined_until=NOW + 60),)}, Reason.NO_ELIGIBLE_METHOD),
        ({"methods": ()}, Reason.NO_ELIGIBLE_METHOD),
    ],
)
def test_speculation_that_does_not_run_has_a_reason(change, reason):
    """One for each way of being off."""
    condition = decide(view(active="none", **change)).speculation_active
    assert (condition.status, condition.reason) == (ConditionStatus.FALSE, reason)


def test_speculation_that_runs_shows_its_numbers():
    """Whatever is decided to come next."""
    condition = decide(view(load=load(20, acceptance_length=2.4, acceptance_rate=0.7))).speculation_active
    assert (condition.status, condition.reason) == (ConditionStatus.TRUE, Reason.ACTIVE)
    assert condition.message == (
        "eagle3 runs; it pays below a break-even of 60 of eagle3 (explicit). "
        "Acceptance length 2.40, acceptance rate 0.70 (means)."
    )


def test_the_first_method_is_the_first_that_can_run():
    """A new object has no load yet."""
    refused, resting = method("a", supported=False), method("b", quarantined_until=NOW)
    assert first_method((refused, resting, method("c"))) == "c"
    assert first_method((refused,)) == "none"
    assert first_method(()) == "none"
