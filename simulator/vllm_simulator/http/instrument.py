"""The `http_*` families that vLLM's server has, by handler, for requests that are not about the server itself."""

import time

from prometheus_client import CollectorRegistry, Counter, Histogram, Summary
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_EXCLUDED = frozenset({"/metrics", "/health", "/load", "/ping", "/version", "/simulator/state", "/simulator/faults"})
_FINE = (0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 7.5, 10, 30, 60)
_ONLY_HEADER = "Only value of header is respected. Otherwise ignored. No percentile calculated. "


class Instrument:
    """ASGI middleware that counts and times requests."""

    def __init__(self, app: ASGIApp, registry: CollectorRegistry) -> None:
        """Register the families."""
        self._app = app
        by_handler = ["handler"]
        self._requests = Counter(
            "http_requests",
            "Total number of requests by method, status and handler.",
            ["method", "status", "handler"],
            registry=registry,
        )
        self._request_size = Summary(
            "http_request_size_bytes",
            f"Content length of incoming requests by handler. {_ONLY_HEADER}",
            by_handler,
            registry=registry,
        )
        self._response_size = Summary(
            "http_response_size_bytes",
            f"Content length of outgoing responses by handler. {_ONLY_HEADER}",
            by_handler,
            registry=registry,
        )
        self._fine = Histogram(
            "http_request_duration_highr_seconds",
            "Latency with many buckets but no API specific labels. Made for more accurate percentile calculations. ",
            buckets=_FINE,
            registry=registry,
        )
        self._coarse = Histogram(
            "http_request_duration_seconds",
            "Latency with only few buckets by handler. Made to be only used if aggregation by handler is important. ",
            ["method", "handler"],
            buckets=(0.1, 0.5, 1),
            registry=registry,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and count it when its answer is complete."""
        if scope["type"] != "http" or scope["path"] in _EXCLUDED:
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status, size = 500, 0

        async def counted(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status, size = message["status"], _length(message["headers"])
            await send(message)

        try:
            await self._app(scope, receive, counted)
        finally:
            self._note(scope, status, size, time.perf_counter() - started)

    def _note(self, scope: Scope, status: int, size: int, seconds: float) -> None:
        handler = scope["path"] if "endpoint" in scope else "none"
        self._requests.labels(method=scope["method"], status=f"{status // 100}xx", handler=handler).inc()
        self._request_size.labels(handler=handler).observe(_length(scope["headers"]))
        self._response_size.labels(handler=handler).observe(size)
        self._fine.observe(seconds)
        self._coarse.labels(method=scope["method"], handler=handler).observe(seconds)


def _length(headers: list[tuple[bytes, bytes]]) -> int:
    return next((int(value) for name, value in headers if name.lower() == b"content-length"), 0)
