"""Locks between processes."""

import os
from pathlib import Path

from hack.testbed.locks import locked, try_lock, wait_lock


def test_a_lock_is_held_once_and_freed_with_its_descriptor(tmp_path: Path) -> None:
    """A second taker gets nothing until the first has gone."""
    path = tmp_path / "lock"
    held = try_lock(path)
    assert held is not None
    assert try_lock(path) is None
    assert wait_lock(path, timeout=0.1) is None

    os.close(held)

    again = wait_lock(path, timeout=0.1)
    assert again is not None
    os.close(again)


def test_a_free_lock_is_taken_without_a_word(tmp_path: Path) -> None:
    """`on_wait` is only called when another process has the lock."""
    said: list[str] = []
    with locked(tmp_path / "lock", lambda: said.append("waiting")):
        assert try_lock(tmp_path / "lock") is None
    assert said == []
