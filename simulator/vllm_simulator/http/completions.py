"""`/v1/completions` and `/v1/chat/completions`."""

import asyncio

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from vllm_simulator.cluster import Cluster
from vllm_simulator.faults import RequestsFault
from vllm_simulator.http.answers import Answer
from vllm_simulator.http.body import Ask, read_ask
from vllm_simulator.http.errors import ApiError
from vllm_simulator.http.inbox import Inbox

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
        raise ApiError(415, "Unsupported Media Type: Only 'application/json' is allowed")
    ask = read_ask(
        await request.body(),
        chat=chat,
        max_model_len=cluster.launch.max_model_len,
        natural_end=cluster.launch.settings.output_tokens,
        default_model=cluster.launch.served_names[0],
    )
    if ask.model not in cluster.launch.served_names:
        raise ApiError(404, f"The model `{ask.model}` does not exist.", param="model")
    await _check_faults(cluster)
    return Stream(cluster, ask) if ask.stream else await _whole(cluster, ask, request)


async def _check_faults(cluster: Cluster) -> None:
    if cluster.faults.requests is RequestsFault.HANGING:
        await asyncio.Event().wait()
    if cluster.draining or cluster.faults.requests is RequestsFault.ERROR:
        raise ApiError(500, "EngineCore encountered an issue. See stack trace (above) for the root cause.")


async def _whole(cluster: Cluster, ask: Ask, request: Request) -> Response:
    inbox, answer = Inbox(), Answer(ask=ask)
    with cluster.running(ask, inbox):
        gone = asyncio.create_task(_gone(request.receive))
        try:
            while not answer.complete:
                taken = asyncio.create_task(inbox.take())
                await asyncio.wait({taken, gone}, return_when=asyncio.FIRST_COMPLETED)
                if not taken.done():
                    taken.cancel()
                    return Response(status_code=499)
                for delivery in taken.result():
                    answer.count(*delivery)
        finally:
            gone.cancel()
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
        """Serve the stream."""
        writing = asyncio.current_task()
        watch = asyncio.create_task(_gone(receive))
        watch.add_done_callback(lambda task: task.cancelled() or (writing and writing.cancel("client gone")))
        try:
            await self._write(send)
        except asyncio.CancelledError:
            if not watch.done() or watch.cancelled():
                raise
            if writing:
                writing.uncancel()
        finally:
            watch.cancel()

    async def _write(self, send: Send) -> None:
        inbox, answer = Inbox(), Answer(ask=self._ask)
        with self._cluster.running(self._ask, inbox):
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            head = answer.opening()
            while not answer.complete:
                chunks = [answer.chunk(*delivery) for delivery in await inbox.take()]
                await send({"type": "http.response.body", "body": head + b"".join(chunks), "more_body": True})
                head = b""
        await send({"type": "http.response.body", "body": answer.closing(), "more_body": False})


async def _gone(receive: Receive) -> None:
    """Wait until the client hangs up."""
    while (await receive())["type"] != "http.disconnect":
        pass
