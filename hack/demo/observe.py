"""What the demo sees of the cluster: the objects' status, events and, from Prometheus, the concurrency."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from hack.demo.scenario import NAMESPACE

JsonObject = dict[str, Any]
CONCURRENCY = (
    'avg by (deployment) (label_replace(vllm:num_requests_running{namespace="' + NAMESPACE + '"}, '
    '"deployment", "$1", "pod", "(.*)-[0-9]+"))'
)


@dataclass(frozen=True, slots=True)
class Sample:
    """One second of one object, seen from outside."""

    at: float
    """Unix seconds."""
    clients: int
    """Clients offered to each object."""
    method: Mapping[str, str]
    """What the serving pods run, by object."""
    concurrency: Mapping[str, float]
    """Mean of running requests per engine, by object."""
    speed: Mapping[str, float]
    """Tokens per second per request as its clients see it, over the last seconds, by object."""


@dataclass(slots=True)
class View:
    """The newest status of each object, kept up to date by `follow`."""

    objects: dict[str, JsonObject] = field(default_factory=dict)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def status(self, name: str) -> JsonObject:
        """Return the status of an object, empty while there is none."""
        status: JsonObject = self.objects.get(name, {}).get("status", {})
        return status

    def method(self, name: str) -> str:
        """Return the active method of an object, "" while unknown."""
        return str(self.status(name).get("active", {}).get("method", ""))

    def condition(self, name: str, kind: str) -> JsonObject:
        """Return a condition of an object, empty while it has none."""
        return next((c for c in self.status(name).get("conditions", ()) if c["type"] == kind), {})

    async def follow(self) -> None:
        """Watch the demo's objects until cancelled."""
        async for body in _watch("specdecdeployments", NAMESPACE):
            self.objects[body["metadata"]["name"]] = body
            self.changed.set()


async def events(names: frozenset[str]) -> AsyncIterator[JsonObject]:
    """Yield the operator's events about these objects as they are recorded."""
    async for body in _watch("events.events.k8s.io", NAMESPACE):
        if body.get("regarding", {}).get("kind") == "SpecDecDeployment" and body["regarding"]["name"] in names:
            yield body


async def _watch(resource: str, namespace: str) -> AsyncIterator[JsonObject]:
    process = await asyncio.create_subprocess_exec(
        "kubectl", "get", resource, "-n", namespace, "--watch", "--output=json", stdout=asyncio.subprocess.PIPE
    )
    try:
        async for document in _documents(process):
            yield document
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _documents(process: asyncio.subprocess.Process) -> AsyncIterator[JsonObject]:
    """Split kubectl's stream of concatenated, indented JSON objects."""
    assert process.stdout is not None  # noqa: S101 - asked for above
    decoder, text = json.JSONDecoder(), ""
    while chunk := await process.stdout.read(1 << 16):
        text += chunk.decode()
        while text := text.lstrip():
            try:
                document, end = decoder.raw_decode(text)
            except json.JSONDecodeError:
                break
            text = text[end:]
            yield document


class Prometheus:
    """Instant queries for the picture; a failed one leaves a gap, never stops the demo."""

    def __init__(self, url: str, session: aiohttp.ClientSession) -> None:
        self._url, self._session = url, session

    async def concurrency(self) -> dict[str, float]:
        """Return running requests per engine now, by object."""
        return await self._query(CONCURRENCY)

    async def _query(self, query: str) -> dict[str, float]:
        try:
            async with self._session.get(f"{self._url}/api/v1/query", params={"query": query}) as response:
                result = (await response.json())["data"]["result"]
        except (aiohttp.ClientError, TimeoutError, KeyError):
            return {}
        return {row["metric"]["deployment"]: float(row["value"][1]) for row in result}
