"""What one request for completions asks of the engines."""

from dataclasses import dataclass

from vllm_simulator.sequence import Finish


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request for completions."""

    model: str
    prompts: tuple[int, ...]
    """Tokens of each prompt; a chat has one."""
    limit: int
    """Tokens that each choice generates."""
    ending: Finish
    requested_tokens: int | None
    choices: int
    """`n`: choices for each prompt."""
    stream: bool
    include_usage: bool
    continuous_usage: bool
    echo_role: bool
    """True for a chat: the first chunk says who speaks."""
