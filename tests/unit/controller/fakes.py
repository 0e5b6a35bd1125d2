"""The ports by hand: a cluster in memory, clocks and probes that say what they are told."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from specdec_operator.ports import Children, ClusterEvent, JsonObject, Key, PodPatch

Call = tuple[str, Any]


@dataclass
class FakeClock:
    """Stands still."""

    time: float

    def now(self) -> float:
        """Return the time that was set."""
        return self.time


@dataclass
class FakeProbe:
    """Answers the same for every pod."""

    answer: float | None = 0.0
    asked: list[str] = field(default_factory=list)

    async def requests_in_flight(self, address: str, port: int) -> float | None:
        """Return the answer."""
        del port
        self.asked.append(address)
        return self.answer


@dataclass
class FakeCluster:
    """One object with its children. It keeps the calls in order and does not act on them.

    Attributes:
        fails: by name of the call: what it raises.
        hidden: what a live read finds and the watch does not see.
    """

    body: JsonObject | None = None
    children: Children = field(default_factory=Children)
    calls: list[Call] = field(default_factory=list)
    fails: dict[str, Exception] = field(default_factory=dict)
    hidden: Children | None = None

    async def _call(self, name: str, argument: object) -> None:
        self.calls.append((name, argument))
        if name in self.fails:
            raise self.fails[name]

    def named(self, *names: str) -> list[str]:
        """Return the names of the calls, without reads or only those asked for."""
        return [name for name, _ in self.calls if (name in names if names else not name.startswith("read"))]

    async def read_deployment(self, key: Key) -> JsonObject | None:
        """Return the object."""
        await self._call("read_deployment", key)
        return self.body

    async def read_children(self, key: Key, owner_uid: str) -> Children:
        """Return the children."""
        del owner_uid
        await self._call("read_children", key)
        return self.hidden or self.children

    def cached_children(self, key: Key) -> Children:
        """Return the children."""
        del key
        return self.children

    async def create(self, body: JsonObject) -> JsonObject:
        """Return the body as created."""
        await self._call("create", body)
        return body

    async def apply(self, body: JsonObject) -> JsonObject:
        """Return the body as applied."""
        await self._call("apply", body)
        return body

    async def patch_pod(self, patch: PodPatch) -> JsonObject:
        """Return the pod with its next resourceVersion."""
        await self._call("patch_pod", patch)
        return {"metadata": {"resourceVersion": f"{patch.resource_version}+"}}

    async def annotate_budget(self, budget: JsonObject, annotations: Mapping[str, str]) -> JsonObject:
        """Return the budget."""
        await self._call("annotate_budget", dict(annotations))
        return budget

    async def delete_pod(self, namespace: str, name: str, uid: str, *, force: bool = False) -> None:
        """Delete nothing."""
        await self._call("delete_pod", (namespace, name, uid, force))

    async def write_status(self, key: Key, uid: str, resource_version: str, status: JsonObject) -> JsonObject:
        """Return the object with the status."""
        await self._call("write_status", (key, uid, resource_version, status))
        assert self.body is not None
        metadata = {**self.body["metadata"], "resourceVersion": f"{resource_version}+"}
        self.body = {**self.body, "metadata": metadata, "status": status}
        return self.body

    async def emit(self, event: ClusterEvent) -> None:
        """Keep the event."""
        await self._call("emit", event)

    async def watch_children(self) -> AsyncIterator[Key]:
        """See nothing."""
        for key in ():
            yield key
