"""Workers and ticker: what one object or one source does wrong never stops them."""

import asyncio
from collections.abc import Callable

import pytest
from tests.unit.controller.builders import NOW, make_body
from tests.unit.controller.fakes import FakeClock

from specdec_operator.api.conditions import Reason
from specdec_operator.controller import workers
from specdec_operator.controller.queue import WorkQueue
from specdec_operator.controller.store import ObjectStore
from specdec_operator.controller.ticker import NoMetricsSource, Ticker
from specdec_operator.controller.workers import Worker
from specdec_operator.policy.signals import Reading, Unavailable
from specdec_operator.ports import ClusterError, Failure, Key
from specdec_operator.telemetry.metrics import Metrics

KEY, OTHER = Key("serving", "llama"), Key("serving", "other")


class Passes:
    """Stands for the reconciler: each pass calls what was given for its key."""

    def __init__(self, **acts: Callable[[], object]) -> None:
        self.acts, self.seen, self.distrusted, self.forgotten = acts, [], [], []
        self.reading: object = None

    async def reconcile(self, key: Key) -> float | None:
        """Note the pass and act."""
        self.seen.append(key)
        act = self.acts.get(key.name)
        result = act() if act else None
        if asyncio.iscoroutine(result):
            result = await result
        return result  # type: ignore[return-value]

    def knows(self, key: Key) -> bool:
        """Say yes but for what is gone."""
        return key.name != "gone"

    def distrust(self, key: Key) -> None:
        """Note it."""
        self.distrusted.append(key)

    def forget(self, key: Key) -> None:
        """Note it."""
        self.forgotten.append(key)


class Bench:
    """One worker on one queue."""

    def __init__(self, passes: Passes, *, resync: float = 300.0) -> None:
        self.queue: WorkQueue[Key] = WorkQueue()
        self.metrics, self.passes = Metrics(), passes
        self.worker = Worker(
            queue=self.queue,
            reconciler=passes,  # type: ignore[arg-type]
            metrics=self.metrics,
            clock=FakeClock(NOW),
            resync_seconds=resync,
        )

    def _count(self) -> float:
        found = self.metrics.registry.collect()
        return sum(
            sample.value for family in found for sample in family.samples if sample.name == "specdec_reconciles_total"
        )

    async def work(self, *keys: Key, passes: int) -> None:
        """Add keys and let the worker do so many passes."""
        task = asyncio.create_task(self.worker.run())
        for key in keys:
            self.queue.add(key)
        async with asyncio.timeout(5):
            while self._count() < passes:  # noqa: ASYNC110 - counts what the worker says
                await asyncio.sleep(0.005)
        self.queue.close()
        await task

    def count(self, result: str) -> float | None:
        """Return how many passes ended like this."""
        return self.metrics.registry.get_sample_value("specdec_reconciles_total", {"result": result})


def failing(error: Exception) -> Callable[[], object]:
    """Return something that fails."""

    def act() -> object:
        raise error

    return act


async def test_an_object_that_fails_does_not_keep_the_others_from_being_worked_on() -> None:
    """Not even by a mistake of ours."""
    passes = Passes(llama=failing(ValueError("a mistake")))
    bench = Bench(passes)
    await bench.work(KEY, OTHER, passes=2)
    assert passes.seen[:2] == [KEY, OTHER]
    assert passes.distrusted == [KEY]
    assert (bench.count("Error"), bench.count("Done")) == (1, 1)
    assert bench.queue.attempts(KEY) == 1


async def test_a_conflict_is_tried_again_soon_and_from_a_live_read() -> None:
    """The table says so."""
    passes = Passes(llama=failing(ClusterError(Failure.CONFLICT, "changed")))
    bench = Bench(passes)
    await bench.work(KEY, passes=2)
    assert passes.seen[:2] == [KEY, KEY]
    assert passes.distrusted[:1] == [KEY]
    assert (bench.count("Conflict") or 0) >= 2


async def test_an_object_that_is_not_found_is_forgotten() -> None:
    """If it is there after all, the next pass starts from what it reads."""
    passes = Passes(llama=failing(ClusterError(Failure.NOT_FOUND, "no such namespace")))
    await Bench(passes).work(KEY, passes=1)
    assert passes.forgotten == [KEY]


async def test_the_wish_of_a_pass_decides_when_it_is_looked_at_again() -> None:
    """Long before the resync."""
    passes = Passes(llama=lambda: 0.01)
    bench = Bench(passes)
    await bench.work(KEY, passes=3)
    assert passes.seen[:3] == [KEY, KEY, KEY]


async def test_every_object_is_looked_at_again_though_nothing_wakes_it() -> None:
    """G5-09: the resync repairs an event that was missed."""
    passes = Passes()
    bench = Bench(passes, resync=0.02)
    await bench.work(KEY, passes=3)
    assert passes.seen[:3] == [KEY, KEY, KEY]


async def test_an_object_that_is_gone_is_not_looked_at_again() -> None:
    """No resync for it."""
    bench = Bench(Passes(), resync=0.01)
    gone = Key("serving", "gone")
    await bench.work(gone, passes=1)
    assert not bench.queue._timers


async def test_a_pass_that_hangs_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker goes on with the next object."""
    monkeypatch.setattr(workers, "PASS_SECONDS", 0.02)
    passes = Passes(llama=lambda: asyncio.sleep(60))
    bench = Bench(passes)
    await bench.work(KEY, OTHER, passes=2)
    assert passes.seen[:2] == [KEY, OTHER]
    assert bench.count("Error") == 1


class Source:
    """Metrics by hand."""

    def __init__(self, *answers: Reading | Unavailable) -> None:
        self.answers, self.asked = list(answers), []

    async def read(self, namespaces: frozenset[str]) -> Reading | Unavailable:
        """Return the next answer."""
        self.asked.append(namespaces)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def make_ticker(source: Source, *keys: Key, seconds: float = 0.01) -> tuple[Ticker, Passes, WorkQueue[Key]]:
    """Return a ticker for these objects."""
    store, queue, passes = ObjectStore(), WorkQueue[Key](), Passes()
    for key in keys:
        body = make_body()
        body["metadata"] = {**body["metadata"], "namespace": key.namespace, "name": key.name}
        store.put(key, body)
    ticker = Ticker(
        source=source,
        store=store,
        queue=queue,
        reconciler=passes,  # type: ignore[arg-type]
        clock=FakeClock(NOW),
        metrics=Metrics(),
        seconds=seconds,
        beat=lambda: None,
        namespaces=("a", "b"),
    )
    return ticker, passes, queue


async def test_a_tick_reads_once_for_all_objects_and_wakes_them() -> None:
    """One question however many there are."""
    reading = Reading(taken_at=NOW)
    source = Source(reading)
    ticker, passes, queue = make_ticker(source, KEY, OTHER, Key("else", "x"))
    await ticker.tick()
    await ticker.tick()
    assert source.asked == [frozenset({"a", "b"}), frozenset({"serving", "else"})]
    assert passes.reading is reading
    assert len(queue) == 3


async def test_without_objects_nothing_is_asked_after_the_first_time() -> None:
    """An idle operator costs its Prometheus nothing."""
    source = Source(Reading(taken_at=NOW))
    ticker, _, _ = make_ticker(source)
    for _ in range(3):
        await ticker.tick()
    assert len(source.asked) == 1


async def test_a_source_that_fails_is_asked_again_at_the_next_tick() -> None:
    """And the objects learn of both."""
    down = Unavailable(Reason.SOURCE_UNREACHABLE, "down")
    up = Reading(taken_at=NOW)
    source = Source(down, up)
    ticker, passes, _ = make_ticker(source, KEY)
    running = asyncio.create_task(ticker.run())
    async with asyncio.timeout(5):
        while passes.reading is not up:  # noqa: ASYNC110 - the ticker tells nobody
            await asyncio.sleep(0.005)
    running.cancel()
    assert ticker.has_read.is_set()


async def test_no_prometheus_at_all_is_a_reason_like_any_other() -> None:
    """With the field that is missing."""
    answer = await NoMetricsSource().read(frozenset())
    assert isinstance(answer, Unavailable)
    assert answer.reason is Reason.SOURCE_UNREACHABLE
    assert "prometheus.url" in answer.message
