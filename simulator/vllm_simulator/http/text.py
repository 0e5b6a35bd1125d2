"""The words that a simulated model says: one a token, from a fixed cycle."""

SENTENCE = (
    " the draft model guesses what the target would say and the target checks all guesses in one pass"
    " while the batch is small each pass waits for memory so checks are free"
    " when the batch grows each pass waits for arithmetic and every refused guess costs time"
)
WORDS = tuple(f" {word}" for word in SENTENCE.split())


def words(start: int, count: int) -> str:
    """The text of tokens `start` to `start + count`; contains nothing that JSON escapes."""
    size = len(WORDS)
    return "".join(WORDS[position % size] for position in range(start, start + count))
