"""Everything one pass over one object depends on, frozen: the rest of a pass is computed from it alone."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from specdec_operator.api.names import REQUESTED_AT_ANNOTATION
from specdec_operator.api.objects import Metadata, SpecDecDeployment
from specdec_operator.api.spec import SpecDecDeploymentSpec
from specdec_operator.api.status import SpecDecDeploymentStatus
from specdec_operator.controller.memory import Hindrance, Memory
from specdec_operator.controller.pods import pod_view
from specdec_operator.controller.understanding import Understanding
from specdec_operator.policy.join import summarise
from specdec_operator.policy.signals import Load, Reading, Unavailable
from specdec_operator.ports import Children, JsonObject, Key
from specdec_operator.rollout.fleet import PodView

_LONGEST_REQUEST = 253
"""Characters; what `status.lastRequestedAt` holds."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One object with its children, pods, signals and the time."""

    key: Key
    now: float
    metadata: Metadata
    understanding: Understanding
    status: SpecDecDeploymentStatus
    """The status as stored."""
    children: Children
    pods: tuple[PodView, ...]
    load: Load | Unavailable
    memory: Memory
    live: bool
    """Read live from the API server, so that it may be acted on."""
    switching_elsewhere: int = 0
    """How many other objects have a switch on their way."""
    maximum_concurrent_switches: int = 2

    @property
    def spec(self) -> SpecDecDeploymentSpec:
        """The spec; only to be asked for where nothing refused it."""
        if self.understanding.spec is None:
            raise ValueError(f"the spec of {self.key.namespace}/{self.key.name} could not be parsed")
        return self.understanding.spec

    @property
    def is_new(self) -> bool:
        """Say whether nobody has worked on the object yet: no status, no children, and nothing remembered."""
        return (
            self.status.observed_generation is None
            and self.children == Children()
            and self.memory.verified is None
            and self.memory.hindrance is None
        )

    @property
    def spec_hash(self) -> str:
        """Digest of what only a new pod can take up; empty where the spec cannot be parsed."""
        return self.understanding.spec_hash

    @property
    def deployment(self) -> SpecDecDeployment:
        """The object as the renderers take it."""
        return SpecDecDeployment.model_construct(metadata=self.metadata, spec=self.spec, status=self.status)

    @property
    def hindrance(self) -> Hindrance | None:
        """What keeps the operator from trying at this time."""
        known = self.memory.hindrance
        if known is None or known.generation != self.metadata.generation or known.until <= self.now:
            return None
        return known

    @property
    def draining(self) -> tuple[PodView, ...]:
        """The pods that were taken out of the Service and must be asked whether they are idle."""
        return tuple(pod for pod in self.living if pod.drain_started_at is not None)

    @property
    def living(self) -> tuple[PodView, ...]:
        """The pods that nobody has told to end."""
        return tuple(pod for pod in self.pods if not pod.terminating)

    @property
    def serving(self) -> tuple[PodView, ...]:
        """The pods that get requests: ready, and in the Service."""
        return tuple(pod for pod in self.living if pod.ready and pod.serving)

    @property
    def requested_anew(self) -> str | None:
        """The value of specdec.dev/requestedAt, as status remembers it, if it was not acted on yet."""
        value = _memorable(self.metadata.annotations.get(REQUESTED_AT_ANNOTATION, ""))
        return value if value and value != self.status.last_requested_at else None


@dataclass(frozen=True, slots=True)
class Sight:
    """What is known besides the object and its children."""

    now: float
    understanding: Understanding
    status: SpecDecDeploymentStatus
    """As stored."""
    live: bool
    """The object and its children were read live."""
    reading: Reading | Unavailable
    requests: Mapping[str, float | None] = field(default_factory=dict)
    """By pod name: requests in flight as the pod itself said; None where it did not answer."""
    switching_elsewhere: int = 0
    maximum_concurrent_switches: int = 2


def _memorable(value: str) -> str:
    """Return the value, or its digest where it is too long for status: cut, two values could look like one."""
    if len(value) <= _LONGEST_REQUEST:
        return value
    return f"sha256:{hashlib.sha256(value.encode(errors='backslashreplace')).hexdigest()}"


def build_snapshot(body: JsonObject, children: Children, *, memory: Memory, sight: Sight) -> Snapshot:
    """Put together what was read; pure."""
    metadata = Metadata.model_validate(body["metadata"])
    key = Key(metadata.namespace, metadata.name)
    pods = tuple(
        pod_view(pod, now=sight.now, requests=_requests(pod["metadata"]["name"], key.namespace, sight))
        for pod in children.pods
    )
    return Snapshot(
        key=key,
        now=sight.now,
        metadata=metadata,
        understanding=sight.understanding,
        status=sight.status,
        children=children,
        pods=tuple(sorted(pods, key=lambda pod: pod.ordinal)),
        load=_load(sight, key.namespace, pods),
        memory=memory,
        live=sight.live,
        switching_elsewhere=sight.switching_elsewhere,
        maximum_concurrent_switches=sight.maximum_concurrent_switches,
    )


def _requests(pod: str, namespace: str, sight: Sight) -> float | None:
    asked = sight.requests.get(pod)
    if asked is not None or isinstance(sight.reading, Unavailable):
        return asked
    engines = sight.reading.engines.get((namespace, pod))
    return sum(engine.running + engine.waiting for engine in engines) if engines else None


def _load(sight: Sight, namespace: str, pods: tuple[PodView, ...]) -> Load | Unavailable:
    """Summarise the pods that get requests: one that is out of service says nothing about the load."""
    starts = {
        pod.name: pod.started_at if pod.started_at is not None else sight.now
        for pod in pods
        if pod.ready and pod.serving and not pod.terminating
    }
    return summarise(sight.reading, namespace=namespace, pods=starts, now=sight.now)
