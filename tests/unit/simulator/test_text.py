"""What the simulated model says."""

import json

from vllm_simulator.http.text import WORDS, words


def test_pieces_make_up_the_whole() -> None:
    """However tokens fall into chunks, the text is the same."""
    assert words(0, 3) + words(3, len(WORDS)) == words(0, len(WORDS) + 3)


def test_words_need_no_escapes() -> None:
    """Chunks are put together without a JSON encoder."""
    assert json.dumps(words(0, 200)) == f'"{words(0, 200)}"'
