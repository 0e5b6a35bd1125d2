"""Mounts and network of a bed; runs inside the new namespaces, so that nothing of it is seen outside."""

import os
import subprocess
from pathlib import Path

from hack.testbed import net
from hack.testbed.errors import TestbedError

# Paths that containerd, CNI and the kubelet use whatever their options say.
PRIVATE_FOLDERS = ("/run", "/var/log", "/var/lib/cni", "/var/lib/kubelet")

# The kubelet sets these machine-wide. It finds the wanted values in private files instead, and writes only there.
_SYSCTLS = {
    "vm/overcommit_memory": "1",
    "vm/panic_on_oom": "0",
    "kernel/panic": "10",
    "kernel/panic_on_oops": "1",
    "kernel/keys/root_maxkeys": "1000000",
    "kernel/keys/root_maxbytes": "25000000",
}


def mount_private_folders() -> None:
    """Give the bed its own /run, /var/log, CNI and kubelet folders, its own resolver and private sysctl values."""
    resolver = Path(os.path.realpath("/etc/resolv.conf"))
    for folder in PRIVATE_FOLDERS:
        Path(folder).mkdir(parents=True, exist_ok=True)
        _run("mount", "-t", "tmpfs", "tmpfs", folder)
    for folder in ("/run/netns", "/run/bed/sysctl"):
        Path(folder).mkdir(parents=True)
    for key, value in _SYSCTLS.items():
        _bind(Path("/run/bed/sysctl") / key.replace("/", "."), Path("/proc/sys") / key, f"{value}\n")
    _bind(Path("/run/bed/resolv.conf"), resolver, f"nameserver {net.GATEWAY}\n")


def make_network() -> None:
    """Bring up loopback and the pods' bridge, with a route by which service addresses reach kube-proxy's rules."""
    commands = (
        "link set lo up",
        f"link add {net.BRIDGE} type bridge",
        f"addr add {net.GATEWAY}/16 dev {net.BRIDGE}",
        f"link set {net.BRIDGE} up",
        f"route replace {net.SERVICE_CIDR} dev {net.BRIDGE}",
    )
    _run("ip", "-batch", "-", text="\n".join(commands) + "\n")


def _bind(source: Path, target: Path, content: str) -> None:
    source.write_text(content)
    if not target.exists():
        if not target.is_relative_to("/run"):
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    _run("mount", "--bind", str(source), str(target))


def _run(*command: str, text: str | None = None) -> None:
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise TestbedError(f"{' '.join(command)} failed: {(done.stderr or done.stdout).strip()}")
