"""What the demo prints: narrated lines, and on a terminal a live table below them."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.table import Table

QUIET_SECONDS = 10.0
"""Where there is no terminal, the live line is printed this often."""


class Screen:
    """Lines of narration with the seconds since the start; methods may be called at any time."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(highlight=False, soft_wrap=True)
        self.start = time.monotonic()
        self._live: Live | None = None
        self._last = 0.0

    def say(self, text: str, style: str = "") -> None:
        """Print a line."""
        self.console.print(f"[dim]{time.monotonic() - self.start:5.0f}s[/dim]  {text}", style=style)

    def chapter(self, text: str) -> None:
        """Print a line that begins a part."""
        self.say(text, "bold")

    def show(self, rows: dict[str, dict[str, str]]) -> None:
        """Show what is measured now: columns by row name."""
        if self._live is not None and self.console.is_terminal:
            self._live.update(table("now", rows))
        elif time.monotonic() - self._last > QUIET_SECONDS:
            self._last = time.monotonic()
            text = "; ".join(f"{name}: " + ", ".join(f"{k} {v}" for k, v in row.items()) for name, row in rows.items())
            self.say(text, "dim")

    @contextmanager
    def live(self) -> Iterator[None]:
        """Keep the table of `show` at the bottom of the terminal for the time of the block."""
        if not self.console.is_terminal:
            yield
            return
        with Live(console=self.console, refresh_per_second=4, transient=True) as self._live:
            yield
        self._live = None


def table(title: str, rows: dict[str, dict[str, str]]) -> Table:
    """Return a table with one row per name; columns are those of the first row."""
    result = Table(title=title, title_justify="left", title_style="bold")
    columns = next(iter(rows.values()), {})
    result.add_column("")
    for column in columns:
        result.add_column(column, justify="right")
    for name, row in rows.items():
        result.add_row(name, *(row.get(column, "") for column in columns))
    return result
