"""Asks one engine pod itself how many requests it has: metrics from elsewhere are a scrape and a window late."""

import asyncio
import math
from typing import Final, Self

import aiohttp
from prometheus_client.parser import text_string_to_metric_families

IN_FLIGHT: Final = frozenset({"vllm:num_requests_running", "vllm:num_requests_waiting"})
"""Both are gauges, one series an engine."""
DEADLINE_SECONDS: Final = 3.0
AT_ONCE: Final = 32
"""Questions on their way at the same time; further ones wait for their turn, before their own time begins."""
LONGEST_ANSWER: Final = 4 * 1024 * 1024
"""Bytes. What a real engine exposes is below 200 KiB."""


class HttpEngineProbe:
    """Reads `/metrics` of an engine; satisfies `ports.EngineProbe`. An answer takes at most DEADLINE_SECONDS."""

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def requests_in_flight(self, address: str, port: int) -> float | None:
        """Return running plus waiting requests of all engines of the pod, None when it does not answer or say so."""
        url = f"http://{_host(address)}:{port}/metrics"
        try:
            # What a pod answers must not lead elsewhere: redirects are not followed.
            async with self._turns, self._opened().get(url, allow_redirects=False) as answer:
                return in_flight(await _body(answer)) if answer.status == 200 else None
        except (aiohttp.ClientError, TimeoutError, ValueError):
            return None

    async def close(self) -> None:
        """End all connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def __aenter__(self) -> Self:
        """Return the probe itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """End all connections."""
        await self.close()

    def _opened(self) -> aiohttp.ClientSession:
        """Open the session with the first question: a session belongs to the event loop it is opened in."""
        if self._session is None:
            # A connection that is kept would count as a client that has not gone yet.
            connector = aiohttp.TCPConnector(force_close=True)
            timeout = aiohttp.ClientTimeout(total=DEADLINE_SECONDS)
            self._session = aiohttp.ClientSession(connector=connector, timeout=timeout)
        return self._session


def in_flight(text: str) -> float | None:
    """Return the sum of both gauges over all engines; None unless both are there and every value is usable.

    Raises:
        ValueError: if the text is no exposition.
    """
    seen: set[str] = set()
    total = 0.0
    # An exposition is long, and reading all of it takes ten times as long as reading these lines.
    lines = [line for line in text.splitlines() if line.startswith(tuple(IN_FLIGHT))]
    for family in text_string_to_metric_families("\n".join((*lines, ""))):
        for sample in family.samples:
            if sample.name not in IN_FLIGHT:
                continue
            if not math.isfinite(sample.value) or sample.value < 0:
                return None
            seen.add(sample.name)
            total += sample.value
    return total if seen == IN_FLIGHT else None


def _host(address: str) -> str:
    return f"[{address}]" if ":" in address else address


async def _body(answer: aiohttp.ClientResponse) -> str:
    """Read the whole body within bounds.

    Raises:
        ValueError: if it is longer than any engine's.
    """
    parts: list[bytes] = []
    length = 0
    async for part in answer.content.iter_chunked(65_536):
        length += len(part)
        if length > LONGEST_ANSWER:
            raise ValueError(f"more than {LONGEST_ANSWER} bytes")
        parts.append(part)
    return b"".join(parts).decode()
