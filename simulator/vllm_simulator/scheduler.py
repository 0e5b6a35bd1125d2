"""The engine without its clock: who runs, what a step costs and what it yields.

Like vLLM's scheduler it admits first come, first served, serves decoding sequences before prompts, computes prompts in
chunks, and preempts the youngest sequence when the KV cache is full.
"""

import random
from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from vllm_simulator.physics import Acceptance, Physics, accepted_drafts
from vllm_simulator.schedule import KSchedule
from vllm_simulator.sequence import Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one engine can hold."""

    sequences: int = 256
    """Running at once (`--max-num-seqs`)."""
    kv_tokens: int = 262_144
    batched_tokens: int = 8_192
    """Tokens of one step (`--max-num-batched-tokens`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafting:
    """How an engine speculates; an engine without speculation has none of this."""

    drafts: int
    acceptance: Acceptance
    schedule: KSchedule | None = None

    def count(self, batch: int) -> int:
        """K for a step of `batch` sequences."""
        return self.schedule.drafts(batch) if self.schedule else self.drafts


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One engine step, decided and not yet done."""

    decoding: tuple[Sequence, ...]
    prompts: tuple[tuple[Sequence, int], ...]
    """Sequences with the tokens of their prompt that this step computes."""
    drafts: int
    seconds: float
    preempted: int = 0


class Emission(NamedTuple):
    """New tokens of one sequence."""

    sequence: Sequence
    tokens: int
    """At least 1."""
    gap: float | None
    """Seconds since its tokens before these; None for its first."""


@dataclass(slots=True)
class Outcome:
    """What one step yielded."""

    seconds: float
    emitted: list[Emission] = field(default_factory=list)
    prompt_tokens: int = 0
    drafts: int = 0
    drafted: int = 0
    accepted: list[int] = field(default_factory=list)
    """Accepted drafts by position; empty when nothing was drafted."""
    preempted: int = 0
    """Sequences that lost their place before this step."""


@dataclass(slots=True, kw_only=True)
class Scheduler:
    """The queue, the batch and the chance of one engine. Times are the caller's."""

    limits: Limits
    physics: Physics
    drafting: Drafting | None
    rng: random.Random
    running: list[Sequence] = field(default_factory=list)
    waiting: deque[Sequence] = field(default_factory=deque)

    @property
    def idle(self) -> bool:
        """True when there is nothing to do."""
        return not self.running and not self.waiting

    @property
    def kv_used(self) -> int:
        """Tokens in the KV cache."""
        return sum(sequence.computed for sequence in self.running)

    def add(self, sequence: Sequence, now: float) -> None:
        """Put a sequence at the end of the queue."""
        sequence.arrived = now
        self.waiting.append(sequence)

    def drop(self, sequence: Sequence) -> bool:
        """Forget a sequence, wherever it is; False when it had ended already."""
        for place in (self.running, self.waiting):
            if sequence in place:
                place.remove(sequence)
                return True
        return False

    def plan(self, now: float, *, slowdown: float = 1.0) -> Step:
        """Admit what fits and say what the next step does and how long it takes. Nothing may be idle."""
        preempted = self._make_room()
        self._admit(now)
        decoding = tuple(s for s in self.running if s.decoding)
        drafts = self.drafting.count(len(self.running)) if self.drafting else 0
        prompts = self._prompts(self.limits.batched_tokens - len(decoding) * (drafts + 1))
        seconds = self.physics.step(
            tokens=len(decoding) * (drafts + 1) + len(prompts),
            drafts=drafts if decoding else 0,
            paused=self.drafting is not None and drafts == 0,
            prompt_tokens=sum(tokens for _, tokens in prompts),
        )
        return Step(decoding=decoding, prompts=prompts, drafts=drafts, seconds=seconds * slowdown, preempted=preempted)

    def finish(self, step: Step, now: float, chances: tuple[float, ...]) -> Outcome:
        """Do the step: draw acceptances by `chances` (one a position), advance and release sequences.

        Sequences dropped since the step was planned get nothing.
        """
        outcome = Outcome(
            seconds=step.seconds, preempted=step.preempted, accepted=[0] * step.drafts if step.decoding else []
        )
        alive = set(map(id, self.running))
        for sequence, tokens in step.prompts:
            if id(sequence) in alive:
                self._compute(sequence, tokens, now, outcome)
        for sequence in step.decoding:
            if id(sequence) in alive:
                self._decode(sequence, step.drafts, chances, now, outcome)
        return outcome

    def _make_room(self) -> int:
        preempted = 0
        while len(self.running) > 1 and self._reserved() > self.limits.kv_tokens:
            victim = self.running.pop()
            victim.computed = 0
            victim.preemptions += 1
            preempted += 1
            self.waiting.appendleft(victim)
        return preempted

    def _admit(self, now: float) -> None:
        room = self.limits.kv_tokens - self._reserved()
        while self.waiting and len(self.running) < self.limits.sequences:
            head = self.waiting[0]
            room -= self._need(head)
            # Alone, a sequence always fits: no model is longer than the cache.
            if room < 0 and self.running:
                return
            self.running.append(self.waiting.popleft())
            if head.admitted is None:
                head.admitted = now

    def _reserved(self) -> int:
        return sum(self._need(sequence) for sequence in self.running)

    def _need(self, sequence: Sequence) -> int:
        """Room for all its tokens so far and for those of the next step."""
        return sequence.context + 1 + (self.drafting.drafts if self.drafting else 0)

    def _prompts(self, budget: int) -> tuple[tuple[Sequence, int], ...]:
        chosen: list[tuple[Sequence, int]] = []
        for sequence in self.running:
            if sequence.decoding:
                continue
            tokens = min(sequence.pending, budget)
            if tokens <= 0:
                break
            chosen.append((sequence, tokens))
            budget -= tokens
        return tuple(chosen)

    def _compute(self, sequence: Sequence, tokens: int, now: float, outcome: Outcome) -> None:
        sequence.computed += tokens
        outcome.prompt_tokens += tokens
        if sequence.pending == 0:
            self._emit(sequence, 1, now, outcome)

    def _decode(
        self, sequence: Sequence, drafts: int, chances: tuple[float, ...], now: float, outcome: Outcome
    ) -> None:
        accepted = accepted_drafts(chances[:drafts], self.rng) if drafts else 0
        if drafts:
            outcome.drafts += 1
            outcome.drafted += drafts
            for position in range(accepted):
                outcome.accepted[position] += 1
        tokens = min(1 + accepted, sequence.left)
        sequence.computed += tokens
        self._emit(sequence, tokens, now, outcome)

    def _emit(self, sequence: Sequence, tokens: int, now: float, outcome: Outcome) -> None:
        sequence.generated += tokens
        gap = None if sequence.first_token is None else now - sequence.last_token
        if sequence.first_token is None:
            sequence.first_token = now
        sequence.last_token = now
        outcome.emitted.append(Emission(sequence, tokens, gap))
        if sequence.left <= 0:
            self.running.remove(sequence)
