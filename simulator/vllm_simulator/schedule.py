"""The K schedule inside the engine, `num_speculative_tokens_per_batch_size`."""

from collections.abc import Sequence
from dataclasses import dataclass


class ScheduleError(ValueError):
    """The schedule is refused when the engine starts, after the configuration itself was accepted."""


@dataclass(frozen=True, slots=True)
class KSchedule:
    """Drafts by the number of requests in the step: ranges (first, last, K), sorted, inclusive, not overlapping."""

    ranges: tuple[tuple[int, int, int], ...]
    ceiling: int
    """The configured K: no range drafts more."""

    def drafts(self, batch: int) -> int:
        """K for a step of `batch` requests; gaps and what lies beyond the last range keep the K before them."""
        chosen = self.ranges[0][2]
        for first, _, drafts in self.ranges:
            if batch < first:
                break
            chosen = drafts
        return min(chosen, self.ceiling)


def read_schedule(entries: Sequence[Sequence[int]], ceiling: int) -> KSchedule | None:
    """Check and sort the ranges; an empty list is no schedule.

    Raises:
        ScheduleError: the first range does not start at 1, a range is empty or negative, or two overlap.
    """
    if not entries:
        return None
    ranges = tuple(sorted((first, last, drafts) for first, last, drafts in entries))
    if ranges[0][0] != 1:
        raise ScheduleError(f"the first batch size range must start at 1, not {ranges[0][0]}")
    end = 0
    for first, last, drafts in ranges:
        if last < first or drafts < 0:
            raise ScheduleError(f"range [{first}, {last}, {drafts}] is empty or has a negative K")
        if first <= end:
            raise ScheduleError(f"range [{first}, {last}, {drafts}] overlaps the one before it, which ends at {end}")
        end = last
    return KSchedule(ranges, ceiling)
