"""Several methods: preference, and limits in the coordinate of the mode that runs."""

import pytest
from tests.unit.policy.build import NOW, Story, load, method, speculation, view

from specdec_operator.api.conditions import Reason
from specdec_operator.policy.decide import decide
from specdec_operator.policy.ladder import Rung, choose, rungs

MINUTE = 60.0
NAMES = ("ngram", "eagle3")
SPEC = speculation(
    methods=[
        {"name": "ngram", "method": "ngram", "numSpeculativeTokens": 3},
        {"name": "eagle3", "method": "eagle3", "numSpeculativeTokens": 3},
    ]
)
METHODS = (method("ngram", 20), method("eagle3", 100))


def limits(active: str, methods=METHODS) -> dict[str, float]:
    """Return the limit of each rung while `active` runs."""
    asked = view(speculation=SPEC, methods=methods, active=active)
    return {rung.method: rung.limit for rung in rungs(asked, decide(asked).break_even, {})}


def test_the_active_method_is_left_at_its_own_break_even():
    """Measured in its own mode, where it applies."""
    assert limits("ngram")["ngram"] == 20
    assert limits("eagle3")["eagle3"] == 100


def test_a_later_method_is_open_up_to_its_break_even():
    """It is only asked for once the active one no longer pays."""
    assert limits("ngram")["eagle3"] == 100


def test_a_later_method_with_a_lower_break_even_is_no_way_out():
    """It would stop paying before the active one does."""
    assert limits("ngram", (method("ngram", 100), method("eagle3", 60)))["eagle3"] == 0


def test_the_way_back_to_a_preferred_method_is_lower_in_a_faster_mode():
    """The same load keeps fewer requests running while EAGLE-3 speeds it up than in plain decoding."""
    assert limits("eagle3")["ngram"] < limits("none")["ngram"] < 20


def test_a_method_without_break_even_is_always_open():
    """Suffix decoding limits itself."""
    spec = speculation(methods=[{"name": "suffix", "method": "suffix"}])
    story = Story(view(speculation=spec, methods=(method("suffix", None),), active="suffix"))
    last = story.hold_at(5000, 60 * MINUTE)
    assert not story.switches
    assert last.reason is Reason.BELOW_BREAK_EVEN
    assert "limits itself" in last.message


@pytest.mark.parametrize("hidden", [{"supported": False}, {"quarantined_until": NOW + 3600}])
def test_a_method_that_cannot_run_has_no_rung(hidden):
    """Neither an unsupported one nor one in quarantine."""
    assert set(limits("none", (method("ngram", 20, **hidden), method("eagle3", 100)))) == {"eagle3"}


def test_a_quarantine_that_has_passed_opens_the_rung_again():
    """By the time of the decision."""
    assert set(limits("none", (method("ngram", 20, quarantined_until=NOW),))) == {"ngram"}


def test_the_first_rung_above_the_concurrency_is_chosen():
    """Preference before size; none when no rung is high enough."""
    ladder = (Rung("a", 10), Rung("b", 100), Rung("c", 50))
    assert [choose(ladder, concurrency) for concurrency in (5, 10, 60, 100)] == ["a", "b", "b", "none"]


def test_rising_and_falling_load_walks_the_ladder():
    """N-gram, then EAGLE-3, then none, and the same way back, never further than needed."""
    spec = speculation(methods=[entry.model_dump(by_alias=True, exclude_none=True) for entry in SPEC.methods])
    story = Story(view(speculation=spec, methods=METHODS, active="ngram"))
    for concurrency in (10, 60, 150, 40, 5):
        story.hold_at(concurrency, 90 * MINUTE)
        story.switches = [(0.0, target) for _, target in story.switches]
    assert [target for _, target in story.switches] == ["eagle3", "none", "eagle3", "ngram"]


def test_leaving_counts_from_the_crossing_whatever_comes_next():
    """A load that wavers between two ways out is not held for ever."""
    story = Story(view(speculation=SPEC, methods=METHODS, active="ngram"))
    for index in range(40):
        story.step(load(40 if index % 8 < 4 else 400))
    assert story.switches
    assert story.switches[0][0] - NOW <= 5 * MINUTE + 15


def test_the_way_back_counts_from_when_the_same_method_was_the_better_one():
    """A method that only just became possible has not been so for the window."""
    story = Story(view(speculation=SPEC, methods=METHODS, active="none"))
    story.hold_at(40, 10 * MINUTE)
    changed = story.now
    story.hold_at(1, 30 * MINUTE)
    moment, target = story.switches[0]
    assert target == "ngram"
    assert moment - changed >= 15 * MINUTE
