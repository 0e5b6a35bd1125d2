"""From what the API server or the network did to a ClusterError. Pure."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from specdec_operator.ports import ClusterError, Failure, JsonObject

MAX_MESSAGE: Final = 300
"""Characters of a server's message that are kept: refusals may repeat the whole object."""

_BY_STATUS: Final[Mapping[int, Failure]] = {
    401: Failure.FORBIDDEN,
    403: Failure.FORBIDDEN,
    404: Failure.NOT_FOUND,
    408: Failure.TIMEOUT,
    409: Failure.CONFLICT,
    410: Failure.GONE,
    429: Failure.TOO_MANY_REQUESTS,
}

_UNTYPED: Final = "failed to create typed patch object"
"""Answered with 500 to an apply with a field or a type that the schema does not have."""


def failure_of(status: int) -> Failure:
    """Return what an HTTP status of 300 and more means."""
    known = _BY_STATUS.get(status)
    if known is not None:
        return known
    return Failure.INVALID if 400 <= status < 500 else Failure.SERVER


def shorten(text: str, limit: int = MAX_MESSAGE) -> str:
    """Return the text on one line, at most `limit` characters long."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 3] + "..."


def retry_after_of(headers: Mapping[str, str], now: datetime) -> float | None:
    """Read the header Retry-After (seconds or a date); None when it is absent or makes no sense."""
    value = headers.get("Retry-After", "").strip()
    if not value:
        return None
    if value.isdigit():
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (aware - now).total_seconds())


def refusal(what: str, status: int, headers: Mapping[str, str], payload: bytes, reason: str) -> ClusterError:
    """Return the error for an answer with a status of 300 and more.

    Args:
        what: the request in words, such as "PATCH /api/v1/...".
        status: the HTTP status.
        headers: a mapping that ignores case, or one with `Retry-After` spelt so.
        payload: the body; of one that is no Kubernetes `Status` nothing is repeated.
        reason: the reason phrase, used when the body has no message.
    """
    body = _status_body(payload)
    message = str(body.get("message") or reason or "no message")
    return ClusterError(
        _refine(failure_of(status), message, body),
        shorten(f"{what}: {message} (HTTP {status})"),
        status=status,
        retry_after=retry_after_of(headers, datetime.now(UTC)),
    )


def _status_body(payload: bytes) -> JsonObject:
    try:
        body = json.loads(payload)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _refine(failure: Failure, message: str, body: JsonObject) -> Failure:
    """Correct two statuses of the API server that say something else than they mean."""
    if failure is Failure.INVALID:
        causes = (body.get("details") or {}).get("causes") or ()
        if any(cause.get("field") == "metadata.uid" for cause in causes):
            return Failure.CONFLICT
    if failure is Failure.SERVER and message.startswith(_UNTYPED):
        return Failure.INVALID
    return failure
