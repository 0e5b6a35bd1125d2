"""The engine on its clock: one loop that sleeps one step, then serves all sequences of the batch."""

import asyncio
import contextlib
import time
from collections.abc import Callable

from vllm_simulator.faults import Faults
from vllm_simulator.metrics import Recorder
from vllm_simulator.scheduler import Scheduler
from vllm_simulator.sequence import Finish, Sequence

MOST_DEBT_SECONDS = 1.0
"""What a busy machine delayed is caught up on, up to this much, so that the mean speed stays that of the model."""


class Engine:
    """One (possibly data-parallel) engine: a scheduler, a recorder and the loop between them."""

    def __init__(
        self, scheduler: Scheduler, recorder: Recorder, faults: Callable[[], Faults], *, time_scale: float
    ) -> None:
        """`faults` is asked at every step; `time_scale` is how many times faster than real the engine runs."""
        self.scheduler = scheduler
        self._recorder = recorder
        self._faults = faults
        self._scale = time_scale
        self.idle = asyncio.Event()
        """Set while there is nothing to do."""
        self._work = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.tokens = 0
        """Tokens generated since the start."""

    @property
    def load(self) -> int:
        """Sequences here, running and waiting."""
        return len(self.scheduler.running) + len(self.scheduler.waiting)

    def start(self) -> None:
        """Start the loop."""
        self._task = asyncio.get_running_loop().create_task(self._run(), name="engine")

    async def stop(self) -> None:
        """Stop in the middle of the step: nothing is delivered any more, and nobody is told."""
        if self._task:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    def submit(self, sequence: Sequence) -> None:
        """Take a sequence on."""
        self.scheduler.add(sequence, self._now())
        self._recorder.queue(self.scheduler)
        self.idle.clear()
        self._work.set()

    def abort(self, sequence: Sequence) -> None:
        """Drop a sequence whose client went away; one that has ended is left alone."""
        if self.scheduler.drop(sequence):
            self._recorder.finished(sequence, Finish.ABORT, self._now())
            self._recorder.queue(self.scheduler)

    async def _run(self) -> None:
        due = time.monotonic()
        while True:
            if self.scheduler.idle:
                self._work.clear()
                self.idle.set()
                await self._work.wait()
                due = time.monotonic()
            due = await self._step(due)

    async def _step(self, due: float) -> float:
        step = self.scheduler.plan(self._now(), slowdown=self._faults().slowdown)
        self._recorder.queue(self.scheduler)
        due = max(due + step.seconds / self._scale, time.monotonic() - MOST_DEBT_SECONDS)
        await asyncio.sleep(max(due - time.monotonic(), 0.0))
        drafting = self.scheduler.drafting
        chances = self._faults().chances(drafting.acceptance.first(step.drafts)) if drafting else ()
        outcome = self.scheduler.finish(step, self._now(), chances)
        self._recorder.step(outcome)
        for sequence, tokens, _ in outcome.emitted:
            self.tokens += tokens
            reason = sequence.ending if sequence.left <= 0 else None
            sequence.deliver(tokens, reason)
            if reason:
                self._recorder.finished(sequence, reason, self._now())
        self._recorder.queue(self.scheduler)
        return due

    def _now(self) -> float:
        return time.monotonic()
