"""What the user decides: modes Off and Pinned, and methods that may not stay."""

import pytest
from tests.unit.policy.build import NOW, load, method, speculation, view

from specdec_operator.api.conditions import Reason
from specdec_operator.api.status import DecisionAction
from specdec_operator.policy.decide import decide
from specdec_operator.policy.signals import Unavailable

AWAY = Unavailable(Reason.NO_SERIES, "Pod demo-0 has no series.")
OFF = speculation(mode="Off")
SPENT = tuple(NOW - 60 * index for index in range(4))


def pinned(name: str):
    """Return a spec with two methods, one of them pinned."""
    methods = [{"name": "eagle3", "method": "eagle3"}, {"name": "ngram", "method": "ngram"}]
    return speculation(mode="Pinned", pinned=name, methods=methods)


def test_off_means_none():
    """At any load."""
    decision = decide(view(speculation=OFF))
    assert (decision.action, decision.target, decision.reason) == (DecisionAction.SWITCH, "none", Reason.MODE_OFF)
    assert decision.message == "spec.speculation.mode is Off; switching to none."
    assert decide(view(speculation=OFF, active="none")).action is DecisionAction.KEEP


@pytest.mark.parametrize(("name", "action"), [("ngram", "Switch"), ("eagle3", "Keep"), ("none", "Switch")])
def test_pinned_means_that_one(name, action):
    """Also none."""
    decision = decide(view(speculation=pinned(name), methods=(method(), method("ngram")), load=load(500)))
    assert (decision.action, decision.target, decision.reason) == (action, name, Reason.PINNED)


@pytest.mark.parametrize("spec", [OFF, pinned("none")])
def test_nothing_measured_holds_an_order_back(spec):
    """Dwell, budget, missing metrics and a switch on its way are about the operator's own decisions."""
    asked = view(speculation=spec, load=AWAY, active_since=NOW, switches=SPENT, frozen="A switch is on its way")
    decision = decide(asked)
    assert (decision.action, decision.target) == (DecisionAction.SWITCH, "none")


@pytest.mark.parametrize(
    ("hidden", "reason"),
    [
        ({"supported": False, "unsupported_message": "eagle3 needs vLLM 0.20 or later."}, "UnsupportedByEngineVersion"),
        ({"quarantined_until": NOW + 3600}, "Quarantined"),
    ],
)
def test_a_pinned_method_that_cannot_run_changes_nothing(hidden, reason):
    """What runs keeps running, and the reason is told."""
    asked = view(speculation=pinned("ngram"), methods=(method(), method("ngram", **hidden)))
    decision = decide(asked)
    assert (decision.action, decision.target, decision.reason) == (DecisionAction.KEEP, "eagle3", reason)
    assert decision.message.startswith("ngram is pinned but ")


def test_a_pinned_method_in_quarantine_is_no_order_even_where_it_runs():
    """Most pods may still run it while they are on their way back."""
    asked = view(speculation=pinned("eagle3"), methods=(method(quarantined_until=NOW + 60), method("ngram")))
    decision = decide(asked)
    assert (decision.action, decision.target, decision.reason) == (DecisionAction.KEEP, "eagle3", Reason.QUARANTINED)
    assert "nothing is switched to it" in decision.message


@pytest.mark.parametrize("seen", [load(20), AWAY])
def test_where_the_pinned_method_runs_and_the_new_engine_refuses_it_another_one_follows(seen):
    """As in mode Auto: its pods could not start again."""
    refused = method(supported=False, unsupported_message="eagle3 needs vLLM 0.20 or later.")
    decision = decide(view(speculation=pinned("eagle3"), methods=(refused, method("ngram")), load=seen))
    assert (decision.action, decision.target) == (DecisionAction.SWITCH, "ngram")
    assert decision.reason is Reason.UNSUPPORTED_BY_ENGINE_VERSION
    assert decision.message.startswith("eagle3 is pinned but cannot run: eagle3 needs vLLM 0.20 or later; switching")


@pytest.mark.parametrize(
    ("methods", "reason"),
    [
        ((method("ngram"),), Reason.METHOD_REMOVED),
        ((method(supported=False), method("ngram")), Reason.UNSUPPORTED_BY_ENGINE_VERSION),
    ],
)
@pytest.mark.parametrize("seen", [load(20), AWAY])
def test_a_method_that_the_user_took_away_is_replaced_at_once(methods, reason, seen):
    """Also without metrics: engines that cannot start any more would never give any."""
    decision = decide(view(methods=methods, load=seen, active_since=NOW, switches=SPENT, frozen="A rollout runs"))
    assert (decision.action, decision.target, decision.reason) == (DecisionAction.SWITCH, "ngram", reason)


def test_its_successor_pays_at_the_present_load():
    """None, when no other method does."""
    assert decide(view(methods=(method("ngram", 10),), load=load(20))).target == "none"
    assert decide(view(methods=(), load=AWAY)).target == "none"


def test_a_method_in_quarantine_is_left_without_window_but_within_the_budget():
    """An attacker who drives a method into quarantine again and again gets no more than the day's switches."""
    methods = (method(quarantined_until=NOW + 3600), method("ngram"))
    left = decide(view(methods=methods, active_since=NOW))
    assert (left.action, left.target, left.reason) == (DecisionAction.SWITCH, "ngram", Reason.QUARANTINED)
    assert decide(view(methods=methods, switches=SPENT)).reason is Reason.BUDGET_SPENT
    assert decide(view(methods=methods, frozen="A switch is on its way")).action is DecisionAction.HOLD


def test_mode_recommend_never_acts():
    """Not even when the active method is gone from the spec."""
    decision = decide(view(speculation=speculation(mode="Recommend"), methods=(method("ngram"),)))
    assert (decision.action, decision.target) == (DecisionAction.RECOMMEND, "ngram")


def test_a_refusal_of_any_length_fits_into_the_status():
    """The message is cut, never refused by the API server."""
    long = method("ngram", supported=False, unsupported_message="x" * 5000)
    decision = decide(view(speculation=pinned("ngram"), methods=(method(), long)))
    assert len(decision.message) == 1024
