"""The laws of the simulated engine."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vllm_simulator.physics import Acceptance, Physics, accepted_drafts, chance_for, mean_accepted

WEAK = Physics(step_seconds=0.015, token_seconds=0.00025, free_tokens=32, draft_cost=0.12)
H100_70B = Physics(step_seconds=0.020, token_seconds=0.00012, free_tokens=64, draft_cost=0.06)


def speed_up(physics: Physics, batch: int, drafts: int, acceptance_length: float) -> float:
    """Tokens per second with speculation over those without."""
    plain = physics.step(tokens=batch, drafts=0)
    return acceptance_length * plain / physics.step(tokens=batch * (drafts + 1), drafts=drafts)


def test_a_step_costs_what_the_formula_says() -> None:
    """a(1 + cK) + b max(tokens - n0, 0), with B(K + 1) tokens."""
    assert WEAK.step(tokens=50, drafts=4) == pytest.approx(0.015 * 1.48 + 0.00025 * 18)
    assert WEAK.step(tokens=20, drafts=0) == pytest.approx(0.015)


def test_prompts_cost_by_the_token() -> None:
    """Prompt tokens come on top."""
    assert WEAK.step(tokens=1, drafts=0, prompt_tokens=1000) == pytest.approx(0.015 + 0.02)


def test_paused_speculation_costs_a_fifth_of_the_speed() -> None:
    """K = 0 by the schedule stays about 20 % below an engine without speculation, as measured on vLLM 0.32."""
    paused = WEAK.step(tokens=8, drafts=0, paused=True)

    assert WEAK.step(tokens=8, drafts=0) / paused == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("physics", "drafts", "length", "break_even"), [(WEAK, 4, 2.4, 18), (H100_70B, 3, 2.2, 59)], ids=["weak", "h100"]
)
def test_break_even_is_where_the_scenarios_put_it(
    physics: Physics, drafts: int, length: float, break_even: int
) -> None:
    """Speculation gains below the break-even concurrency and loses above it."""
    assert speed_up(physics, break_even - 1, drafts, length) > 1
    assert speed_up(physics, break_even + 1, drafts, length) < 1
    assert speed_up(physics, 1, drafts, length) > 1.3
    assert speed_up(physics, 128, drafts, length) < 0.8


def test_acceptance_keeps_its_last_value_for_later_positions() -> None:
    """One number holds for all positions, a list for those it names and then its last."""
    assert Acceptance((0.5,)).first(3) == (0.5, 0.5, 0.5)
    assert Acceptance((0.9, 0.4)).first(3) == (0.9, 0.4, 0.4)


def test_the_first_refused_draft_ends_the_chain() -> None:
    """No draft counts after one that was refused."""
    rng = random.Random(1)

    assert accepted_drafts((1.0, 0.0, 1.0), rng) == 1
    assert accepted_drafts((), rng) == 0
    assert accepted_drafts((1.0, 1.0, 1.0), rng) == 3


def test_drawn_acceptance_has_the_expected_mean() -> None:
    """The default of 0.622 gives an acceptance length of 2.4 with four drafts."""
    rng, chances = random.Random(7), (0.622,) * 4
    drawn = sum(accepted_drafts(chances, rng) for _ in range(20_000)) / 20_000

    assert 1 + mean_accepted(chances) == pytest.approx(2.4, abs=0.01)
    assert drawn == pytest.approx(mean_accepted(chances), abs=0.03)


@given(drafts=st.integers(1, 16), share=st.floats(0, 1))
def test_a_chance_gives_back_the_length_it_was_made_for(drafts: int, share: float) -> None:
    """`chance_for` inverts the mean."""
    length = 1 + share * drafts
    chance = chance_for(length, drafts)

    assert 0 <= chance <= 1
    assert 1 + mean_accepted([chance] * drafts) == pytest.approx(length, abs=1e-6)


@pytest.mark.parametrize("length", [0.9, 4.1])
def test_an_impossible_length_is_refused(length: float) -> None:
    """With three drafts the length is between 1 and 4."""
    with pytest.raises(ValueError, match=r"outside 1 to 4 for 3 drafts"):
        chance_for(length, 3)
