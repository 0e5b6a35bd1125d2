"""Where a request waits for tokens."""

import asyncio

import pytest

from vllm_simulator.inbox import Delivery, Inbox
from vllm_simulator.sequence import Finish


async def test_a_slow_reader_finds_all_deliveries_at_once() -> None:
    """In order, none lost."""
    inbox = Inbox()
    first, second = inbox.slot(0), inbox.slot(1)
    first(1, None)
    second(3, None)
    first(2, Finish.LENGTH)

    assert await inbox.take() == [Delivery(0, 1, None), Delivery(1, 3, None), Delivery(0, 2, Finish.LENGTH)]


async def test_a_waiting_reader_is_woken() -> None:
    """By the first delivery."""
    inbox = Inbox()
    reader = asyncio.create_task(inbox.take())
    await asyncio.sleep(0)
    inbox.slot(0)(1, None)

    assert await reader == [Delivery(0, 1, None)]


async def test_a_failure_comes_after_what_was_delivered() -> None:
    """What arrived is still read; then every look raises the first failure."""
    inbox = Inbox()
    inbox.slot(0)(1, None)
    inbox.fail(RuntimeError("dead"))
    inbox.fail(RuntimeError("later"))

    assert await inbox.take() == [Delivery(0, 1, None)]
    with pytest.raises(RuntimeError, match="dead"):
        await inbox.take()
