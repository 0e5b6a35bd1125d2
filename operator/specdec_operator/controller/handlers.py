"""What kopf does for us: log in, list and watch SpecDecDeployments, and tell the queue which one to look at.

Handlers only wake. They never touch `patch`, return None, and need no finalizer: children go by owner reference.
"""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import aiohttp
import kopf

from specdec_operator.api.names import DEPLOYMENT_PLURAL, FIELD_MANAGER, GROUP, VERSION
from specdec_operator.controller.settings import configure
from specdec_operator.ports import JsonObject, Key

STOP_SECONDS = 10.0
"""How long the watch may take to end."""
LAST_GASP_SECONDS = 0.25
SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount/token")

Seen = Callable[[Key, JsonObject | None], None]
"""Called with the body of an object that was added or changed, with None when it is gone."""
Beat = Callable[[], None]
"""Called whenever a list or watch of our kind was answered."""


def build_registry(*, seen: Seen, beat: Beat) -> kopf.OperatorRegistry:
    """Return a registry of our own, so that nothing imported elsewhere adds handlers or ways to log in."""
    registry = kopf.OperatorRegistry()

    @kopf.on.startup(registry=registry)
    async def start(settings: kopf.OperatorSettings, **_: object) -> None:
        configure(settings)

    @kopf.on.login(registry=registry)
    async def login(settings: kopf.OperatorSettings, **_: object) -> kopf.AiohttpSession:
        return open_session(_credentials(settings), beat)

    @kopf.on.event(group=GROUP, version=VERSION, plural=DEPLOYMENT_PLURAL, registry=registry)
    async def wake(type: str | None, body: kopf.Body, **_: object) -> None:  # noqa: A002 - kopf's name
        metadata = body.metadata
        key = Key(metadata["namespace"], metadata["name"])
        seen(key, None if type == "DELETED" else dict(body))

    return registry


def _credentials(settings: kopf.OperatorSettings) -> kopf.ConnectionInfo:
    """Log in by the pod's service account, outside a cluster by a kubeconfig without exec plugins."""
    way = kopf.login_with_service_account if SERVICE_ACCOUNT.exists() else kopf.login_with_kubeconfig
    info = way(settings=settings)
    if info is None:
        raise kopf.LoginError("there is neither a service account token nor a kubeconfig; set KUBECONFIG")
    return info


def open_session(info: kopf.ConnectionInfo, beat: Beat) -> kopf.AiohttpSession:
    """Open the session that kopf watches through; it reports each answered list or watch of our kind."""
    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, ssl=info.as_ssl_context()),
        headers={**info.as_http_headers(), "User-Agent": FIELD_MANAGER},
        proxy=info.proxy_url,
        trace_configs=[_heartbeat(beat)],
    )
    return kopf.AiohttpSession(server=info.server, default_namespace=info.default_namespace, aiohttp_session=session)


def _heartbeat(beat: Beat) -> aiohttp.TraceConfig:
    config = aiohttp.TraceConfig()

    async def answered(
        _session: aiohttp.ClientSession, _context: SimpleNamespace, end: aiohttp.TraceRequestEndParams
    ) -> None:
        if end.url.path.endswith(f"/{DEPLOYMENT_PLURAL}") and end.response.ok:
            beat()

    config.on_request_end.append(answered)
    return config


async def watch(registry: kopf.OperatorRegistry, namespaces: tuple[str, ...]) -> None:
    """Run kopf until cancelled; without namespaces it watches the whole cluster.

    It runs in a thread with an event loop of its own, because at its end it cancels every other task of its loop. The
    callbacks of the registry are called in that thread.

    Raises:
        Exception: what made its watch end; it is beyond repair then, and the process must end too.
    """
    loop, stop = asyncio.get_running_loop(), _Stop()
    ended: asyncio.Future[None] = loop.create_future()

    def work() -> None:
        try:
            asyncio.run(_run(registry, namespaces, stop))
        except Exception as error:  # noqa: BLE001 - handed over to the loop that waits for it
            loop.call_soon_threadsafe(_settle, ended, error)
        else:
            loop.call_soon_threadsafe(_settle, ended, None)

    threading.Thread(target=work, name="kopf", daemon=True).start()
    try:
        await asyncio.shield(ended)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait([ended], timeout=STOP_SECONDS)
        raise


class _Stop:
    """A flag that another thread sets for the event loop that waits for it."""

    def __init__(self) -> None:
        self._told = threading.Event()
        self._waits: tuple[asyncio.AbstractEventLoop, asyncio.Event] | None = None

    def bind(self) -> asyncio.Event:
        """Return the event to wait for in this loop."""
        event = asyncio.Event()
        self._waits = (asyncio.get_running_loop(), event)
        if self._told.is_set():
            event.set()
        return event

    def set(self) -> None:
        """Set the flag; a loop that is gone needs none."""
        self._told.set()
        if self._waits is not None:
            loop, event = self._waits
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(event.set)


async def _run(registry: kopf.OperatorRegistry, namespaces: tuple[str, ...], stop: _Stop) -> None:
    await kopf.operator(
        registry=registry,
        clusterwide=not namespaces,
        namespaces=list(namespaces),
        standalone=True,
        # kopf would look the user up in /etc/passwd, where the user of a hardened pod has no entry. Its type for this
        # is a NewType of str that it does not export.
        identity=FIELD_MANAGER,  # type: ignore[arg-type]
        stop_flag=stop.bind(),
    )
    # aiohttp needs a moment of a running loop to end its TLS connections.
    await asyncio.sleep(LAST_GASP_SECONDS)


def _settle(ended: asyncio.Future[None], error: Exception | None) -> None:
    if ended.done():
        return
    if error is None:
        ended.set_result(None)
    else:
        ended.set_exception(error)
