"""What must come from the distribution: the container runtime, network tools."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hack.testbed.errors import TestbedError
from hack.testbed.progress import step

_SEARCH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_CNI_FOLDERS = ("/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni")
CONTROL_PLANE_TOOLS = {"unshare": "util-linux", "nsenter": "util-linux", "ip": "iproute2", "openssl": "openssl"}
NODE_TOOLS = {
    "containerd": "containerd",
    "ctr": "containerd",
    "runc": "runc",
    "bridge": "containernetworking-plugins",
    "nft": "nftables",
    "gcc": "gcc",
}
_POLICY = Path("/usr/sbin/policy-rc.d")


def find(name: str) -> Path | None:
    """Return the path of a tool; `bridge` is the CNI plugin, which is not on PATH."""
    if name == "bridge":
        folders = (Path(folder) / name for folder in _CNI_FOLDERS)
        return next((path for path in folders if path.exists()), None)
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:{_SEARCH}")
    return Path(found) if found else None


def ensure(tools: dict[str, str]) -> dict[str, str]:
    """Return the path of every tool (name -> path), after installing the Debian packages of those that are missing."""
    missing = sorted({package for name, package in tools.items() if find(name) is None})
    if "gcc" in missing:
        missing.append("libc6-dev")
    if missing:
        _install(missing)
    paths = {name: find(name) for name in tools}
    absent = [name for name, path in paths.items() if path is None]
    if absent:
        raise TestbedError(f"{', '.join(absent)} not found after installing {', '.join(missing)}")
    return {name: str(path) for name, path in paths.items()}


def _install(packages: list[str]) -> None:
    command = ["apt-get", "install", "-y", "--no-install-recommends", *packages]
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise TestbedError(f"missing packages: run `sudo {' '.join(command)}` (Debian names), then try again")
    with step(f"installing {', '.join(packages)}"), _services_stay_down():
        error = apt(command)
    if error:
        raise TestbedError(f"`{' '.join(command)}` failed:\n{error}")


def apt(command: list[str], folder: Path | None = None) -> str:
    """Run an apt-get command, a second time with fresh package lists when it fails; returns the error, "" if none."""
    environ = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for attempt in range(2):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environ)
        if done.returncode == 0:
            return ""
        if attempt == 0 and os.geteuid() == 0:
            subprocess.run(["apt-get", "update"], capture_output=True, check=False, env=environ)
    return (done.stdout + done.stderr)[-1500:]


@contextmanager
def _services_stay_down() -> Iterator[None]:
    """Keep the packages from starting their own containerd: the bed runs its own."""
    if _POLICY.exists():
        yield
        return
    _POLICY.write_text("#!/bin/sh\nexit 101\n")
    _POLICY.chmod(0o755)
    try:
        yield
    finally:
        _POLICY.unlink(missing_ok=True)
