"""A small model of one pod under a kubelet: what the planner's acts lead to, with the delays that matter."""

import itertools
import random
from dataclasses import dataclass, field

from specdec_operator.rollout.fleet import PodView

STARTUP_PROBE = 75.0
"""Seconds after which the kubelet ends an engine that never became Ready."""
REFRESH = 2.0
"""Longest delay of a downward-API file behind its annotation."""
WATCH_DELAY = 0.9
"""For how long the kubelet still starts engines with an annotation's earlier value."""
ENDPOINT_DELAY = 3.0
"""For how long requests still come to a pod that has left its Service."""

_ids = itertools.count(1)


@dataclass(frozen=True)
class Engine:
    """How engines behave with one config: seconds until Ready (None: never), seconds until they crash (None: never)."""

    start: float | None = 5.0
    crash: float | None = None


@dataclass
class Container:
    """A running engine."""

    id: str
    config: str
    started_at: float
    ready_at: float | None
    crash_at: float | None
    ends_at: float | None = None
    """When it will have ended after it was told to."""


@dataclass
class ModelPod:
    """One pod. `clock` is the model's time; `cut` counts requests that an ending engine did not finish."""

    ordinal: int
    config: str
    method: str
    spec_hash: str
    created_at: float
    rng: random.Random
    uid: str = field(default_factory=lambda: f"uid-{next(_ids)}")
    scheduled: bool = False
    serving: bool = True
    container: Container | None = None
    restarts: int = -1
    next_start: float = 0.0
    back_off: float = 0.0
    last_failure: float = -1e9
    annotated_at: float = -1e9
    earlier_config: str = ""
    left_at: float | None = None
    drain: float | None = None
    set_at: float | None = None
    replaces: str | None = None
    restarts_when_set: int | None = None
    ready: bool = False
    ready_changed_at: float = 0.0
    unready_until: float = -1e9
    terminating_at: float | None = None
    node_lost: bool = False
    last_exit: str = ""
    requests: list[float] = field(default_factory=list)
    cut: int = 0
    version: int = 1

    def name(self) -> str:
        """Return its name."""
        return f"llama-{self.ordinal}"

    def view(self, now: float, *, reachable: bool = True) -> PodView:
        """Return what the API server and the pod itself say; annotations have whole seconds."""
        running = self.container
        backing_off = running is None and self.restarts >= 0 and now + 0.5 < self.next_start
        return PodView(
            name=self.name(),
            uid=self.uid,
            resource_version=str(self.version),
            ordinal=self.ordinal,
            method=self.method,
            config=self.config,
            serving=self.serving,
            ready=self.ready,
            created_at=self.created_at,
            terminating=self.terminating_at is not None,
            scheduled=self.scheduled,
            pending_reason="" if self.scheduled else "Unschedulable: 0/3 nodes: 3 Insufficient nvidia.com/gpu.",
            container_id=running.id if running else None,
            started_at=float(int(running.started_at)) if running else None,
            restarts=max(self.restarts, 0),
            waiting_reason="CrashLoopBackOff" if backing_off else "",
            last_exit=self.last_exit,
            ready_changed_at=self.ready_changed_at,
            grace_seconds=20.0,
            drain_started_at=None if self.drain is None else float(int(self.drain)),
            method_set_at=None if self.set_at is None else float(int(self.set_at)),
            replaces_container=self.replaces,
            restarts_when_set=self.restarts_when_set,
            spec_hash=self.spec_hash,
            node_lost=self.node_lost,
            requests=float(len(self.requests)) if running and reachable else None,
        )

    def step(self, now: float, engines: dict[str, Engine]) -> None:
        """Do what the kubelet does by `now`."""
        if self.node_lost or not self.scheduled:
            return
        self.requests = [end for end in self.requests if end > now]
        before = (self.container and self.container.id, self.ready)
        if self.container is not None:
            self._watch(self.container, now)
        elif self.terminating_at is None and now >= self.next_start:
            late = now < self.annotated_at + WATCH_DELAY
            config = self.earlier_config if late else self.config
            self._start(now, config, engines[config])
        self._judge_ready(now)
        if before != (self.container and self.container.id, self.ready):
            self.version += 1

    def _start(self, now: float, config: str, engine: Engine) -> None:
        self.restarts += 1
        jitter = self.rng.uniform(0.8, 1.3)
        self.container = Container(
            id=f"c-{next(_ids)}",
            config=config,
            started_at=now,
            ready_at=None if engine.start is None else now + engine.start * jitter,
            crash_at=None if engine.crash is None else now + engine.crash * jitter,
        )

    def _watch(self, container: Container, now: float) -> None:
        started_up = container.ready_at is not None and now >= container.ready_at
        seen = now >= self.annotated_at + REFRESH
        if container.crash_at is not None and now >= container.crash_at:
            self._end(now, "Error (exit code 1)", failed=True)
        elif container.ends_at is not None:
            if now >= container.ends_at:
                self._end(now, "Completed (exit code 0)", failed=False)
        elif started_up and seen and container.config != self.config and self.rng.random() < 0.4:
            container.ends_at = now + self.rng.choice((0.0, 1.0, 4.0))
        elif not started_up and now >= container.started_at + STARTUP_PROBE:
            self._end(now, "Error (exit code 137)", failed=True)

    def _end(self, now: float, how: str, *, failed: bool) -> None:
        """End the engine; the kubelet delays the next start if the last end was a moment ago."""
        if not failed:
            self.cut += len(self.requests)
        self.requests = []
        self.container, self.last_exit = None, how
        self.back_off = min(self.back_off * 2, 40.0) if now < self.last_failure + 60 and self.back_off else 0.0
        self.next_start = now + self.back_off
        self.back_off = self.back_off or 10.0
        self.last_failure = now

    def crash(self, now: float) -> None:
        """Let the engine die for a reason of its own."""
        if self.container is not None:
            self.container.crash_at = now

    def _judge_ready(self, now: float) -> None:
        container = self.container
        ready = container is not None and container.ready_at is not None and now >= container.ready_at
        ready = ready and now >= self.unready_until
        if ready != self.ready:
            self.ready, self.ready_changed_at = ready, now

    def takes_requests(self, now: float) -> bool:
        """Say whether clients still reach it."""
        routed = self.serving or (self.left_at is not None and now < self.left_at + ENDPOINT_DELAY)
        return routed and self.ready and self.container is not None and self.terminating_at is None
