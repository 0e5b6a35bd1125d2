"""Processes of a bed, started, watched and ended by the bed's first process, which must also reap orphans."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hack.testbed.errors import TestbedError


@dataclass(frozen=True, slots=True)
class Component:
    """One long-running process: its name (also of its log), arguments and extra environment.

    `grace_seconds` is how long it may take to end itself before it is killed.
    """

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    grace_seconds: float = 20


@dataclass(slots=True)
class _Process:
    component: Component
    popen: subprocess.Popen[bytes]
    paused: bool = False

    @property
    def state(self) -> str:
        if self.popen.returncode is not None:
            return f"exited ({self.popen.returncode})"
        return "paused" if self.paused else "running"


class Supervisor:
    """Starts and stops components. Single-threaded; only `reap` collects children, so no exit status is lost."""

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._processes: dict[str, _Process] = {}
        self._helpers: dict[int, subprocess.Popen[bytes]] = {}

    def start(self, component: Component) -> None:
        """Start a component; its output goes to its log, appended."""
        popen = self._spawn(component.argv, component.name, component.env)
        self._processes[component.name] = _Process(component, popen)

    def restart(self, name: str) -> None:
        """Start a component again that was stopped; one that runs is left alone."""
        process = self._find(name)
        self.reap()
        if process.popen.returncode is not None:
            self.start(process.component)

    def stop(self, name: str) -> None:
        """End a component with SIGTERM, with SIGKILL after its grace; returns when it is gone."""
        process = self._find(name)
        self.resume(name)
        self._signal(process, signal.SIGTERM)
        if not self._wait(lambda: process.popen.returncode is not None, process.component.grace_seconds):
            self._signal(process, signal.SIGKILL)
            self._wait(lambda: process.popen.returncode is not None, 10)

    def pause(self, name: str) -> None:
        """Freeze a component (SIGSTOP)."""
        process = self._find(name)
        self._signal(process, signal.SIGSTOP)
        process.paused = True

    def resume(self, name: str) -> None:
        """Let a frozen component go on (SIGCONT)."""
        process = self._find(name)
        self._signal(process, signal.SIGCONT)
        process.paused = False

    def states(self) -> dict[str, str]:
        """Return the state of every component: running, paused or exited (status)."""
        self.reap()
        return {name: process.state for name, process in self._processes.items()}

    def check(self) -> None:
        """Raise when a component has ended, with the end of its log."""
        self.reap()
        for name, process in self._processes.items():
            if process.popen.returncode is not None:
                raise TestbedError(f"{name} {process.state}\n{self.tail(name)}")

    def background(self, argv: Sequence[str], log: str) -> Callable[[], bool]:
        """Run a helper beside everything else. The answer says whether it has ended, and raises when it failed."""
        popen = self._spawn(argv, log, {})
        self._helpers[popen.pid] = popen

        def done() -> bool:
            if popen.returncode:
                raise TestbedError(f"{' '.join(argv)} failed with exit status {popen.returncode}\n{self.tail(log)}")
            return popen.returncode is not None

        return done

    def run(self, argv: Sequence[str], log: str, timeout: float = 60) -> None:
        """Run a helper to its end; raise when it fails."""
        done = self.background(argv, log)
        if not self._wait(done, timeout):
            raise TestbedError(f"{' '.join(argv)} did not end within {timeout:.0f} s\n{self.tail(log)}")

    def wait_for(self, name: str, ready: Callable[[], bool], timeout: float = 60) -> None:
        """Wait until `ready` says yes; raise when the component ends before, or takes too long."""
        process = self._find(name)
        if not self._wait(lambda: process.popen.returncode is not None or ready(), timeout) or process.popen.returncode:
            raise TestbedError(f"{name} did not become ready ({process.state})\n{self.tail(name)}")

    def reap_all(self) -> None:
        """Collect children until there is none left."""
        while True:
            try:
                pid, status = os.wait()
            except ChildProcessError:
                return
            self._record(pid, os.waitstatus_to_exitcode(status))

    def reap(self) -> None:
        """Collect every child that has ended, ours or an orphan that was handed to us."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self._record(pid, os.waitstatus_to_exitcode(status))

    def tail(self, log: str, lines: int = 12) -> str:
        """Return the last lines of a log."""
        path = self._logs / f"{log}.log"
        text = path.read_text(errors="replace") if path.exists() else ""
        return "\n".join(text.splitlines()[-lines:])

    def _record(self, pid: int, code: int) -> None:
        helper = self._helpers.pop(pid, None)
        known = [helper] if helper else [p.popen for p in self._processes.values() if p.popen.pid == pid]
        for popen in known:
            popen.returncode = code

    def _spawn(self, argv: Sequence[str], log: str, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
        with (self._logs / f"{log}.log").open("ab") as out:
            return subprocess.Popen(
                list(argv), stdin=subprocess.DEVNULL, stdout=out, stderr=out, env={**os.environ, **env}
            )

    def _find(self, name: str) -> _Process:
        if name not in self._processes:
            raise TestbedError(f"no component {name!r} in this bed; there are {', '.join(self._processes)}")
        return self._processes[name]

    def _signal(self, process: _Process, number: signal.Signals) -> None:
        self.reap()
        if process.popen.returncode is None:
            os.kill(process.popen.pid, number)

    def _wait(self, condition: Callable[[], bool], timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        while True:
            self.reap()
            if condition():
                return True
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
