"""What a completion request asks for, checked as vLLM checks it."""

import json
from typing import Any

from vllm_simulator.ask import Ask
from vllm_simulator.http.errors import wrong_shape, wrong_value
from vllm_simulator.sequence import Finish

CHARACTERS_PER_TOKEN = 4


def read_ask(raw: bytes, *, chat: bool, max_model_len: int, natural_end: int, default_model: str) -> Ask:
    """Decode and check a body.

    Raises:
        ApiError: 400 with what is wrong.
    """
    body = _object(raw)
    prompts = (_chat_tokens(body),) if chat else _prompt_tokens(body)
    requested = _whole(body, "max_completion_tokens") or _whole(body, "max_tokens")
    if requested is None and not chat:
        requested = 16
    options = body.get("stream_options") or {}
    if options and not body.get("stream"):
        raise wrong_value("Stream options can only be defined when `stream=True`.", param="stream_options")
    limit, ending = _limit(requested, max(prompts), max_model_len, natural_end, ignore_eos=bool(body.get("ignore_eos")))
    return Ask(
        model=str(body.get("model") or default_model),
        prompts=prompts,
        limit=limit,
        ending=ending,
        requested_tokens=requested,
        choices=_whole(body, "n") or 1,
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
        position = getattr(error, "pos", 0)
        detail = f"{{'type': 'json_invalid', 'loc': 'body.{position}', 'msg': 'JSON decode error'}}"
        raise wrong_shape(detail, param=f"body.{position}") from error
    if not isinstance(body, dict):
        raise wrong_shape(
            "{'type': 'dict_type', 'loc': 'body', 'msg': 'Input should be a valid dictionary'}", param="body"
        )
    return body


def _whole(body: dict[str, Any], key: str) -> int | None:
    value = body.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        detail = f"{{'type': 'int_type', 'loc': 'body.{key}', 'msg': 'Input should be a valid integer'}}"
        raise wrong_shape(detail, param=f"body.{key}")
    if value < 1:
        raise wrong_value(f"{key} must be at least 1, got {value}.", param=key, value=value)
    return value


def _prompt_tokens(body: dict[str, Any]) -> tuple[int, ...]:
    prompt = body.get("prompt")
    if isinstance(prompt, str) and prompt:
        return (tokens_of(prompt),)
    if isinstance(prompt, list) and prompt:
        if all(isinstance(part, int) for part in prompt):
            return (len(prompt),)
        if all(isinstance(part, str) for part in prompt):
            return tuple(tokens_of(part) for part in prompt)
        if all(isinstance(part, list) and part for part in prompt):
            return tuple(len(part) for part in prompt)
    raise wrong_value("Either prompt or prompt_embeds must be provided and non-empty.", param="prompt")


def _chat_tokens(body: dict[str, Any]) -> int:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages or not all(isinstance(message, dict) for message in messages):
        detail = "{'type': 'missing', 'loc': 'body.messages', 'msg': 'Field required'}"
        raise wrong_shape(detail, param="body.messages")
    return sum(4 + tokens_of(_content(message)) for message in messages)


def _content(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content)


def _limit(
    requested: int | None, prompt: int, max_model_len: int, natural_end: int, *, ignore_eos: bool
) -> tuple[int, Finish]:
    """Tokens to generate and why generation ends there; what does not fit behind the prompt is cut off silently."""
    if requested is not None and requested > max_model_len:
        raise wrong_value(
            f"max_tokens={requested} cannot be greater than max_model_len={max_model_len}. "
            "Please request fewer output tokens.",
            param="max_tokens",
            value=requested,
        )
    room = max_model_len - prompt
    if room < 1:
        raise wrong_value(
            f"This model's maximum context length is {max_model_len} tokens. However, your prompt contains {prompt} "
            "input tokens, which exceeds this limit even without any output tokens. Please reduce the length of the "
            "input prompt.",
            param="input_tokens",
            value=prompt,
        )
    if requested is None and not ignore_eos and natural_end <= room:
        return natural_end, Finish.STOP
    return room if requested is None else min(requested, room), Finish.LENGTH
