"""The keyed queue."""

import asyncio

import pytest

from specdec_operator.controller.queue import MAXIMUM_DELAY, WorkQueue, backoff


async def test_a_key_added_many_times_is_handed_out_once() -> None:
    """A burst costs one pass."""
    queue: WorkQueue[str] = WorkQueue()
    for _ in range(10):
        queue.add("a")
    assert len(queue) == 1
    assert await queue.get() == "a"
    assert len(queue) == 0


async def test_a_key_added_while_it_is_held_comes_again_afterwards_only() -> None:
    """No two workers hold the same key, and nothing that was said meanwhile is lost."""
    queue: WorkQueue[str] = WorkQueue()
    queue.add("a")
    await queue.get()
    queue.add("a")
    assert len(queue) == 0
    queue.done("a")
    assert await queue.get() == "a"


async def test_different_keys_are_handed_out_in_order() -> None:
    """First come, first served."""
    queue: WorkQueue[str] = WorkQueue()
    for key in "abc":
        queue.add(key)
    assert [await queue.get() for _ in range(3)] == ["a", "b", "c"]


async def test_a_waiting_worker_gets_a_key_when_it_is_added() -> None:
    """`get` waits."""
    queue: WorkQueue[str] = WorkQueue()
    waiting = asyncio.create_task(queue.get())
    await asyncio.sleep(0)
    assert not waiting.done()
    queue.add("a")
    assert await asyncio.wait_for(waiting, 1) == "a"


async def test_of_several_delays_the_earliest_counts() -> None:
    """A wish for later never puts an earlier one off."""
    queue: WorkQueue[str] = WorkQueue()
    queue.add_after("a", 0.02)
    queue.add_after("a", 60)
    assert await asyncio.wait_for(queue.get(), 1) == "a"
    queue.done("a")
    queue.add_after("a", 60)
    queue.add_after("a", 0.02)
    assert await asyncio.wait_for(queue.get(), 1) == "a"


async def test_a_forgotten_key_does_not_come_back() -> None:
    """An object that is gone is not looked at again."""
    queue: WorkQueue[str] = WorkQueue()
    queue.add_after("a", 0.01)
    queue.retry("a", 0.01)
    queue.forget("a")
    await asyncio.sleep(0.05)
    assert len(queue) == 0
    assert queue.attempts("a") == 0


async def test_retries_wait_longer_each_time_until_a_success() -> None:
    """The back-off grows, and starts afresh after a success."""
    queue: WorkQueue[str] = WorkQueue()
    delays = [queue.retry("a") for _ in range(4)]
    assert delays == sorted(delays)
    assert queue.attempts("a") == 4
    queue.succeeded("a")
    assert queue.attempts("a") == 0
    queue.close()


async def test_a_closed_queue_hands_out_nothing_more() -> None:
    """Workers that wait are let go, all of them."""
    queue: WorkQueue[str] = WorkQueue()
    waiting = [asyncio.create_task(queue.get()) for _ in range(3)]
    await asyncio.sleep(0)
    queue.add_after("a", 0.001)
    queue.close()
    assert await asyncio.gather(*waiting) == [None, None, None]
    queue.add("b")
    assert await queue.get() is None


@pytest.mark.parametrize("attempt", [1, 2, 5, 40, 10_000])
def test_the_back_off_is_bounded(attempt: int) -> None:
    """However often it failed, the next try comes."""
    assert 0 < backoff(attempt) <= MAXIMUM_DELAY * 1.2


async def test_the_age_of_the_first_key_tells_whether_workers_are_stuck() -> None:
    """An empty queue is no sign of trouble, however long nothing happens."""
    queue: WorkQueue[str] = WorkQueue()
    assert queue.oldest() == 0.0
    queue.add("a")
    await asyncio.sleep(0.02)
    queue.add("b")
    assert queue.oldest() >= 0.02
    await queue.get()
    assert queue.oldest() < 0.02


async def test_a_nudge_does_not_undercut_a_retry() -> None:
    """The API server asked for a minute; a tick of the clock is no reason to come sooner, a change of the object is."""
    queue: WorkQueue[str] = WorkQueue()
    queue.retry("a", 60)
    queue.nudge("a")
    assert len(queue) == 0
    queue.add("a")
    assert len(queue) == 1
    queue.succeeded("a")
    queue.add_after("b", 60)
    queue.nudge("b")
    assert len(queue) == 2
    queue.close()
