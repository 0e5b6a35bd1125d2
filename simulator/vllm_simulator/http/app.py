"""The ASGI application."""

import importlib
import inspect
import time

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from vllm_simulator.cluster import Cluster
from vllm_simulator.http import pages
from vllm_simulator.http.completions import chat_completions, completions
from vllm_simulator.http.errors import ApiError, handle_api_error, handle_http_error
from vllm_simulator.http.instrument import Instrument
from vllm_simulator.launch import LaunchError


def make_app(cluster: Cluster) -> Starlette:
    """The application in front of the engines, with the middleware the launch names.

    Raises:
        LaunchError: a middleware cannot be imported or is neither a class nor a coroutine function.
    """
    app = Starlette(routes=_routes(), exception_handlers={ApiError: handle_api_error, HTTPException: handle_http_error})
    app.state.cluster = cluster
    app.state.created = int(time.time())
    app.add_middleware(Instrument, registry=cluster.metrics.registry)
    if cluster.launch.api_keys:
        app.add_middleware(ApiKeys, keys=cluster.launch.api_keys)
    for path in cluster.launch.middleware:
        _mount(app, path)
    return app


def _routes() -> list[Route]:
    return [
        Route("/v1/completions", completions, methods=["POST"]),
        Route("/v1/chat/completions", chat_completions, methods=["POST"]),
        Route("/v1/models", pages.models),
        Route("/health", pages.health),
        Route("/ping", pages.health, methods=["GET", "POST"]),
        Route("/load", pages.load),
        Route("/version", pages.version),
        Route("/metrics", pages.metrics),
        Route("/tokenize", pages.tokenize, methods=["POST"]),
        Route("/simulator/state", pages.state),
        Route("/simulator/faults", pages.faults, methods=["GET", "POST", "DELETE"]),
    ]


def _mount(app: Starlette, path: str) -> None:
    module, _, name = path.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise LaunchError(f"--middleware {path}: {error}; give an import path that PYTHONPATH reaches") from error
    if inspect.isclass(found):
        app.add_middleware(found)  # type: ignore[arg-type]
    elif inspect.iscoroutinefunction(found):
        app.add_middleware(BaseHTTPMiddleware, dispatch=found)
    else:
        raise LaunchError(f"Invalid middleware {path}. Must be a function or a class.")


class ApiKeys:
    """ASGI middleware for `--api-key`: requests under /v1 need one of the keys."""

    def __init__(self, app: ASGIApp, keys: tuple[str, ...]) -> None:
        """Accept any of the keys."""
        self._app = app
        self._accepted = {f"Bearer {key}".encode() for key in keys}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request through or answer 401."""
        guarded = scope["type"] == "http" and scope["path"].startswith("/v1") and scope["method"] != "OPTIONS"
        if guarded and dict(scope["headers"]).get(b"authorization") not in self._accepted:
            await JSONResponse({"error": "Unauthorized"}, status_code=401)(scope, receive, send)
            return
        await self._app(scope, receive, send)
