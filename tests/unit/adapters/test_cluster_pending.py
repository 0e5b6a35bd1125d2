"""Keys that wait for the consumer."""

import asyncio

import pytest

from specdec_operator.adapters.cluster.pending import PendingKeys
from specdec_operator.ports import Key

A, B = Key("n", "a"), Key("n", "b")


async def test_a_key_waits_once() -> None:
    """A key that changed ten times comes once, and in the order of its first change."""
    pending = PendingKeys()
    pending.put([A, A])
    pending.put([B, A])

    assert [await pending.get(), await pending.get()] == [A, B]


async def test_an_empty_queue_waits() -> None:
    """The consumer waits until something is added."""
    pending = PendingKeys()
    waiting = asyncio.create_task(pending.get())
    await asyncio.sleep(0)
    pending.put([])
    await asyncio.sleep(0)
    assert not waiting.done()

    pending.put([A])

    assert await waiting == A


async def test_a_defect_reaches_the_consumer() -> None:
    """An error of a watch is raised where the keys are read."""
    pending = PendingKeys()
    pending.put([A])
    pending.fail(RuntimeError("broken"))

    with pytest.raises(RuntimeError, match="broken"):
        await pending.get()
