"""List and watch of one kind: keeps its part of the cache true and tells which objects changed."""

import asyncio
import json
import logging
import random
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Final

from specdec_operator.adapters.cluster.cache import ChildCache
from specdec_operator.adapters.cluster.failures import failure_of, shorten
from specdec_operator.adapters.cluster.kinds import WATCHED
from specdec_operator.adapters.cluster.lines import LineSplitter
from specdec_operator.adapters.cluster.pending import PendingKeys
from specdec_operator.adapters.cluster.timings import Timings
from specdec_operator.adapters.cluster.transport import Request, Transport
from specdec_operator.adapters.cluster.trim import trim
from specdec_operator.api.names import MANAGED_BY, MANAGED_BY_LABEL
from specdec_operator.ports import ChildKind, ClusterError, Failure, JsonObject

logger = logging.getLogger(__name__)

PAGE: Final = 50
"""Objects of a list that are in memory at once: small pages leave less freed memory behind (2,000 pods measured)."""
SHORT_LIFE: Final = 5.0
"""Seconds. A watch that ends sooner counts as failed, so that a server that hangs up at once is not hammered."""
_SELECTOR: Final = f"{MANAGED_BY_LABEL}={MANAGED_BY}"
_CHANCE: Final = random.SystemRandom()


@dataclass(frozen=True, slots=True)
class WatchHealth:
    """How one watch is doing.

    Attributes:
        kind: what it watches.
        namespace: where, None for the whole cluster.
        synced: its first list is in the cache.
        last_activity: Unix seconds of the last list, event, bookmark or new connection; 0 before the first.
        failures: failed attempts in a row.
        message: what is wrong now, empty when nothing is.
    """

    kind: ChildKind
    namespace: str | None
    synced: bool
    last_activity: float
    failures: int
    message: str


@dataclass(frozen=True, slots=True)
class Shared:
    """What all watches of one `watch_children` have in common; `on_sync` is called after a first list."""

    transport: Transport
    cache: ChildCache
    pending: PendingKeys
    timings: Timings
    on_sync: Callable[[], None]


class Reflector:
    """Lists one kind in a namespace (None: everywhere), then follows it for ever."""

    def __init__(self, kind: ChildKind, namespace: str | None, shared: Shared) -> None:
        self._kind = kind
        self._namespace = namespace
        self._path = WATCHED[kind].collection(namespace)
        self._transport = shared.transport
        self._cache = shared.cache
        self._pending = shared.pending
        self._timings = shared.timings
        self._on_sync = shared.on_sync
        self._version: str | None = None
        self._synced = False
        self._last_activity = 0.0
        self._opened: float | None = None
        self._failures = 0
        self._message = ""

    @property
    def health(self) -> WatchHealth:
        """Return how the watch is doing now."""
        return WatchHealth(
            self._kind, self._namespace, self._synced, self._last_activity, self._failures, self._message
        )

    async def run(self) -> None:
        """List and watch until cancelled; failures are waited out, from where the watch stopped."""
        while True:
            self._opened = None
            trouble = await self._attempt()
            if self._lived():
                self._failures = 0
            elif trouble is None:
                trouble = ClusterError(Failure.CONNECTION, f"watch {self._path}: ended at once")
            if trouble is not None:
                await self._wait_out(trouble)

    def _lived(self) -> bool:
        """Say whether the watch that just ended was open for a while."""
        return self._opened is not None and time.monotonic() - self._opened >= SHORT_LIFE

    async def _attempt(self) -> ClusterError | None:
        """List if need be and watch until the watch ends; return what ended it, None for the server's own timeout."""
        try:
            if self._version is None:
                await self._list()
            await self._watch(self._version or "")
        except ClusterError as error:
            return error
        return None

    async def _list(self) -> None:
        """Read all pages and make the cache equal to them."""
        bodies: list[JsonObject] = []
        token = ""
        while True:
            page = await self._transport.send(self._list_request(token))
            bodies += [trim(self._kind, item) for item in page.get("items") or ()]
            token = page["metadata"].get("continue") or ""
            if not token:
                break
        self._pending.put(self._cache.replace(self._kind, self._namespace, bodies))
        self._version = page["metadata"]["resourceVersion"]
        self._heard()
        if not self._synced:
            self._synced = True
            self._on_sync()

    def _list_request(self, token: str) -> Request:
        query = {"labelSelector": _SELECTOR, "limit": str(PAGE)}
        if token:
            query["continue"] = token
        return Request(verb="GET", path=self._path, query=query, deadline=self._timings.list)

    async def _watch(self, version: str) -> None:
        """Follow the changes after a resourceVersion until the server ends the watch."""
        # Spread, so that the watches of one process do not all come back in the same second.
        seconds = int(self._timings.watch * _CHANCE.uniform(0.8, 1.0))
        query = {
            "labelSelector": _SELECTOR,
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": version,
            "timeoutSeconds": str(max(1, seconds)),
        }
        request = Request(verb="GET", path=self._path, query=query, deadline=self._timings.read)
        async with self._transport.stream(request, inactivity=self._timings.inactivity) as chunks:
            self._opened = time.monotonic()
            self._heard()
            async for line in _lines(chunks):
                self._take(line)

    def _take(self, line: bytes) -> None:
        event = _parse(line)
        body = event["object"]
        if event["type"] == "ERROR":
            raise self._refused(body)
        self._heard()
        self._failures = 0
        self._version = body["metadata"]["resourceVersion"]
        if event["type"] == "BOOKMARK":
            return
        change = self._cache.remove if event["type"] == "DELETED" else self._cache.put
        self._pending.put(change(self._kind, trim(self._kind, body)))

    def _refused(self, status: JsonObject) -> ClusterError:
        """Return the error of a watch event ERROR; what comes after it is unknown, so the next step is a list."""
        self._version = None
        code = int(status.get("code") or 500)
        message = shorten(f"watch {self._path}: {status.get('message', 'no message')}")
        return ClusterError(failure_of(code), message, status=code)

    def _heard(self) -> None:
        """Note that the server answers; only what it sends ends the row of failures."""
        self._last_activity = time.time()
        self._message = ""

    async def _wait_out(self, error: ClusterError) -> None:
        if error.failure is Failure.GONE:
            self._version = None
        self._failures += 1
        self._message = str(error)
        level = logging.DEBUG if error.failure is Failure.GONE else logging.WARNING
        pause = self._timings.pause(self._failures, error.retry_after, _CHANCE.random())
        logger.log(level, "%s; trying again in %.1f s", error, pause)
        await asyncio.sleep(pause)


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    splitter = LineSplitter()
    async for chunk in chunks:
        try:
            lines = splitter.feed(chunk)
        except ValueError as error:
            raise ClusterError(Failure.SERVER, str(error)) from error
        for line in lines:
            yield line


def _parse(line: bytes) -> JsonObject:
    try:
        event = json.loads(line)
    except ValueError:
        event = None
    if not isinstance(event, dict) or not isinstance(event.get("object"), dict) or "type" not in event:
        raise ClusterError(Failure.SERVER, "the watch sent a line that is no event")
    return event
