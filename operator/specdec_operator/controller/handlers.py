"""What kopf does for us: log in, list and watch SpecDecDeployments, and tell the queue which one to look at.

Handlers only wake. They never touch `patch`, return None, and need no finalizer: children go by owner reference.
"""

import asyncio
import copy
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace

import aiohttp
import kopf

from specdec_operator.api.names import DEPLOYMENT_PLURAL, FIELD_MANAGER, GROUP, VERSION
from specdec_operator.controller.settings import configure
from specdec_operator.ports import JsonObject, Key

SELECTOR = (GROUP, VERSION, DEPLOYMENT_PLURAL)
SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount/token")

Seen = Callable[[Key, JsonObject | None], None]
"""Called with the body of an object that was added or changed, with None when it is gone."""
Beat = Callable[[], None]
"""Called whenever a list or watch of our kind was answered."""


def build_registry(*, seen: Seen, beat: Beat, cluster_wide: bool) -> kopf.OperatorRegistry:
    """Return a registry of our own, so that nothing imported elsewhere adds handlers or ways to log in."""
    registry = kopf.OperatorRegistry()

    @kopf.on.startup(registry=registry)
    async def start(settings: kopf.OperatorSettings, **_: object) -> None:
        configure(settings, cluster_wide=cluster_wide)

    @kopf.on.login(registry=registry)
    async def login(settings: kopf.OperatorSettings, **_: object) -> kopf.AiohttpSession:
        return open_session(_credentials(settings), beat)

    @kopf.on.event(*SELECTOR, registry=registry)
    async def wake(type: str | None, body: kopf.Body, **_: object) -> None:  # noqa: A002 - kopf's name
        metadata = body.metadata
        key = Key(metadata["namespace"], metadata["name"])
        seen(key, None if type == "DELETED" else copy.deepcopy(dict(body)))

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


def watch(
    registry: kopf.OperatorRegistry, namespaces: tuple[str, ...], *, stop: asyncio.Event, ready: asyncio.Event
) -> Awaitable[None]:
    """Run kopf until `stop` is set; without namespaces it watches the whole cluster.

    Stop everything else of this event loop first: at its end kopf waits for, and then cancels, every task that was
    started after it. `ready` is set when it is up; by then it has taken the signal handlers.

    It ends by an exception when its watch is beyond repair, and so must the process.
    """
    return kopf.operator(
        registry=registry,
        clusterwide=not namespaces,
        namespaces=list(namespaces),
        standalone=True,
        stop_flag=stop,
        ready_flag=ready,
    )
