"""Requests to the API server: each with a deadline, no retry, every failure a ClusterError."""

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Final

import aiohttp
from kubernetes.aio.client.api_client import ApiClient
from kubernetes.aio.client.configuration import Configuration

from specdec_operator.adapters.cluster.config import ClusterConfigError
from specdec_operator.adapters.cluster.failures import refusal, shorten
from specdec_operator.ports import ClusterError, Failure, JsonObject

logger = logging.getLogger(__name__)

MAX_BODY: Final = 64 * 1024 * 1024
"""Bytes of one answer: a page of a list of the largest objects stays below."""
MAX_IN_FLIGHT: Final = 32
"""Requests at the same time, watches apart: a burst of objects queues here and not in the API server."""
RELOAD_INTERVAL: Final = 10.0
"""Seconds between two attempts to read fresh credentials after a 401."""

ConfigurationLoader = Callable[[], Awaitable[Configuration]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request; `deadline` is in seconds, for a stream until the head of the answer."""

    verb: str
    path: str
    deadline: float
    query: Mapping[str, str] = field(default_factory=dict)
    body: JsonObject | list[JsonObject] | None = None
    content_type: str = "application/json"
    accept: str = "application/json"

    @property
    def what(self) -> str:
        """Return the request in few words, such as "PATCH default/services/llama"."""
        return f"{self.verb} {self.path.partition('/namespaces/')[2] or self.path}"


class Transport:
    """An HTTP session with the API server that reads its credentials again when they are refused."""

    def __init__(self, load: ConfigurationLoader, *, connect: float) -> None:
        self._load = load
        self._connect = connect
        self._slots = asyncio.Semaphore(MAX_IN_FLIGHT)
        self._reloading = asyncio.Lock()
        self._reloaded_at = float("-inf")
        self._client: ApiClient = None
        self._previous: ApiClient = None

    async def open(self) -> None:
        """Read the configuration.

        Raises:
            ClusterConfigError: there is none that works.
        """
        configuration = await self._load()
        # Zero is no limit: each watch holds a connection, and the semaphore bounds everything else.
        configuration.connection_pool_maxsize = 0
        client = ApiClient(configuration)
        client.user_agent = "specdec-operator"
        self._client = client

    async def close(self) -> None:
        """End all connections."""
        for client in (self._client, self._previous):
            if client is not None:
                await client.close()

    async def send(self, request: Request) -> JsonObject:
        """Send a request and return the object that the server answers with.

        Raises:
            ClusterError: the server refused, did not answer in time, or was not reached.
        """
        async with self._slots:
            client = self._client
            try:
                return await self._send_once(client, request)
            except ClusterError as error:
                if error.status != 401 or not await self._renew(client):
                    raise
            return await self._send_once(self._client, request)

    @asynccontextmanager
    async def stream(self, request: Request, *, inactivity: float) -> AsyncIterator[AsyncIterator[bytes]]:
        """Open a long answer and give its chunks as they come; `inactivity` seconds of silence end it.

        Raises:
            ClusterError: as `send`, also from the chunks.
        """
        client = self._client
        limits = aiohttp.ClientTimeout(total=None, sock_connect=self._connect, sock_read=inactivity)
        with _translated(request):
            async with asyncio.timeout(request.deadline):
                response = await _call(client, request, limits)
        try:
            if response.status == 401:
                await self._renew(client)
            await _check(request, response)
            yield _chunks(request, response)
        finally:
            response.close()

    async def _send_once(self, client: ApiClient, request: Request) -> JsonObject:
        limits = aiohttp.ClientTimeout(total=None, sock_connect=self._connect)
        with _translated(request):
            async with asyncio.timeout(request.deadline):
                response = await _call(client, request, limits)
                try:
                    await _check(request, response)
                    return _parse(request, await _read(response))
                finally:
                    response.release()

    async def _renew(self, refused: ApiClient) -> bool:
        """Read the credentials again unless that was just done; return whether there may be new ones."""
        async with self._reloading:
            if self._client is not refused:
                return True
            if time.monotonic() - self._reloaded_at < RELOAD_INTERVAL:
                return False
            self._reloaded_at = time.monotonic()
            return await self._reload()

    async def _reload(self) -> bool:
        stale, forgotten = self._client, self._previous
        try:
            await self.open()
        except ClusterConfigError as error:
            logger.warning("credentials were refused and cannot be read again: %s", error)
            return False
        # Calls may still run on the session just left, so the one before it is closed.
        self._previous = stale
        if forgotten is not None:
            await forgotten.close()
        return True


async def _call(client: ApiClient, request: Request, limits: aiohttp.ClientTimeout) -> aiohttp.ClientResponse:
    verb, url, headers, _, _ = await client.param_serialize(
        request.verb,
        request.path,
        query_params=list(request.query.items()),
        header_params={"Accept": request.accept, "Content-Type": request.content_type},
        auth_settings=["BearerToken"],
    )
    answer = await client.call_api(verb, url, headers, body=request.body, _request_timeout=limits)
    response: aiohttp.ClientResponse = answer.response
    return response


async def _check(request: Request, response: aiohttp.ClientResponse) -> None:
    """Raise what an answer other than success means."""
    if response.status < 300:
        return
    with _translated(request):
        async with asyncio.timeout(request.deadline):
            payload = await _read(response)
    raise refusal(request.what, response.status, response.headers, payload, response.reason or "")


async def _read(response: aiohttp.ClientResponse) -> bytes:
    payload = bytearray()
    async for chunk in response.content.iter_any():
        payload += chunk
        if len(payload) > MAX_BODY:
            raise aiohttp.ClientPayloadError(f"the answer is longer than {MAX_BODY} bytes")
    return bytes(payload)


def _parse(request: Request, payload: bytes) -> JsonObject:
    try:
        body = json.loads(payload)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise ClusterError(Failure.SERVER, f"{request.what}: the answer is no JSON object")
    return body


async def _chunks(request: Request, response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    with _translated(request):
        async for chunk in response.content.iter_any():
            yield chunk


@contextmanager
def _translated(request: Request) -> Iterator[None]:
    """Turn what the network raises into ClusterError."""
    try:
        yield
    except TimeoutError as error:
        raise ClusterError(Failure.TIMEOUT, f"{request.what}: no answer in time") from error
    except (aiohttp.ClientError, OSError) as error:
        detail = shorten(f"{request.what}: connection failed: {error or type(error).__name__}")
        raise ClusterError(Failure.CONNECTION, detail) from error
