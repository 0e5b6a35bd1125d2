"""Says on stderr what is waited for and for how long: a live line on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

console = Console(stderr=True, highlight=False, soft_wrap=True)


class Step:
    """One thing that is waited for; `update` says more about it."""

    def __init__(self, what: str, live: Progress | None) -> None:
        self._what = what
        self._live = live
        self._task = live.add_task(what, total=None) if live else None
        self._began = self._said = time.monotonic()

    def update(self, detail: str) -> None:
        """Show what goes on now; without a terminal at most one line in 20 seconds."""
        if self._live is not None and self._task is not None:
            self._live.update(self._task, description=f"{self._what}: {detail}")
        elif (now := time.monotonic()) - self._said > 20:
            self._said = now
            console.print(f"[dim]…[/] {self._what}: {detail}, {now - self._began:.0f} s")


@contextmanager
def step(what: str, *, quiet: bool = False) -> Iterator[Step]:
    """Show `what` while the block runs, and afterwards how long it took; `quiet`: only the live line on a terminal."""
    began = time.monotonic()
    if sys.stderr.isatty():
        columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        with Progress(*columns, console=console, transient=True) as live:
            yield Step(what, live)
    else:
        if not quiet:
            console.print(f"[dim]…[/] {what}")
        yield Step(what, None)
    if not quiet:
        console.print(f"[green]✓[/] {what} [dim]{time.monotonic() - began:.1f} s[/]")
