"""Runs a command inside a bed's namespaces, with the caller's working directory, environment and terminal."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from hack.testbed import net
from hack.testbed.beds import Bed
from hack.testbed.paths import bed_paths

_GRACE_SECONDS = 20


def environment(bed: Bed) -> dict[str, str]:
    """Return the environment of commands in the bed."""
    not_proxied = f"127.0.0.1,localhost,{net.POD_CIDR},{net.SERVICE_CIDR},{net.GATEWAY}"
    own = {
        "KUBECONFIG": bed.kubeconfig,
        "PATH": f"{bed.bin}:{os.environ.get('PATH', '')}",
        "SPECDEC_TESTBED": str(bed_paths(bed.name).description),
        "SPECDEC_HELM": bed.helm,
        **{name: ",".join(filter(None, (os.environ.get(name), not_proxied))) for name in ("NO_PROXY", "no_proxy")},
    }
    if bed.prometheus_url:
        own["SPECDEC_PROMETHEUS_URL"] = bed.prometheus_url
    return {**os.environ, **own}


def run(bed: Bed, command: Sequence[str]) -> int:
    """Run a command in the bed to its end and return its exit status (128 + signal when a signal ended it).

    An interrupt from the terminal reaches the command directly; SIGTERM and SIGHUP are passed on, and SIGKILL follows
    if the command does not end in 20 s.
    """
    enter = ("nsenter", "--net", "--mount", "--pid", f"--target={bed.init_pid}")
    # Entering a mount namespace moves to its root, so go back to where the caller was.
    shell = ("/bin/sh", "-c", 'cd "$0" && exec "$@"', os.getcwd())  # noqa: PTH109 - kept as the caller named it
    process = subprocess.Popen((*enter, *shell, *command), env=environment(bed))
    previous = {number: signal.signal(number, _pass_on(process)) for number in (signal.SIGTERM, signal.SIGHUP)}
    previous[signal.SIGINT] = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        status = process.wait()
    finally:
        signal.alarm(0)
        for number, handler in previous.items():
            signal.signal(number, handler)
    return status if status >= 0 else 128 - status


def _pass_on(process: subprocess.Popen[bytes]) -> "signal._HANDLER":
    """Return a handler that passes a signal on to the command, which nsenter itself would not do."""

    def handle(number: int, frame: FrameType | None) -> None:
        del frame
        out_of_time = number == signal.SIGALRM
        for child in _children(process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL if out_of_time else number)
        if not out_of_time:
            signal.signal(signal.SIGALRM, handle)
            signal.alarm(_GRACE_SECONDS)

    return handle


def _children(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in path.read_text().split()] if path.exists() else []
