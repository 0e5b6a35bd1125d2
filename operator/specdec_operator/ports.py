"""What the controller needs from the outside, as Protocols: adapters satisfy them structurally."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

from specdec_operator.api.conditions import Reason
from specdec_operator.policy.signals import Reading, Unavailable

JsonObject = dict[str, Any]


class Key(NamedTuple):
    """Names one SpecDecDeployment."""

    namespace: str
    name: str


class ChildKind(StrEnum):
    """Kinds of the objects that the operator makes or watches."""

    STATEFUL_SET = "StatefulSet"
    SERVICE = "Service"
    POD_DISRUPTION_BUDGET = "PodDisruptionBudget"
    POD = "Pod"
    CONFIG_MAP = "ConfigMap"


@dataclass(frozen=True, slots=True)
class Children:
    """All children of one object as read; None where there is none. Pods are those whose owner chain leads to it."""

    stateful_set: JsonObject | None = None
    service: JsonObject | None = None
    budget: JsonObject | None = None
    pods: tuple[JsonObject, ...] = ()


def is_ours(body: JsonObject, owner_uid: str) -> bool:
    """Say whether the controller ownerReference of an object has this uid: only then may it be written."""
    owners = body.get("metadata", {}).get("ownerReferences") or ()
    return any(owner.get("controller") is True and owner.get("uid") == owner_uid for owner in owners)


class EventType(StrEnum):
    """Kubernetes' two event types."""

    NORMAL = "Normal"
    WARNING = "Warning"


@dataclass(frozen=True, slots=True)
class ClusterEvent:
    """An event about one object."""

    key: Key
    uid: str
    type: EventType
    reason: Reason
    message: str
    action: str = "Reconcile"


class Failure(StrEnum):
    """What went wrong in a call to the API server."""

    NOT_FOUND = "NotFound"  # 404
    CONFLICT = "Conflict"  # 409
    GONE = "Gone"  # 410
    FORBIDDEN = "Forbidden"  # 401, 403
    INVALID = "Invalid"  # 400, 422
    TOO_MANY_REQUESTS = "TooManyRequests"  # 429
    SERVER = "Server"  # 5xx
    TIMEOUT = "Timeout"
    CONNECTION = "Connection"


class ClusterError(Exception):
    """A call to the API server failed.

    Attributes:
        failure: what went wrong.
        status: the HTTP status, None when there was no answer.
        retry_after: seconds the server asked us to wait, None when it did not.
    """

    def __init__(
        self, failure: Failure, message: str, *, status: int | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.failure = failure
        self.status = status
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class PodPatch:
    """A change of one pod's labels and annotations; a value of None removes the entry.

    `uid` and `resource_version` are the fence: a pod that changed since it was read refuses the patch (Conflict).
    """

    namespace: str
    name: str
    uid: str
    resource_version: str
    labels: Mapping[str, str | None] = field(default_factory=dict)
    annotations: Mapping[str, str | None] = field(default_factory=dict)


class Cluster(Protocol):
    """The Kubernetes API. Every method raises ClusterError; every call has a deadline."""

    async def read_deployment(self, key: Key) -> JsonObject | None:
        """Read the SpecDecDeployment live; None when there is none."""

    async def read_children(self, key: Key, owner_uid: str) -> Children:
        """Read all children live. Objects of the same names that are not ours are returned too (see `is_ours`)."""

    def cached_children(self, key: Key) -> Children:
        """Return the children as the watch last saw them (trimmed): only to decide whether to look live."""

    async def create(self, body: JsonObject) -> JsonObject:
        """Create an object; Conflict when the name is taken."""

    async def apply(self, body: JsonObject) -> JsonObject:
        """Server-side apply with our field manager; `metadata.uid` in the body makes sure it is the one we read."""

    async def patch_pod(self, patch: PodPatch) -> JsonObject:
        """Change labels and annotations of a pod."""

    async def annotate_budget(self, budget: JsonObject, annotations: Mapping[str, str]) -> JsonObject:
        """Annotate the PodDisruptionBudget, fenced by the resourceVersion it was read with."""

    async def delete_pod(self, namespace: str, name: str, uid: str, *, force: bool = False) -> None:
        """Delete a pod if its uid still matches; a pod already gone is no error."""

    async def write_status(self, key: Key, uid: str, resource_version: str, status: JsonObject) -> JsonObject:
        """Replace `status`; Conflict when the object changed since it was read. Returns the new object."""

    async def emit(self, event: ClusterEvent) -> None:
        """Record an event."""

    def watch_children(self) -> AsyncIterator[Key]:
        """List and watch all children; yield the key of each object whose children changed. Runs until cancelled."""


class MetricsSource(Protocol):
    """Where the engines' metrics come from."""

    async def read(self, namespaces: frozenset[str]) -> Reading | Unavailable:
        """Read all engines of these namespaces with a constant number of queries. Never raises, never hangs."""


class EngineProbe(Protocol):
    """Asks one engine pod itself."""

    async def requests_in_flight(self, address: str, port: int) -> float | None:
        """Return running plus waiting requests of all engines of the pod, None when it does not answer."""


class Clock(Protocol):
    """Time as an argument."""

    def now(self) -> float:
        """Return Unix seconds."""
