"""The JSON of answers, streamed and whole, for both APIs.

Chunks are put together from strings: at thousands of chunks a second a JSON encoder would be most of the work.
"""

import json
import time
import uuid
from dataclasses import dataclass, field
from typing import Any

from vllm_simulator.ask import Ask
from vllm_simulator.http.text import words
from vllm_simulator.sequence import Finish

DONE = b"data: [DONE]\n\n"


@dataclass(slots=True, kw_only=True)
class Answer:
    """One answer while it grows: identity, and the tokens of each choice so far."""

    ask: Ask
    fingerprint: str
    """`system_fingerprint`: which server said it; on the last chunk of a stream only."""
    created: int = field(default_factory=lambda: int(time.time()))
    name: str = ""
    tokens: list[int] = field(default_factory=list)
    reasons: list[Finish | None] = field(default_factory=list)
    _head: str = ""

    def __post_init__(self) -> None:
        """Make the parts that all chunks share."""
        count = len(self.ask.prompts) * self.ask.choices
        self.tokens, self.reasons = [0] * count, [None] * count
        chat = self.ask.echo_role
        self.name = ("chatcmpl-" if chat else "cmpl-") + uuid.uuid4().hex[:16]
        kind = "chat.completion.chunk" if chat else "text_completion"
        model = json.dumps(self.ask.model)
        self._head = f'data: {{"id":"{self.name}","object":"{kind}","created":{self.created},"model":{model},'

    @property
    def complete(self) -> bool:
        """True when every choice has ended."""
        return None not in self.reasons

    def opening(self) -> bytes:
        """The chunks before the first token: in a chat, who speaks."""
        if not self.ask.echo_role:
            return b""
        return "".join(
            f'{self._head}"choices":[{{"index":{choice},"delta":{{"role":"assistant","content":""}},"logprobs":null,'
            f'"finish_reason":null}}]{self._running_usage()}}}\n\n'
            for choice in range(len(self.tokens))
        ).encode()

    def chunk(self, choice: int, tokens: int, reason: Finish | None) -> bytes:
        """The chunk of some new tokens, which are counted here."""
        text = words(self.tokens[choice], tokens)
        self.tokens[choice] += tokens
        self.reasons[choice] = reason
        end = f'"{reason.value}"' if reason else "null"
        ids = '"token_ids":null' if self.ask.echo_role else '"prompt_token_ids":null,"token_ids":null'
        said = f'"delta":{{"content":"{text}"}}' if self.ask.echo_role else f'"text":"{text}"'
        return (
            f'{self._head}"choices":[{{"index":{choice},{said},"logprobs":null,"finish_reason":{end},'
            f'"stop_reason":null,{ids}}}]{self._running_usage()}{self._signed()}}}\n\n'
        ).encode()

    def closing(self) -> bytes:
        """What follows the last token."""
        if not self.ask.include_usage:
            return DONE
        signed = f'"system_fingerprint":"{self.fingerprint}"'
        return f'{self._head}"choices":[],"usage":{_compact(self.usage())},{signed}}}\n\n'.encode() + DONE

    def failing(self, error: dict[str, object]) -> bytes:
        """What follows instead when the engine died; vLLM says `[DONE]` even then."""
        return f"data: {json.dumps(error)}\n\n".encode() + DONE

    def count(self, choice: int, tokens: int, reason: Finish | None) -> None:
        """Note new tokens of an answer that is not streamed."""
        self.tokens[choice] += tokens
        self.reasons[choice] = reason

    def usage(self) -> dict[str, Any]:
        """Token counts so far."""
        prompt, completion = sum(self.ask.prompts), sum(self.tokens)
        return {
            "prompt_tokens": prompt,
            "total_tokens": prompt + completion,
            "completion_tokens": completion,
        }

    def whole(self) -> dict[str, Any]:
        """The answer that is not streamed."""
        kind = "chat.completion" if self.ask.echo_role else "text_completion"
        choices = [self._choice(choice) for choice in range(len(self.tokens))]
        return {
            "id": self.name,
            "object": kind,
            "created": self.created,
            "model": self.ask.model,
            "choices": choices,
            "service_tier": None,
            "system_fingerprint": self.fingerprint,
            "usage": {**self.usage(), "prompt_tokens_details": None, "completion_tokens_details": None},
            "kv_transfer_params": None,
            "ec_transfer_params": None,
            "metrics": None,
        }

    def _choice(self, choice: int) -> dict[str, Any]:
        text, reason = words(0, self.tokens[choice]), self.reasons[choice]
        common = {"index": choice, "logprobs": None, "finish_reason": reason and reason.value, "stop_reason": None}
        if self.ask.echo_role:
            return {**common, "message": {"role": "assistant", "content": text, "tool_calls": []}}
        unset = ("token_ids", "prompt_logprobs", "prompt_token_ids", "routed_experts")
        return {**common, "text": text, **dict.fromkeys(unset)}

    def _signed(self) -> str:
        last = self.complete and not self.ask.include_usage
        return f',"system_fingerprint":"{self.fingerprint}"' if last else ""

    def _running_usage(self) -> str:
        if not self.ask.include_usage:
            return ""
        return f',"usage":{_compact(self.usage())}' if self.ask.continuous_usage else ',"usage":null'


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))
