"""RFC 3339 in UTC with whole seconds, as `status` and our annotations write time."""

from datetime import UTC, datetime


def rfc3339(seconds: float) -> str:
    """Return Unix seconds as "2026-12-01T09:30:00Z"."""
    return datetime.fromtimestamp(seconds, tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def unix(text: str | None) -> float | None:
    """Return the Unix seconds of an RFC 3339 time, None for None and for what is no time."""
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return None
