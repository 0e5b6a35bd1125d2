"""One streamed completion: send it, count its tokens, say how it ended."""

import asyncio
from dataclasses import dataclass

import aiohttp

from hack.load.plan import Load
from hack.load.records import Outcome, Timeline

_TOKENS = b'"completion_tokens":'
_ERROR = b'data: {"error"'
_END = b"\n\n"
_DONE = b"data: [DONE]"


@dataclass(slots=True)
class Result:
    """What one request came to, filled in as it goes."""

    outcome: Outcome = Outcome.STOPPED
    status: int | None = None
    first_token: float | None = None
    tokens: int = 0
    error: str | None = None


@dataclass(slots=True)
class Events:
    """Counts tokens and the end in a stream of server-sent events, without decoding each.

    Every event carries the tokens so far (`continuous_usage_stats`), so the last one of a piece tells all.
    """

    tokens: int = 0
    done: bool = False
    error: bool = False
    _rest: bytes = b""

    def feed(self, piece: bytes) -> int:
        """Take bytes as they come; returns how many tokens are new."""
        data = self._rest + piece
        end = data.rfind(_END)
        if end < 0:
            self._rest = data
            return 0
        self._rest = data[end + len(_END) :]
        complete = data[:end]
        self.error = self.error or _ERROR in complete
        self.done = self.done or complete.rstrip().endswith(_DONE)
        before, self.tokens = self.tokens, max(self.tokens, _last_count(complete))
        return self.tokens - before


def _last_count(events: bytes) -> int:
    place = events.rfind(_TOKENS)
    if place < 0:
        return 0
    digits = events[place + len(_TOKENS) : place + len(_TOKENS) + 12].lstrip()
    length = next((i for i, byte in enumerate(digits) if not 48 <= byte <= 57), len(digits))
    return int(digits[:length] or b"0")


def body_of(load: Load, model: str, max_tokens: int) -> dict[str, object]:
    """The JSON of a request."""
    asked = {"messages": [{"role": "user", "content": load.prompt}]} if load.chat else {"prompt": load.prompt}
    return {
        "model": model,
        **asked,
        "max_tokens": max_tokens,
        "ignore_eos": True,
        "temperature": 0,
        "stream": True,
        "stream_options": {"include_usage": True, "continuous_usage_stats": True},
    }


async def stream(
    session: aiohttp.ClientSession,
    load: Load,
    body: dict[str, object],
    timeline: Timeline,
    result: Result,
) -> None:
    """Run one request into `result`, and its tokens into `timeline`. Only a cancellation is raised."""
    path = "/v1/chat/completions" if load.chat else "/v1/completions"
    try:
        async with session.post(load.url.rstrip("/") + path, json=body) as response:
            result.status = response.status
            if response.status != 200:
                result.outcome = Outcome.FAILED
                result.error = f"status {response.status}: {(await response.text())[:200]}"
                return
            await _read(response, timeline, result)
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        result.outcome = Outcome.FAILED if result.status is None else Outcome.CUT
        result.error = f"{type(error).__name__}: {error}"[:200]
    except asyncio.CancelledError:
        result.outcome = Outcome.STOPPED
        raise


async def _read(response: aiohttp.ClientResponse, timeline: Timeline, result: Result) -> None:
    events = Events()
    async for piece in response.content.iter_any():
        new = events.feed(piece)
        if new:
            if result.first_token is None:
                result.first_token = timeline.clock()
            result.tokens = events.tokens
            timeline.received(new)
    if events.done and not events.error:
        result.outcome = Outcome.COMPLETE
    else:
        result.outcome = Outcome.CUT
        result.error = "the engine ended the stream with an error" if events.error else "no [DONE] at the end"
