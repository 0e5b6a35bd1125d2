"""Times as status and annotations write them."""

import pytest

from specdec_operator.controller.times import rfc3339, unix


def test_a_time_is_read_as_it_was_written() -> None:
    """In whole seconds."""
    assert unix(rfc3339(1_796_000_000.4)) == 1_796_000_000.0


@pytest.mark.parametrize(
    "text",
    [None, "", "soon", "9" * 10_000, "0001-01-01T00:00:00", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59Z"],
    ids=str,
)
def test_what_nobody_can_mean_is_no_time(text: str | None) -> None:
    """Annotations can be edited: a drain that began in the year 9999 would end in one that cannot be written."""
    assert unix(text) is None
