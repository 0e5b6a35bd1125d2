"""The K schedule inside the engine."""

import pytest

from vllm_simulator.schedule import ScheduleError, read_schedule


def test_k_follows_the_batch() -> None:
    """Ranges may come in any order; gaps and the tail keep the K before them; K never exceeds the configured one."""
    schedule = read_schedule([[17, 32, 1], [1, 8, 9]], 4)

    assert schedule is not None
    assert [schedule.drafts(batch) for batch in (1, 8, 9, 16, 17, 32, 500)] == [4, 4, 4, 4, 1, 1, 1]


def test_an_empty_list_is_no_schedule() -> None:
    """As in vLLM."""
    assert read_schedule([], 4) is None


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        ([[2, 8, 4]], "must start at 1"),
        ([[1, 8, 4], [8, 16, 2]], "overlaps"),
        ([[1, 8, 4], [16, 9, 2]], "is empty"),
        ([[1, 8, -1]], "negative K"),
    ],
)
def test_broken_ranges_are_refused(ranges: list[list[int]], message: str) -> None:
    """Each with what is wrong."""
    with pytest.raises(ScheduleError, match=message):
        read_schedule(ranges, 4)
