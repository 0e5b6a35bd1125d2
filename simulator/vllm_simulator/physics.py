"""How long an engine step takes and how many drafts are accepted: the laws the simulated engine obeys."""

import random
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Physics:
    """Constants of one engine; all times are seconds.

    The defaults describe a small accelerator whose break-even concurrency is about 18 with four drafts.
    """

    step_seconds: float = 0.015
    """a: one forward pass while the batch is memory-bound."""
    token_seconds: float = 0.00025
    """b: each token of a step beyond the free ones."""
    free_tokens: float = 32.0
    """n0: tokens of a step that cost nothing extra (the knee of the roofline)."""
    draft_cost: float = 0.12
    """c: one draft position, relative to `step_seconds`."""
    prefill_token_seconds: float = 0.00002
    """One prompt token."""
    idle_draft_cost: float = 0.25
    """What speculation still costs in a step whose K is 0 by the schedule inside the engine, relative to the step."""

    def step(self, *, tokens: int, drafts: int, paused: bool = False, prompt_tokens: int = 0) -> float:
        """Seconds of a step: `a(1 + cK) + b max(tokens - n0, 0)` plus the prompt tokens computed in it.

        `tokens` is the number of tokens to verify, K + 1 for each decoding request and 1 for each other; `paused`
        says that speculation is on and drafts nothing in this step.
        """
        overhead = self.idle_draft_cost if paused else self.draft_cost * drafts
        beyond = max(tokens - self.free_tokens, 0.0)
        return (
            self.step_seconds * (1.0 + overhead)
            + self.token_seconds * beyond
            + self.prefill_token_seconds * prompt_tokens
        )


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Conditional acceptance: entry i is the chance that draft i is accepted, given that all before it were."""

    chances: tuple[float, ...]

    def at(self, position: int) -> float:
        """The chance at a position; positions beyond the list keep the last value."""
        return self.chances[min(position, len(self.chances) - 1)]

    def first(self, count: int) -> tuple[float, ...]:
        """The chances of the first `count` positions."""
        return tuple(self.at(position) for position in range(count))


def accepted_drafts(chances: Sequence[float], rng: random.Random) -> int:
    """Draw how many of the drafts are accepted: the first refusal ends the chain."""
    accepted = 0
    for chance in chances:
        if rng.random() >= chance:
            break
        accepted += 1
    return accepted


def mean_accepted(chances: Sequence[float]) -> float:
    """Expected accepted drafts of one step; the acceptance length is one more."""
    total, alive = 0.0, 1.0
    for chance in chances:
        alive *= chance
        total += alive
    return total


def chance_for(acceptance_length: float, drafts: int) -> float:
    """The one chance for all positions that gives this acceptance length with this many drafts (bisection).

    Raises:
        ValueError: the length is outside 1 to `drafts` + 1.
    """
    if not 1.0 <= acceptance_length <= drafts + 1:
        raise ValueError(f"acceptance length {acceptance_length} is outside 1 to {drafts + 1} for {drafts} drafts")
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if 1.0 + mean_accepted([middle] * drafts) < acceptance_length else (low, middle)
    return high
