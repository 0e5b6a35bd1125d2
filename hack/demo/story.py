"""The story of the demo from the install to the table."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

import aiohttp
from rich.markup import escape

from hack.demo import cluster
from hack.demo.observe import Prometheus, Sample, View, events
from hack.demo.scenario import AUTO, NAMESPACE, TWIN, Scenario, operator_values
from hack.demo.screen import Screen
from hack.load.dial import Dial, DialledLoad
from hack.load.records import Summary, Timeline
from hack.load.runner import run_load, stopwatch
from specdec_operator.api.names import NONE_METHOD

MEASURE_SECONDS = 12
"""How long speeds are compared in a state that has settled."""


SETTLE_SECONDS = 8
"""Until requests that began while one engine was away have spread over both again."""
SMOOTH_SECONDS = 5
"""The picture's speeds are means over this long."""


class DemoError(Exception):
    """Something that had to happen did not; the message says what and what was seen in its place."""


@dataclass(slots=True)
class Ending:
    """What happened."""

    samples: list[Sample] = field(default_factory=list)
    summaries: dict[str, Summary] = field(default_factory=dict)
    speeds: dict[str, dict[str, float]] = field(default_factory=dict)
    """Tokens per second per request by chapter and object."""
    switch_seconds: dict[str, float] = field(default_factory=dict)
    pods_kept: bool = False
    columns: str = ""


class Story:
    """One run. Everything it starts ends with it."""

    def __init__(self, scenario: Scenario, screen: Screen, prometheus_url: str) -> None:
        self.scenario, self.screen, self.prometheus_url = scenario, screen, prometheus_url
        self.names = (AUTO, TWIN) if scenario.has_twin else (AUTO,)
        self.view, self.dial, self.ending = View(), Dial(), Ending()
        self.timelines: dict[str, Timeline] = {}

    async def tell(self) -> Ending:
        """Run it to the end.

        Raises:
            DemoError: when a step does not come about in its time.
        """
        await self._install()
        async with self._observers():
            await self._until(self._all_ready, "the engines to be ready")
            before = await cluster.pods(AUTO)
            self.ending.columns = await cluster.columns()
            for line in self.ending.columns.rstrip().splitlines():
                self.screen.say(escape(line))
            async with self._load():
                await self._up_and_down()
            self.ending.pods_kept = await cluster.pods(AUTO) == before
        return self.ending

    async def _install(self) -> None:
        self.screen.chapter("helm install specdec-operator charts/specdec-operator")
        await cluster.install_operator(operator_values(self.prometheus_url))
        names = " and ".join(self.names)
        self.screen.chapter(f"kubectl apply: {names}, two replicas each, starting with {self.scenario.method}")
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
        await cluster.apply(namespace, *self.scenario.objects)

    async def _up_and_down(self) -> None:
        load, method = self.scenario.load, self.scenario.method
        self.screen.chapter(f"load: {load.calm_clients} streaming clients, a connection of its own for each request")
        await self.dial.turn(load.calm_clients, 1)
        await asyncio.sleep(load.calm_seconds)
        self._measure("calm")
        self.screen.chapter(f"load climbs to {load.busy_clients} clients: past break-even")
        await self.dial.turn(load.busy_clients, load.climb_seconds)
        await self._switch(to=NONE_METHOD)
        await asyncio.sleep(SETTLE_SECONDS + MEASURE_SECONDS)
        self._measure("busy")
        self.screen.chapter(f"load falls to {load.calm_clients} clients")
        await self.dial.turn(load.calm_clients, 2)
        await self._switch(to=method)
        await asyncio.sleep(MEASURE_SECONDS)
        self._measure("calm again")

    async def _switch(self, to: str) -> None:
        started = time.monotonic()
        await self._until(lambda: self._target() == to, f"the operator to decide for {to}")
        decided = time.monotonic()
        if not self.scenario.has_twin:
            self._measure(f"before {to}")
        await self._until(lambda: self._runs(to), f"the engines to run {to}")
        now = time.monotonic()
        self.ending.switch_seconds[to] = now - decided
        text = f"all engines run {to}: decided after {decided - started:.0f} s, switched in {now - decided:.0f} s"
        self.screen.say(text, "green")

    def _target(self) -> str:
        return str(self.view.status(AUTO).get("target", {}).get("method", ""))

    def _runs(self, method: str) -> bool:
        return self.view.method(AUTO) == method and "rollout" not in self.view.status(AUTO)

    def _all_ready(self) -> bool:
        return all(
            self.view.condition(name, "Ready").get("status") == "True"
            and self.view.status(name).get("readyReplicas") == self.view.objects[name]["spec"]["replicas"]
            for name in self.names
        )

    def _measure(self, chapter: str) -> None:
        speeds = {name: self._speed(name, MEASURE_SECONDS) for name in self.timelines}
        self.ending.speeds[chapter] = speeds
        text = ", ".join(f"{name} {speed:.1f}" for name, speed in speeds.items())
        self.screen.say(f"tokens per second per request over the last {MEASURE_SECONDS} s: {text}")

    async def _until(self, condition: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + self.scenario.limit_seconds
        while not condition():
            if time.monotonic() > deadline:
                seen = self.view.status(AUTO).get("conditions", [])
                raise DemoError(f"waited {self.scenario.limit_seconds:.0f} s for {what}; conditions: {seen}")
            self.view.changed.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.view.changed.wait(), 1)

    @contextlib.asynccontextmanager
    async def _observers(self) -> AsyncIterator[None]:
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=5)) as session:
            prometheus = Prometheus(self.prometheus_url, session)
            work = (self.view.follow(), self._narrate_events(), self._narrate_steps(), self._sample(prometheus))
            tasks = [asyncio.create_task(job) for job in work]
            try:
                with self.screen.live():
                    yield
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    @contextlib.asynccontextmanager
    async def _load(self) -> AsyncIterator[None]:
        jobs = {}
        for name in self.names:
            timeline = self.timelines[name] = Timeline(clock=stopwatch())
            load = DialledLoad(
                url=await cluster.service_url(name),
                phases=(),
                dial=self.dial,
                max_tokens=(self.scenario.load.minimum_tokens, self.scenario.load.maximum_tokens),
            )
            jobs[name] = asyncio.create_task(run_load(load, timeline=timeline))
        try:
            yield
        finally:
            self.dial.stopped = True
            for name, job in jobs.items():
                self.ending.summaries[name] = await job

    async def _narrate_events(self) -> None:
        async for event in events(frozenset({AUTO})):
            style = "yellow" if event.get("type") == "Warning" else "cyan"
            self.screen.say(f"{event['reason']}: {escape(event.get('note', ''))}", style)

    async def _narrate_steps(self) -> None:
        last = ""
        while True:
            rollout = self.view.status(AUTO).get("rollout")
            text = f"{rollout['pod']}: {rollout['step']}" if rollout and "pod" in rollout and "step" in rollout else ""
            if text and text != last:
                self.screen.say(escape(text))
            last = text
            await asyncio.sleep(0.3)

    async def _sample(self, prometheus: Prometheus) -> None:
        while True:
            sample = Sample(
                at=time.time(),
                clients=round(self.dial.clients),
                method={name: self.view.method(name) for name in self.names},
                concurrency=await prometheus.concurrency(),
                speed={name: speed for name in self.timelines if (speed := self._speed(name, SMOOTH_SECONDS))},
            )
            if self.timelines and not self.dial.stopped:
                self.ending.samples.append(sample)
            self.screen.show(_rows(sample))
            await asyncio.sleep(1)

    def _speed(self, name: str, seconds: int) -> float:
        timeline = self.timelines[name]
        now = int(timeline.clock())
        return timeline.speed(max(now - seconds, 0), now) or 0.0


def _rows(sample: Sample) -> dict[str, dict[str, str]]:
    return {
        name: {
            "clients": str(sample.clients),
            "method": method or "-",
            "running per engine": f"{sample.concurrency.get(name, float('nan')):.1f}",
            "tokens/s per request": f"{sample.speed.get(name, float('nan')):.1f}",
        }
        for name, method in sample.method.items()
    }
