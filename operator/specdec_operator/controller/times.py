"""RFC 3339 in UTC with whole seconds, as `status` and our annotations write time."""

from datetime import UTC, datetime
from typing import Final

_YEAR_9000: Final = datetime(9000, 1, 1, tzinfo=UTC).timestamp()


def rfc3339(seconds: float) -> str:
    """Return Unix seconds as "2026-12-01T09:30:00Z"."""
    return datetime.fromtimestamp(seconds, tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def unix(text: str | None) -> float | None:
    """Return the Unix seconds of an RFC 3339 time, None for None and for what is no time.

    Nor is a time that nobody can mean, before 1970 or from the year 9000 on: sums with it could not be written.
    """
    if text is None:
        return None
    try:
        seconds = datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        return None
    return seconds if 0.0 <= seconds < _YEAR_9000 else None
