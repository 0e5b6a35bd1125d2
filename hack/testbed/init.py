"""First process (pid 1) of a bed's namespaces: brings everything up, serves commands, ends everything.

Started by `hack.testbed.beds` as `python -m hack.testbed.init PLAN LOCK PROGRESS LIFELINE`: the plan's file and three
file descriptors. LOCK is only held. PROGRESS gets one JSON object a line: `{"step": ...}`, then `{"ready": true}` or
`{"error": ...}`. LIFELINE (-1: none) is a pipe whose other end the caller holds: when it closes, the bed ends, so a
killed caller leaves nothing running.
"""

import contextlib
import json
import os
import selectors
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any

from hack.testbed import cgroups, control
from hack.testbed.api import Api
from hack.testbed.bringup import Bringup, prometheus_ready
from hack.testbed.errors import TestbedError
from hack.testbed.plan import Plan
from hack.testbed.supervisor import Supervisor


class Init:
    """The life of one bed."""

    def __init__(self, plan: Plan, progress: int, lifeline: int) -> None:
        self._plan = plan
        self._progress = progress
        self._lifeline = lifeline
        self._supervisor = Supervisor(plan.paths.logs)
        self._down = False
        self._began = time.monotonic()

    def run(self) -> int:
        """Bring the bed up, serve until it is to go down, end everything. Returns the exit status."""
        try:
            Bringup(self._plan, self._supervisor, self._say).run()
            server = control.listen(self._plan.paths.control)
            self._say("ready")
            self._tell(ready=True)
            os.close(self._progress)
            self._serve(server)
        except (TestbedError, OSError) as error:
            with contextlib.suppress(OSError):
                self._tell(error=str(error))
            return 1
        finally:
            self._end()
        return 0

    def _serve(self, server: socket.socket) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(server, selectors.EVENT_READ)
            if self._lifeline >= 0:
                selector.register(self._lifeline, selectors.EVENT_READ)
            while not self._down:
                for key, _ in selector.select(timeout=1):
                    if key.fileobj is server:
                        control.serve_one(server, self._handle)
                    else:
                        self._down = True
                self._supervisor.reap()

    def _handle(self, command: dict[str, Any]) -> dict[str, Any]:
        do, component = command["do"], command.get("component", "")
        if do == "shutdown":
            self._down = True
        elif do == "start":
            self._start(component)
        elif do in ("stop", "pause", "resume"):
            getattr(self._supervisor, do)(component)
        elif do != "status":
            raise TestbedError(f"unknown command {do!r}")
        return {"components": self._supervisor.states()}

    def _start(self, component: str) -> None:
        self._supervisor.restart(component)
        ready = {"prometheus": prometheus_ready, "kube-apiserver": Api(self._plan.paths.pki).ready}
        if component in ready:
            self._supervisor.wait_for(component, ready[component])

    def _say(self, what: str) -> None:
        print(f"{time.monotonic() - self._began:6.2f} s {what}", flush=True)
        self._tell(step=what)

    def _tell(self, **message: str | bool) -> None:
        """Tell the caller; a caller that has gone (OSError) ends the bed."""
        os.write(self._progress, json.dumps(message).encode() + b"\n")

    def _end(self) -> None:
        """Kill every process of the namespace (only ours: pid 1 cannot see others) and remove the bed's cgroup."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        self._supervisor.reap_all()
        cgroups.remove(self._plan.paths.cgroup)


def main(arguments: list[str]) -> int:
    """Run a bed; see the module's description."""
    plan = Plan.from_json(Path(arguments[0]).read_text())
    lock, progress, lifeline = (int(argument) for argument in arguments[1:4])
    for descriptor in (lock, progress, lifeline):
        if descriptor >= 0:
            os.set_inheritable(descriptor, False)  # noqa: FBT003 - positional only
    # A handler that does nothing, not SIG_IGN: that would be inherited by every container.
    signal.signal(signal.SIGINT, lambda *_: None)
    return Init(plan, progress, lifeline).run()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
