"""What each failure of the API server means for the reconcile that met it: one table.

`docs/reference/api-errors.md` shows the same table to users; a test compares the two.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from specdec_operator.ports import ClusterError, Failure

JITTER: Final = 0.25
"""Part of a wait that chance may add."""
LOUDER_AFTER: Final = 5
"""Failed attempts in a row after which a passing trouble is logged as a warning."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What to do after a failed reconcile.

    Attributes:
        requeue_after: seconds until the next attempt.
        level: how loud to log it, as in `logging`.
        event: tell the user by an event: a human has to act.
        forget: the object may be gone: drop what is remembered of it; the next pass starts from what it reads.
        refresh: the next pass must read everything live: the cache is behind, or a write may have arrived.
    """

    requeue_after: float
    level: int
    event: bool
    forget: bool
    refresh: bool


@dataclass(frozen=True, slots=True)
class Rule:
    """One row: waits in seconds from the first attempt (doubled each time) to the longest."""

    first: float
    longest: float
    level: int
    event: bool = False
    forget: bool = False
    refresh: bool = False


RULES: Final[Mapping[Failure, Rule]] = {
    Failure.NOT_FOUND: Rule(1, 60, logging.DEBUG, forget=True, refresh=True),
    Failure.CONFLICT: Rule(0.2, 30, logging.DEBUG, refresh=True),
    Failure.GONE: Rule(0.2, 30, logging.DEBUG, refresh=True),
    Failure.INVALID: Rule(30, 600, logging.ERROR, event=True),
    Failure.FORBIDDEN: Rule(10, 300, logging.ERROR, event=True),
    Failure.TOO_MANY_REQUESTS: Rule(1, 60, logging.INFO),
    Failure.SERVER: Rule(1, 60, logging.INFO, refresh=True),
    Failure.TIMEOUT: Rule(1, 60, logging.INFO, refresh=True),
    Failure.CONNECTION: Rule(1, 30, logging.INFO, refresh=True),
}


def outcome(error: ClusterError, attempt: int, jitter: float = 0.0) -> Outcome:
    """Return what follows from a failure.

    Args:
        error: the failure. A `retry_after` of the server is never undercut.
        attempt: failed attempts of this object in a row before this one, from 0.
        jitter: from 0 to 1, drawn by the caller; adds up to a quarter to the wait.
    """
    rule = RULES[error.failure]
    wait = max(_backoff(rule, attempt), error.retry_after or 0.0)
    return Outcome(
        requeue_after=wait * (1.0 + JITTER * jitter),
        level=max(rule.level, logging.WARNING) if attempt >= LOUDER_AFTER else rule.level,
        event=rule.event and attempt == 0,
        forget=rule.forget,
        refresh=rule.refresh,
    )


def _backoff(rule: Rule, attempt: int) -> float:
    # The exponent is bounded because 2.0 ** 1024 is an error.
    return min(rule.first * 2.0 ** min(attempt, 32), rule.longest)
