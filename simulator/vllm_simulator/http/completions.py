"""`/v1/completions` and `/v1/chat/completions`."""

import asyncio
import contextlib
from collections.abc import Iterator

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from vllm_simulator.ask import Ask
from vllm_simulator.cluster import Cluster
from vllm_simulator.faults import RequestsFault
from vllm_simulator.http.answers import Answer
from vllm_simulator.http.body import read_ask
from vllm_simulator.http.errors import ApiError, engine_dead, engine_draining, wrong_shape
from vllm_simulator.inbox import Inbox

_STREAM_HEADERS = [(b"content-type", b"text/event-stream; charset=utf-8")]


async def completions(request: Request) -> Response:
    """`POST /v1/completions`."""
    return await _answer(request, chat=False)


async def chat_completions(request: Request) -> Response:
    """`POST /v1/chat/completions`."""
    return await _answer(request, chat=True)


async def _answer(request: Request, *, chat: bool) -> Response:
    cluster: Cluster = request.app.state.cluster
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
        raise wrong_shape("Unsupported Media Type: Only 'application/json' is allowed")
    ask = read_ask(
        await request.body(),
        chat=chat,
        max_model_len=cluster.launch.max_model_len,
        natural_end=cluster.launch.settings.output_tokens,
        default_model=cluster.launch.served_names[0],
    )
    _check_model(ask, cluster)
    await _check_state(cluster)
    return Stream(cluster, ask) if ask.stream else await _whole(cluster, ask, request)


def _check_model(ask: Ask, cluster: Cluster) -> None:
    names = cluster.launch.served_names
    if ask.model not in names:
        known = ", ".join(names)
        raise ApiError(404, f"The model `{ask.model}` does not exist. Valid aliases: {known}.", param="model")


async def _check_state(cluster: Cluster) -> None:
    if cluster.faults.requests is RequestsFault.HANGING:
        await asyncio.Event().wait()
    if cluster.draining:
        raise engine_draining()
    if cluster.faults.requests is RequestsFault.ERROR:
        raise engine_dead()


def _fingerprint(cluster: Cluster) -> str:
    return f"vllm-{cluster.launch.release}-simulator"


async def _whole(cluster: Cluster, ask: Ask, request: Request) -> Response:
    inbox, answer = Inbox(), Answer(ask=ask, fingerprint=_fingerprint(cluster))
    with cluster.running(ask, inbox), _watched(request.receive, inbox):
        try:
            while not answer.complete:
                for delivery in await inbox.take():
                    answer.count(*delivery)
        except ClientGoneError:
            return Response(status_code=499)
    return JSONResponse(answer.whole())


class Stream(Response):
    """An answer in server-sent events, written once a step; a client that goes away ends its sequences."""

    def __init__(self, cluster: Cluster, ask: Ask) -> None:
        """Nothing is submitted before the response starts."""
        self.status_code = 200
        self.background = None
        self.raw_headers = _STREAM_HEADERS.copy()
        self._cluster, self._ask = cluster, ask

    async def __call__(self, _: Scope, receive: Receive, send: Send) -> None:
        """Serve the stream. An engine that dies ends it with an error event and, like vLLM, a last `[DONE]`."""
        inbox, answer = Inbox(), Answer(ask=self._ask, fingerprint=_fingerprint(self._cluster))
        with self._cluster.running(self._ask, inbox), _watched(receive, inbox):
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            try:
                await self._write(inbox, answer, send)
                last = answer.closing()
            except ClientGoneError:
                return
            except ApiError as error:
                last = answer.failing(error.body())
        await send({"type": "http.response.body", "body": last, "more_body": False})

    async def _write(self, inbox: Inbox, answer: Answer, send: Send) -> None:
        head = answer.opening()
        while not answer.complete:
            chunks = [answer.chunk(*delivery) for delivery in await inbox.take()]
            await send({"type": "http.response.body", "body": head + b"".join(chunks), "more_body": True})
            head = b""


class ClientGoneError(Exception):
    """The client hung up."""


@contextlib.contextmanager
def _watched(receive: Receive, inbox: Inbox) -> Iterator[None]:
    """Fail the inbox when the client hangs up."""

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        inbox.fail(ClientGoneError())

    task = asyncio.create_task(watch())
    try:
        yield
    finally:
        task.cancel()
