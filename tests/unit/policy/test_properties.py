"""What must hold for every input: no act on missing data, no budget exceeded, no dependence on order."""

import math
import random
from dataclasses import replace
from itertools import pairwise

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.unit.policy.build import NOW, TICK, Story, engine, load, method, reading, speculation, view

from specdec_operator.api.conditions import Reason
from specdec_operator.api.quantities import parse_duration
from specdec_operator.api.status import DecisionAction
from specdec_operator.policy.decide import decide
from specdec_operator.policy.decision import PolicyMemory
from specdec_operator.policy.join import summarise
from specdec_operator.policy.signals import Load, Unavailable
from specdec_operator.policy.smoothing import GRACE_SECONDS

REASONS = st.sampled_from(
    [
        Reason.NO_SERIES,
        Reason.STALE,
        Reason.SOURCE_UNREACHABLE,
        Reason.UNAUTHORIZED,
        Reason.NOT_SCRAPED_YET,
        Reason.AMBIGUOUS_SERIES,
    ]
)
LOADS = st.builds(
    load,
    concurrency=st.one_of(st.just(0.0), st.floats(0, 1000)),
    acceptance_length=st.one_of(st.none(), st.floats(1, 4)),
)
SEEN = st.one_of(LOADS, st.builds(Unavailable, reason=REASONS, message=st.just("Nothing is there.")))
METHODS = st.lists(
    st.builds(method, name=st.sampled_from(["a", "b", "c"]), break_even=st.one_of(st.none(), st.integers(1, 300))),
    min_size=1,
    max_size=3,
    unique_by=lambda entry: entry.name,
)
POLICIES = st.fixed_dictionaries(
    {
        "disableAfter": st.sampled_from(["15s", "1m", "5m"]),
        "enableAfter": st.sampled_from(["15s", "2m", "15m"]),
        "minimumDwell": st.sampled_from(["0s", "1m", "15m"]),
        "maximumSwitchesPerDay": st.integers(0, 5),
    }
)


@st.composite
def starts(draw):
    """Draw an input whose active method is one of the methods, or none."""
    methods = draw(METHODS)
    names = [entry.name for entry in methods]
    kinds = st.sampled_from(["eagle3", "ngram", "mtp", "suffix", "novel"])
    entries = [{"name": name, "method": draw(kinds), "numSpeculativeTokens": 3} for name in names]
    accelerator = draw(st.sampled_from([{}, {"breakEven": {"accelerator": "H100"}}]))
    spec = speculation(methods=entries, policy=draw(POLICIES), **accelerator)
    active = draw(st.sampled_from([*names, "none"]))
    return view(speculation=spec, methods=tuple(methods), active=active, replicas=draw(st.integers(1, 3)))


def memory_on_the_brink(active: str, candidate: str) -> PolicyMemory:
    """Return a memory in which the next measurement would decide."""
    return PolicyMemory(
        smoothed=500.0,
        smoothed_at=NOW - TICK,
        method=active,
        crossed_since=NOW - 86_400,
        candidate=candidate,
    )


@given(start=starts(), candidate=st.sampled_from(["a", "b", "c", "none"]), reason=REASONS)
def test_no_switch_without_data_however_close(start, candidate, reason):
    """Whatever the memory says: without a load the active method stays; after the grace the window starts anew."""
    brink = replace(start, memory=memory_on_the_brink(start.active, candidate), load=Unavailable(reason, "Gone."))
    decision = decide(brink)
    assert (decision.action, decision.target) == (DecisionAction.HOLD, start.active)
    later = decide(replace(brink, now=NOW + GRACE_SECONDS, memory=decision.memory))
    assert (later.action, later.target) == (DecisionAction.HOLD, start.active)
    assert later.memory.crossed_since is None


DEFECTS = st.sampled_from(
    ["missing", "nan", "infinite", "negative", "stale", "duplicate", "partial", "problem", "young"]
)


@given(
    start=starts(), defect=DEFECTS, running=st.lists(st.floats(0, 900), min_size=3, max_size=3), place=st.integers(0, 2)
)
def test_no_switch_from_any_defective_snapshot(start, defect, running, place):
    """One defective pod among three is enough to hold."""
    samples = [engine(f"demo-{index}", value) for index, value in enumerate(running)]
    pods = {sample.pod: NOW - 3600 for sample in samples}
    broken = samples[place]
    problems = {}
    if defect in {"missing", "problem"}:
        samples.remove(broken)
    elif defect == "duplicate":
        samples.append(replace(broken, running=broken.running + 1))
    elif defect == "partial":
        samples += [replace(sample, engine="1") for sample in samples if sample is not broken]
    elif defect == "young":
        pods[broken.pod] = NOW - 10
    elif defect == "stale":
        samples[place] = replace(broken, sampled_at=NOW - 300)
    else:
        value = {"nan": math.nan, "infinite": math.inf, "negative": -1.0}[defect]
        samples[place] = replace(broken, running=value)
    if defect == "problem":
        problems[("serving", broken.pod)] = Unavailable(Reason.AMBIGUOUS_SERIES, "has series of several clusters")
    seen = summarise(reading(*samples, problems=problems), namespace="serving", pods=pods, now=NOW)
    assert isinstance(seen, Unavailable)
    decision = decide(replace(start, load=seen, memory=memory_on_the_brink(start.active, "none")))
    assert (decision.action, decision.target) == (DecisionAction.HOLD, start.active)


@given(start=starts(), value=st.sampled_from([math.nan, math.inf, -1.0]))
def test_no_switch_on_a_load_that_is_no_number(start, value):
    """A second lock on the same door."""
    decision = decide(replace(start, load=load(value), memory=memory_on_the_brink(start.active, "none")))
    assert (decision.action, decision.target) == (DecisionAction.HOLD, start.active)


@settings(max_examples=60, deadline=None)
@given(start=starts(), seen=st.lists(st.tuples(SEEN, st.integers(1, 120)), max_size=30))
def test_budget_and_dwell_hold_for_every_sequence(start, seen):
    """In any 24 hours at most the budget, the last one to none; after each switch at least the dwell."""
    story = Story(start, outage=60.0)
    for value, ticks in seen:
        for _ in range(ticks):
            story.step(value)
    policy = start.speculation.policy
    moments = [moment for moment, _ in story.switches]
    for index, (moment, target) in enumerate(story.switches):
        in_a_day = sum(1 for other in moments[: index + 1] if other > moment - 86_400)
        spare = 0 if target == "none" else 1
        assert in_a_day <= policy.maximum_switches_per_day - spare
    dwell = parse_duration(policy.minimum_dwell) + 60.0
    assert all(later - earlier >= dwell for earlier, later in pairwise(moments))


@given(start=starts(), seen=st.lists(SEEN, min_size=1, max_size=20))
def test_the_same_input_gives_the_same_decision(start, seen):
    """Two stories with the same loads are the same story."""
    first, second = Story(start), Story(start)
    for value in seen:
        assert first.step(value) == second.step(value)


@given(
    running=st.lists(st.floats(0, 900), min_size=1, max_size=6),
    seed=st.integers(0, 1000),
    start=starts(),
)
def test_the_order_of_pods_and_series_does_not_matter(running, seed, start):
    """From the rows to the decision."""
    samples = [engine(f"demo-{index}", value, generation_tokens=value / 3) for index, value in enumerate(running)]
    pods = {sample.pod: NOW - 3600 for sample in samples}
    shuffled, names = samples[:], list(pods)
    random.Random(seed).shuffle(shuffled)
    random.Random(seed + 1).shuffle(names)
    one = summarise(reading(*samples), namespace="serving", pods=pods, now=NOW)
    other = summarise(reading(*shuffled), namespace="serving", pods={name: pods[name] for name in names}, now=NOW)
    assert decide(replace(start, load=one)) == decide(replace(start, load=other))


def crossing_on_the_lines(story: Story, limit: float, before: list[tuple[float, float]]) -> float:
    """Return when the smoothed signal last passed the limit before the first switch, on lines between ticks."""
    crossed = before[0][0]
    for (at, low), (then, high) in pairwise(before):
        if low < limit <= high:
            crossed = at + (then - at) * (limit - low) / (high - low)
    return crossed


@settings(deadline=None)
@given(
    tick=st.sampled_from([5.0, 15.0, 20.0]),
    quiet=st.floats(0, 59),
    high=st.floats(61, 600),
    window=st.sampled_from([15, 60, 100, 300, 437]),
    calm=st.integers(1, 40),
)
def test_the_decision_comes_within_the_window_and_one_tick(tick, quiet, high, window, calm):
    """Counted from the crossing of the smoothed signal, also where the window is no multiple of the tick."""
    spec = speculation(policy={"disableAfter": f"{window}s", "minimumDwell": "0s"})
    story = Story(view(speculation=spec), tick=tick)
    trace: list[tuple[float, float]] = []
    for index in range(calm + 400):
        moment = story.now
        decision = story.step(load(quiet if index < calm else high))
        assert decision.memory.smoothed is not None
        trace.append((moment, decision.memory.smoothed))
        if story.switches:
            break
    assume(story.switches)
    crossed = crossing_on_the_lines(story, 60.0, trace)
    latency = story.switches[0][0] - crossed
    assert window - 1e-6 <= latency <= window + tick + 1e-6


@settings(deadline=None)
@given(
    window=st.sampled_from([15, 60, 100, 300]),
    gaps=st.lists(st.tuples(st.integers(1, 8), st.integers(1, 3)), max_size=12),
)
def test_with_short_gaps_the_decision_comes_within_a_window_of_measured_time_and_one_tick(window, gaps):
    """A measured tick counts until the next tick, one without data does not, and the switch is on a measured one."""
    story = Story(view(speculation=speculation(policy={"disableAfter": f"{window}s", "minimumDwell": "0s"})))
    seen = [there for good, missed in gaps for there in [True] * good + [False] * missed] + [True] * 30
    counted = 0.0
    for there in seen:
        story.step(load(80) if there else Unavailable(Reason.NO_SERIES, "Gone."))
        if story.switches:
            break
        counted += TICK * there
    assert there
    assert window <= counted <= window + TICK


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10_000), centre=st.floats(0.85, 1.15), noise=st.floats(0.05, 0.5))
def test_noise_around_the_break_even_does_not_flap(seed, centre, noise):
    """Half a day of noise around B* costs at most the way out: the way back lies well below."""
    chance = random.Random(seed)
    story = Story(view(speculation=speculation(policy={"maximumSwitchesPerDay": 10})))
    for _ in range(4 * 60 * 12):
        story.step(load(max(0.0, chance.gauss(60 * centre, 60 * noise))))
    assert [target for _, target in story.switches] in ([], ["none"])


@given(start=starts(), seen=LOADS)
def test_the_target_is_the_active_method_unless_something_is_asked_for(start, seen):
    """Keep and Hold never name another one; Switch and Recommend always do."""
    decision = decide(replace(start, load=seen, memory=memory_on_the_brink(start.active, "none")))
    asks = decision.action in {DecisionAction.SWITCH, DecisionAction.RECOMMEND}
    assert (decision.target != start.active) is asks
    assert isinstance(seen, Load)
    assert 0 < len(decision.message) <= 1024
