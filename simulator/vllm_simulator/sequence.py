"""One sequence on its way through the engine."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum


class Finish(StrEnum):
    """Why a sequence ended, as vLLM labels it."""

    STOP = "stop"
    LENGTH = "length"
    ABORT = "abort"
    ERROR = "error"
    REPETITION = "repetition"


@dataclass(slots=True, kw_only=True, eq=False)
class Sequence:
    """State of one sequence; times are seconds on the engine's clock, token counts are exact."""

    prompt_tokens: int
    limit: int
    """Tokens to generate at most."""
    deliver: Callable[[int, Finish | None], None] = field(repr=False)
    """Called once a step with the new tokens; with the reason when it is the last call."""
    ending: Finish = Finish.LENGTH
    """Why it ends when the limit is reached."""
    requested_tokens: int | None = None
    """`max_tokens` of the request, None where it named none."""
    choices: int = 1
    """`n` of the request."""

    arrived: float = 0.0
    admitted: float | None = None
    """First admission; a preemption does not move it."""
    first_token: float | None = None
    last_token: float = 0.0
    generated: int = 0
    computed: int = 0
    """Tokens whose KV entries exist."""
    preemptions: int = 0

    @property
    def context(self) -> int:
        """Tokens that must have KV entries before the next one can be made."""
        return self.prompt_tokens + self.generated

    @property
    def pending(self) -> int:
        """Tokens still to compute: 1 while decoding, more while a prompt (or what a preemption lost) is computed."""
        return self.context - self.computed

    @property
    def decoding(self) -> bool:
        """True when a step gives it 1 + accepted tokens."""
        return self.generated > 0 and self.pending == 1

    @property
    def left(self) -> int:
        """Tokens until the limit."""
        return self.limit - self.generated
