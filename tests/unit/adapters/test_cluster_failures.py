"""From HTTP answers to failures."""

import json
from datetime import UTC, datetime

import pytest

from specdec_operator.adapters.cluster.failures import MAX_MESSAGE, failure_of, refusal, retry_after_of, shorten
from specdec_operator.ports import Failure

NOW = datetime(2026, 7, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "failure"),
    [
        (302, Failure.SERVER),
        (400, Failure.INVALID),
        (401, Failure.FORBIDDEN),
        (403, Failure.FORBIDDEN),
        (404, Failure.NOT_FOUND),
        (408, Failure.TIMEOUT),
        (409, Failure.CONFLICT),
        (410, Failure.GONE),
        (415, Failure.INVALID),
        (422, Failure.INVALID),
        (429, Failure.TOO_MANY_REQUESTS),
        (500, Failure.SERVER),
        (504, Failure.SERVER),
    ],
)
def test_each_status_has_a_meaning(status: int, failure: Failure) -> None:
    """Every status that is no success means one failure."""
    assert failure_of(status) is failure


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        ("Wed, 01 Jul 2026 12:00:30 GMT", 30.0),
        ("Wed, 01 Jul 2026 11:00:00 GMT", 0.0),
        ("soon", None),
        ("-3", None),
        ("", None),
    ],
)
def test_retry_after_is_read_in_both_forms(value: str, seconds: float | None) -> None:
    """Seconds and dates are understood, nonsense is ignored."""
    assert retry_after_of({"Retry-After": value}, NOW) == seconds


def test_the_answer_keeps_status_and_retry_after() -> None:
    """A 503 with Retry-After is a Server failure that says for how long."""
    error = refusal("GET x", 503, {"Retry-After": "12"}, b"{}", "Service Unavailable")

    assert error.failure is Failure.SERVER
    assert error.status == 503
    assert error.retry_after == 12.0
    assert str(error) == "GET x: Service Unavailable (HTTP 503)"


def test_a_long_message_is_cut() -> None:
    """A refusal that repeats the object does not fill logs and conditions."""
    payload = json.dumps({"message": "spec is invalid: " + "x" * 5000}).encode()

    text = str(refusal("PATCH x", 422, {}, payload, "Unprocessable Entity"))

    assert len(text) <= MAX_MESSAGE
    assert text.startswith("PATCH x: spec is invalid: xxx")


def test_a_body_that_is_no_status_is_not_repeated() -> None:
    """The page of a proxy, which may hold anything, stays out of the message."""
    error = refusal("GET x", 502, {}, b"<html>token=abc</html>", "Bad Gateway")

    assert str(error) == "GET x: Bad Gateway (HTTP 502)"


def test_messages_are_one_line() -> None:
    """Line ends and runs of spaces become one space."""
    assert shorten("a\n  b\tc") == "a b c"
