"""The engine without its clock."""

import random
from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from vllm_simulator.physics import Acceptance, Physics
from vllm_simulator.schedule import read_schedule
from vllm_simulator.scheduler import Drafting, Limits, Outcome, Scheduler
from vllm_simulator.sequence import Finish, Sequence

SPECULATING = Drafting(drafts=4, acceptance=Acceptance((0.622,)))


def deliver(tokens: int, reason: Finish | None) -> None:
    """A client that does not listen."""


def make_scheduler(drafting: Drafting | None = None, **limits: int) -> Scheduler:
    """An engine with the default physics."""
    return Scheduler(limits=Limits(**limits), physics=Physics(), drafting=drafting, rng=random.Random(3))


def make_sequence(prompt: int = 10, limit: int = 20) -> Sequence:
    """A sequence of some prompt tokens that makes `limit` more."""
    return Sequence(prompt_tokens=prompt, limit=limit, deliver=deliver)


def steps(scheduler: Scheduler, check: Callable[[Outcome], None] = lambda _: None, most: int = 10_000) -> float:
    """Run until idle; gives the engine time that passed."""
    now = 0.0
    for _ in range(most):
        if scheduler.idle:
            return now
        step = scheduler.plan(now)
        now += step.seconds
        drafting = scheduler.drafting
        check(scheduler.finish(step, now, drafting.acceptance.first(step.drafts) if drafting else ()))
    raise AssertionError("the engine does not come to an end")


def one_step(scheduler: Scheduler, now: float = 0.0) -> Outcome:
    """Plan and do one step."""
    step = scheduler.plan(now)
    drafting = scheduler.drafting
    return scheduler.finish(step, now, drafting.acceptance.first(step.drafts) if drafting else ())


def test_plain_decoding_gives_one_token_a_step() -> None:
    """The prompt's step gives the first."""
    scheduler = make_scheduler()
    sequence = make_sequence(limit=5)
    scheduler.add(sequence, 0.0)
    tokens: list[int] = []

    steps(scheduler, lambda outcome: tokens.extend(emission.tokens for emission in outcome.emitted))

    assert tokens == [1, 1, 1, 1, 1]
    assert sequence.generated == 5


def test_speculation_gives_one_and_the_accepted_tokens() -> None:
    """With every draft accepted, K + 1 a step; the last step is cut at the limit."""
    scheduler = make_scheduler(Drafting(drafts=4, acceptance=Acceptance((1.0,))))
    scheduler.add(make_sequence(limit=9), 0.0)
    tokens: list[int] = []

    steps(scheduler, lambda outcome: tokens.extend(emission.tokens for emission in outcome.emitted))

    assert tokens == [1, 5, 3]


def test_first_come_first_served_up_to_the_cap() -> None:
    """Others wait, and the first to come is the first to follow."""
    scheduler = make_scheduler(sequences=2)
    first, second, third = (make_sequence(limit=limit) for limit in (3, 9, 9))
    for sequence in (first, second, third):
        scheduler.add(sequence, 0.0)

    one_step(scheduler)

    assert scheduler.running == [first, second]
    assert list(scheduler.waiting) == [third]
    one_step(scheduler)
    one_step(scheduler)
    one_step(scheduler)
    assert scheduler.running == [second, third]


def test_long_prompts_are_computed_in_pieces_beside_decoding() -> None:
    """A step computes at most its budget of tokens; decoding goes on meanwhile."""
    scheduler = make_scheduler(batched_tokens=100)
    talker, reader = make_sequence(prompt=5, limit=50), make_sequence(prompt=250, limit=2)
    scheduler.add(talker, 0.0)
    one_step(scheduler)
    scheduler.add(reader, 0.0)

    computed = [one_step(scheduler).prompt_tokens for _ in range(3)]

    assert computed == [99, 99, 52]
    assert talker.generated == 4
    assert reader.generated == 1


def test_a_full_cache_makes_others_wait() -> None:
    """A sequence is admitted only when its whole context fits."""
    scheduler = make_scheduler(kv_tokens=100)
    scheduler.add(make_sequence(prompt=60, limit=10), 0.0)
    scheduler.add(make_sequence(prompt=60, limit=10), 0.0)

    one_step(scheduler)

    assert len(scheduler.running) == 1
    assert len(scheduler.waiting) == 1
    assert scheduler.kv_used == 60


def test_a_growing_cache_preempts_the_youngest_and_loses_no_token() -> None:
    """It goes to the head of the queue, is computed again, and says nothing twice."""
    scheduler = make_scheduler(kv_tokens=100)
    older, younger = make_sequence(prompt=40, limit=50), make_sequence(prompt=40, limit=50)
    scheduler.add(older, 0.0)
    scheduler.add(younger, 0.0)
    preempted: list[int] = []

    steps(scheduler, lambda outcome: preempted.append(outcome.preempted))

    assert sum(preempted) == younger.preemptions == 1
    assert older.preemptions == 0
    assert older.generated == younger.generated == 50


def test_a_dropped_sequence_gets_nothing_more() -> None:
    """Also when it was part of the step that is under way."""
    scheduler = make_scheduler()
    stays, goes = make_sequence(), make_sequence()
    scheduler.add(stays, 0.0)
    scheduler.add(goes, 0.0)
    one_step(scheduler)
    step = scheduler.plan(1.0)

    assert scheduler.drop(goes)
    outcome = scheduler.finish(step, 1.0, ())

    assert [emission.sequence for emission in outcome.emitted] == [stays]
    assert not scheduler.drop(goes)


def test_the_schedule_sets_k_by_the_batch() -> None:
    """With K = 0 nothing is drafted, and the step is dearer than without speculation."""
    drafting = Drafting(drafts=4, acceptance=Acceptance((1.0,)), schedule=read_schedule([[1, 1, 4], [2, 9, 0]], 4))
    scheduler = make_scheduler(drafting)
    for _ in range(2):
        scheduler.add(make_sequence(limit=50), 0.0)
    one_step(scheduler)

    step = scheduler.plan(0.0)
    outcome = scheduler.finish(step, 0.0, ())

    assert step.drafts == 0
    assert step.seconds > Physics().step(tokens=2, drafts=0)
    assert (outcome.drafts, outcome.drafted, outcome.accepted) == (0, 0, [])


def test_a_slowdown_stretches_every_step() -> None:
    """Ten times slower is ten times longer."""
    scheduler = make_scheduler()
    scheduler.add(make_sequence(), 0.0)

    assert scheduler.plan(0.0, slowdown=10.0).seconds == 10 * scheduler.plan(0.0).seconds


def test_speculation_is_faster_alone_and_slower_in_a_crowd() -> None:
    """The whole engine shows the break-even that the formula has."""

    def seconds(drafting: Drafting | None, batch: int) -> float:
        scheduler = make_scheduler(drafting)
        for _ in range(batch):
            scheduler.add(make_sequence(limit=400), 0.0)
        return steps(scheduler)

    assert seconds(None, 2) / seconds(SPECULATING, 2) > 1.3
    assert seconds(None, 64) / seconds(SPECULATING, 64) < 0.8


@settings(max_examples=40, deadline=None)
@given(
    jobs=st.lists(st.tuples(st.integers(1, 60), st.integers(1, 60)), min_size=1, max_size=12),
    limits=st.builds(
        Limits,
        sequences=st.integers(1, 6),
        kv_tokens=st.integers(130, 400),
        batched_tokens=st.integers(40, 200),
    ),
    drafts=st.integers(0, 5),
    chance=st.floats(0, 1),
)
def test_whatever_comes_every_token_is_made_once(
    jobs: list[tuple[int, int]], limits: Limits, drafts: int, chance: float
) -> None:
    """All sequences end with exactly their tokens; limits hold at every step; accepted drafts are among the drafted."""
    drafting = Drafting(drafts=drafts, acceptance=Acceptance((chance,))) if drafts else None
    scheduler = Scheduler(limits=limits, physics=Physics(), drafting=drafting, rng=random.Random(3))
    made = [make_sequence(prompt, limit) for prompt, limit in jobs]
    for sequence in made:
        scheduler.add(sequence, 0.0)
    emitted = 0

    def check(outcome: Outcome) -> None:
        nonlocal emitted
        emitted += sum(emission.tokens for emission in outcome.emitted)
        assert len(scheduler.running) <= limits.sequences
        assert scheduler.kv_used <= limits.kv_tokens
        assert outcome.accepted == sorted(outcome.accepted, reverse=True)
        assert sum(outcome.accepted) <= outcome.drafted == outcome.drafts * drafts

    steps(scheduler, check)

    assert [sequence.generated for sequence in made] == [limit for _, limit in jobs]
    assert emitted == sum(limit for _, limit in jobs)
