"""The stream of a watch, cut anywhere, gives the same lines."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_operator.adapters.cluster.lines import LineSplitter

TEXTS = st.lists(st.binary(max_size=40).filter(lambda line: b"\n" not in line), max_size=12)


def _chunks(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


@given(lines=TEXTS, cuts=st.lists(st.integers(min_value=0), max_size=20))
def test_cuts_do_not_matter(lines: list[bytes], cuts: list[int]) -> None:
    """However the network cuts the stream, each finished line comes once, in order; blank ones are left out."""
    splitter = LineSplitter()

    seen = [line for chunk in _chunks(b"".join(line + b"\n" for line in lines), cuts) for line in splitter.feed(chunk)]

    assert [line for line in lines if line.strip()] == seen


def test_a_line_without_end_waits() -> None:
    """What has no line end yet is kept for the next chunk."""
    splitter = LineSplitter()

    assert splitter.feed(b'{"a"') == []
    assert splitter.feed(b": 1}\n") == [b'{"a": 1}']


def test_a_line_longer_than_any_reader_buffer_comes_whole() -> None:
    """An event of several megabytes is one line: no buffer size limits it."""
    splitter = LineSplitter()
    line = b"x" * (5 * 1024 * 1024)
    chunks = _chunks(line + b"\n", list(range(0, len(line), 65_536)))

    assert [line] == [found for chunk in chunks for found in splitter.feed(chunk)]


def test_a_line_past_the_limit_is_refused() -> None:
    """A stream that never ends its line cannot fill the memory."""
    splitter = LineSplitter(limit=10)
    splitter.feed(b"x" * 10)

    with pytest.raises(ValueError, match="longer than 10 bytes"):
        splitter.feed(b"x")
