"""What a completion request asks for, checked as vLLM checks it."""

import json
from dataclasses import dataclass
from typing import Any

from vllm_simulator.http.errors import ApiError
from vllm_simulator.sequence import Finish

CHARACTERS_PER_TOKEN = 4


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


def read_ask(raw: bytes, *, chat: bool, max_model_len: int, natural_end: int, default_model: str) -> Ask:
    """Decode and check a body.

    Raises:
        ApiError: 400 with what is wrong.
    """
    body = _object(raw)
    prompts = (_chat_tokens(body),) if chat else _prompt_tokens(body)
    requested = _whole(body, "max_completion_tokens", 1) or _whole(body, "max_tokens", 1)
    if requested is None and not chat:
        requested = 16
    options = body.get("stream_options") or {}
    if options and not body.get("stream"):
        raise ApiError(400, "Stream options can only be defined when `stream=True`.", param="stream_options")
    limit, ending = _limit(requested, max(prompts), max_model_len, natural_end, ignore_eos=bool(body.get("ignore_eos")))
    return Ask(
        model=str(body.get("model") or default_model),
        prompts=prompts,
        limit=limit,
        ending=ending,
        requested_tokens=requested,
        choices=_whole(body, "n", 1) or 1,
        stream=bool(body.get("stream")),
        include_usage=bool(options.get("include_usage")),
        continuous_usage=bool(options.get("continuous_usage_stats")),
        echo_role=chat,
    )


def tokens_of(text: str) -> int:
    """Tokens of a text: four characters each, at least one."""
    return max(1, -(-len(text) // CHARACTERS_PER_TOKEN))


def _object(raw: bytes) -> dict[str, Any]:
    try:
        body = json.loads(raw)
    except ValueError as error:
        raise ApiError(
            400, f"1 validation error:\n  {{'type': 'json_invalid', 'msg': 'JSON decode error: {error}'}}"
        ) from error
    if not isinstance(body, dict):
        raise ApiError(400, "1 validation error:\n  {'type': 'dict_type', 'msg': 'Input should be a valid dictionary'}")
    return body


def _whole(body: dict[str, Any], key: str, least: int) -> int | None:
    value = body.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise ApiError(400, f"{key} must be an integer, got {value!r}.", param=key)
    if value < least:
        raise ApiError(400, f"{key} must be at least {least}, got {value}.", param=key)
    return value


def _prompt_tokens(body: dict[str, Any]) -> tuple[int, ...]:
    prompt = body.get("prompt")
    if isinstance(prompt, str):
        return (tokens_of(prompt),)
    if isinstance(prompt, list) and prompt:
        if all(isinstance(part, int) for part in prompt):
            return (len(prompt),)
        if all(isinstance(part, str) for part in prompt):
            return tuple(tokens_of(part) for part in prompt)
        if all(isinstance(part, list) and part for part in prompt):
            return tuple(len(part) for part in prompt)
    raise ApiError(400, "Either prompt or prompt_embeds must be provided and non-empty.", param="prompt")


def _chat_tokens(body: dict[str, Any]) -> int:
    messages = body.get("messages")
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise ApiError(400, "1 validation error:\n  {'type': 'missing', 'loc': ('body', 'messages')}", param="messages")
    if not messages:
        raise ApiError(400, "list index out of range: messages must not be empty.", param="messages")
    return sum(4 + tokens_of(_content(message)) for message in messages)


def _content(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content)


def _limit(
    requested: int | None, prompt: int, max_model_len: int, natural_end: int, *, ignore_eos: bool
) -> tuple[int, Finish]:
    room = max_model_len - prompt
    if room < 1 or (requested is not None and requested > room):
        raise ApiError(
            400,
            f"This model's maximum context length is {max_model_len} tokens. However, you requested "
            f"{requested or 1} output tokens and your prompt contains {prompt} input tokens, for a total of "
            f"{prompt + (requested or 1)} tokens. Please reduce the length of the input prompt or the number of "
            "requested output tokens.",
            param="input_tokens",
        )
    if requested is not None:
        return requested, Finish.LENGTH
    if ignore_eos or natural_end > room:
        return room, Finish.LENGTH
    return natural_end, Finish.STOP
