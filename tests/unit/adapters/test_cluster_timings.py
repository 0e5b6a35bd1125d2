"""How long a watch waits between attempts."""

from hypothesis import given
from hypothesis import strategies as st

from specdec_operator.adapters.cluster.timings import Timings


def test_the_pause_doubles_up_to_its_limit() -> None:
    """The first pauses double; from then on the longest one stays."""
    timings = Timings(pause_first=0.5, pause_longest=3.0)

    assert [timings.pause(failures, None, 0.0) for failures in range(1, 6)] == [0.5, 1.0, 2.0, 3.0, 3.0]


@given(
    failures=st.integers(1, 10_000), retry_after=st.none() | st.floats(0, 600), chance=st.floats(0, 1, exclude_max=True)
)
def test_the_pause_is_bounded_and_obeys_the_server(failures: int, retry_after: float | None, chance: float) -> None:
    """No pause is shorter than the server asked for or longer than one and a half times the limit."""
    timings = Timings()

    pause = timings.pause(failures, retry_after, chance)

    longest = max(timings.pause_longest, retry_after or 0.0)
    assert max(timings.pause_first, retry_after or 0.0) <= pause <= 1.5 * longest
