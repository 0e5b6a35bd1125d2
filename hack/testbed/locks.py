"""Locks between processes, by flock: they end with the process, however it ends."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


def try_lock(path: Path) -> int | None:
    """Lock `path` and return the file descriptor that holds the lock; None when another process has it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def wait_lock(path: Path, timeout: float) -> int | None:
    """Lock `path`, waiting up to `timeout` seconds; None when it stays taken."""
    deadline = time.monotonic() + timeout
    while (descriptor := try_lock(path)) is None:
        if time.monotonic() > deadline:
            return None
        time.sleep(0.05)
    return descriptor


@contextmanager
def locked(path: Path, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold the lock on `path` for the block; `on_wait` is called once when another process has it."""
    descriptor = try_lock(path)
    if descriptor is None:
        on_wait()
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(descriptor)
