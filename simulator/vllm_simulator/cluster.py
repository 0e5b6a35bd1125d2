"""The engines of one process, as HTTP sees them."""

import contextlib
import random
from collections.abc import Iterator
from typing import Any

from vllm_simulator.ask import Ask
from vllm_simulator.engine import Engine
from vllm_simulator.faults import Faults
from vllm_simulator.inbox import Inbox
from vllm_simulator.launch import Launch
from vllm_simulator.metrics import MetricSet
from vllm_simulator.scheduler import Scheduler
from vllm_simulator.sequence import Sequence


class Cluster:
    """All engines, their metrics and their faults. One engine without data parallelism."""

    def __init__(self, launch: Launch) -> None:
        """Make the engines; `start` lets them run."""
        self.launch = launch
        self.faults: Faults = launch.settings.faults
        self.draining = False
        self._inboxes: set[Inbox] = set()
        self.metrics = MetricSet(launch)
        self.engines = tuple(self._engine(number) for number in range(launch.engines))

    def start(self) -> None:
        """Start all loops."""
        for engine in self.engines:
            engine.start()

    async def stop(self) -> None:
        """Stop all loops; what runs gets nothing more."""
        for engine in self.engines:
            await engine.stop()

    def fail(self, failure: Exception) -> None:
        """Tell every request in the server that its engine is gone."""
        for inbox in self._inboxes:
            inbox.fail(failure)

    async def drained(self) -> None:
        """Wait until no engine has anything to do."""
        for engine in self.engines:
            await engine.idle.wait()

    @property
    def load(self) -> int:
        """Sequences of all engines, running and waiting."""
        return sum(engine.load for engine in self.engines)

    @contextlib.contextmanager
    def running(self, ask: Ask, inbox: Inbox) -> Iterator[None]:
        """Have the sequences of a request run while the block does; what has not ended then is aborted."""
        placed = []
        for choice in range(len(ask.prompts) * ask.choices):
            sequence = Sequence(
                prompt_tokens=ask.prompts[choice // ask.choices],
                limit=ask.limit,
                ending=ask.ending,
                requested_tokens=ask.requested_tokens,
                choices=ask.choices,
                deliver=inbox.slot(choice),
            )
            engine = min(self.engines, key=lambda engine: engine.load)
            engine.submit(sequence)
            placed.append((engine, sequence))
        self._inboxes.add(inbox)
        try:
            yield
        finally:
            self._inboxes.discard(inbox)
            for engine, sequence in placed:
                engine.abort(sequence)

    def state(self) -> dict[str, Any]:
        """What runs now, for people and tests."""
        drafting = self.engines[0].scheduler.drafting
        return {
            "method": self.launch.method,
            "num_speculative_tokens": drafting.drafts if drafting else 0,
            "draining": self.draining,
            "engines": [
                {
                    "running": len(engine.scheduler.running),
                    "waiting": len(engine.scheduler.waiting),
                    "drafts_now": drafting.count(len(engine.scheduler.running)) if drafting else 0,
                    "kv_tokens": engine.scheduler.kv_used,
                    "generated_tokens": engine.tokens,
                }
                for engine in self.engines
            ],
        }

    def _engine(self, number: int) -> Engine:
        launch = self.launch
        scheduler = Scheduler(
            limits=launch.limits,
            physics=launch.settings.physics,
            drafting=launch.drafting,
            rng=random.Random(launch.settings.seed + number),  # noqa: S311 - reproducible physics, no secrets
        )
        return Engine(
            scheduler, self.metrics.recorder(number), lambda: self.faults, time_scale=launch.settings.time_scale
        )
