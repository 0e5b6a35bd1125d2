"""When a status is worth a write."""

import pytest

from specdec_operator.api.status import SignalsStatus, SpecDecDeploymentStatus
from specdec_operator.controller.worth import wording, worth_writing

NOW = 1_796_000_000.0


def status(concurrency: str | None, *, sampled_at: str = "2026-11-30T00:00:00Z", **fields: object):
    """Return a status with this concurrency."""
    signals = SignalsStatus(concurrency=concurrency, sampled_at=sampled_at) if concurrency is not None else None
    return SpecDecDeploymentStatus(signals=signals, **fields)


def told(message: str, *, reason: str = "Found") -> dict[str, object]:
    """Return a status whose one condition says this."""
    time = "2026-11-30T00:00:00Z"
    record = {"type": "Ready", "status": "True", "reason": reason, "message": message, "lastTransitionTime": time}
    return SpecDecDeploymentStatus.model_validate({"conditions": [record]})


def test_the_same_status_is_not_written() -> None:
    """Nothing new, no write."""
    assert not worth_writing(status("5.0"), status("5.0"), NOW)


def test_a_number_that_moves_alone_waits_for_five_minutes() -> None:
    """At most one write in five minutes for numbers."""
    old = status("5.0", sampled_at="2026-11-30T00:00:00Z")
    at = 1_795_996_800.0  # 2026-11-30T00:00:00Z
    assert not worth_writing(old, status("50.0"), at + 299)
    assert worth_writing(old, status("50.0"), at + 300)


@pytest.mark.parametrize(("after", "written"), [("50.0", False), ("59.0", False), ("62.6", True), ("39.9", True)])
def test_a_number_counts_as_moved_beyond_a_fifth(after: str, *, written: bool) -> None:
    """20 % of the larger one."""
    assert worth_writing(status("50.0"), status(after), NOW + 1e6) is written


@pytest.mark.parametrize("after", ["0.0", "1.0"])
def test_next_to_nothing_is_no_move(after: str) -> None:
    """Between 0.1 and 1.0 requests there is a factor of ten and nothing to tell."""
    assert not worth_writing(status("0.1"), status(after), NOW + 1e6)


def test_numbers_that_appear_or_vanish_are_written() -> None:
    """Missing is not the same as zero."""
    assert worth_writing(status(None), status("5.0"), NOW)
    assert worth_writing(status("5.0"), status(None), NOW)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("5.3 running requests per engine are below 20.0.", "6.1 running requests per engine are below 20.0."),
        ("The last reading is 1m30s old.", "The last reading is 1h2m old."),
        ("Next try at 2026-12-01T09:30:00Z.", "Next try at 2026-12-01T09:30:15Z."),
        ("Acceptance rate 45% of 100%", "Acceptance rate 46% of 100%"),
    ],
)
def test_a_sentence_that_differs_in_its_numbers_only_is_not_written(before: str, after: str) -> None:
    """Live numbers are in the metrics; status gets them with its next write."""
    assert not worth_writing(told(before), told(after), NOW)
    assert wording(before) == wording(after)


def test_a_sentence_about_another_pod_is_written() -> None:
    """The number at the end of a pod's name is no measurement."""
    assert worth_writing(told("Pod llama-0 is not Ready."), told("Pod llama-1 is not Ready."), NOW)


def test_another_reason_is_written() -> None:
    """Even with the same words."""
    assert worth_writing(told("x"), told("x", reason="Stale"), NOW)


def test_a_break_even_that_moves_is_not_written_alone() -> None:
    """It follows the measured acceptance and so moves all the time."""
    assert not worth_writing(status(None, break_even_concurrency=20), status(None, break_even_concurrency=21), NOW)
    assert worth_writing(status(None), status(None, break_even_concurrency=21), NOW)
