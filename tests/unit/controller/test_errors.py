"""One table says what each failure of the API server means."""

import logging
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_operator.controller.errors import JITTER, LOUDER_AFTER, RULES, Outcome, outcome
from specdec_operator.ports import ClusterError, Failure

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "api-errors.md"
FAILURES = st.sampled_from(list(Failure))


def _outcome(failure: Failure, attempt: int = 0, *, retry_after: float | None = None, jitter: float = 0.0) -> Outcome:
    return outcome(ClusterError(failure, "refused", retry_after=retry_after), attempt, jitter)


def test_every_failure_has_a_rule() -> None:
    """No failure is left without an answer."""
    assert set(RULES) == set(Failure)


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (Failure.NOT_FOUND, Outcome(1.0, logging.DEBUG, event=False, forget=True, refresh=True)),
        (Failure.CONFLICT, Outcome(0.2, logging.DEBUG, event=False, forget=False, refresh=True)),
        (Failure.GONE, Outcome(0.2, logging.DEBUG, event=False, forget=False, refresh=True)),
        (Failure.INVALID, Outcome(30.0, logging.ERROR, event=True, forget=False, refresh=False)),
        (Failure.FORBIDDEN, Outcome(10.0, logging.ERROR, event=True, forget=False, refresh=False)),
        (Failure.TOO_MANY_REQUESTS, Outcome(1.0, logging.INFO, event=False, forget=False, refresh=False)),
        (Failure.SERVER, Outcome(1.0, logging.INFO, event=False, forget=False, refresh=True)),
        (Failure.TIMEOUT, Outcome(1.0, logging.INFO, event=False, forget=False, refresh=True)),
        (Failure.CONNECTION, Outcome(1.0, logging.INFO, event=False, forget=False, refresh=True)),
    ],
)
def test_first_failure(failure: Failure, expected: Outcome) -> None:
    """What follows from the first failure of each sort."""
    assert _outcome(failure) == expected


@given(failure=FAILURES, attempt=st.integers(0, 100_000), jitter=st.floats(0, 1))
def test_waits_grow_to_a_limit(failure: Failure, attempt: int, jitter: float) -> None:
    """No wait falls with the attempts, and none passes the limit of its row."""
    now, later = _outcome(failure, attempt), _outcome(failure, attempt + 1)

    assert now.requeue_after <= later.requeue_after <= RULES[failure].longest
    assert now.requeue_after <= _outcome(failure, attempt, jitter=jitter).requeue_after
    assert _outcome(failure, attempt, jitter=jitter).requeue_after <= RULES[failure].longest * (1 + JITTER)


@given(failure=FAILURES, attempt=st.integers(0, 50), retry_after=st.floats(0, 3600), jitter=st.floats(0, 1))
def test_retry_after_is_never_undercut(failure: Failure, attempt: int, retry_after: float, jitter: float) -> None:
    """Whatever the row says, the server's own wish is a lower bound."""
    assert _outcome(failure, attempt, retry_after=retry_after, jitter=jitter).requeue_after >= retry_after


@pytest.mark.parametrize("failure", [Failure.INVALID, Failure.FORBIDDEN])
def test_a_human_is_told_once(failure: Failure) -> None:
    """Failures that a human must repair make one event, not one per attempt."""
    assert [_outcome(failure, attempt).event for attempt in range(4)] == [True, False, False, False]


@pytest.mark.parametrize("failure", list(Failure))
def test_trouble_that_stays_gets_louder(failure: Failure) -> None:
    """What a few attempts do not cure is at least a warning."""
    assert _outcome(failure, LOUDER_AFTER).level >= logging.WARNING


def test_the_page_shows_the_same_table() -> None:
    """The table in the documentation is the table in the code."""
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    cells = {row.split("|")[1].strip().strip("`"): [cell.strip() for cell in row.split("|")[3:8]] for row in rows}

    assert cells == {
        failure.value: [
            f"{rule.first:g} s, at most {rule.longest:g} s",
            logging.getLevelName(rule.level).lower(),
            "yes" if rule.event else "no",
            "yes" if rule.refresh else "no",
            "yes" if rule.forget else "no",
        ]
        for failure, rule in RULES.items()
    }
