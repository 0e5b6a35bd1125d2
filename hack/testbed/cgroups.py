"""The bed's own cgroup: made in every hierarchy before the kubelet starts, removed after the last process has gone."""

import time
from pathlib import Path

from hack.testbed.errors import TestbedError


def hierarchies() -> list[Path]:
    """Return the mount points of all cgroup hierarchies: one with cgroup v2 alone, one per controller with v1."""
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    return sorted({Path(fields[1]) for fields in mounts if fields[2] in ("cgroup", "cgroup2")})


def make(name: str) -> None:
    """Make the cgroup `name` in every hierarchy; one that is there already stays."""
    for hierarchy in hierarchies():
        folder = hierarchy / name
        folder.mkdir(exist_ok=True)
        for limit in ("cpuset.cpus", "cpuset.mems"):
            if (hierarchy / limit).exists() and (folder / limit).exists():
                (folder / limit).write_text((hierarchy / limit).read_text())


def remove(name: str, timeout: float = 10) -> None:
    """Remove the cgroup `name` and all below it; waits for processes that are on their way out."""
    deadline = time.monotonic() + timeout
    folders = [hierarchy / name for hierarchy in hierarchies()]
    while remaining := [folder for folder in folders if not _removed(folder)]:
        if time.monotonic() > deadline:
            raise TestbedError(f"cgroup {remaining[0]} cannot be removed: processes still run in it")
        time.sleep(0.05)


def _removed(folder: Path) -> bool:
    if not folder.exists():
        return True
    below = [path for path in folder.rglob("*") if path.is_dir()]
    try:
        for path in [*sorted(below, key=lambda path: len(path.parts), reverse=True), folder]:
            path.rmdir()
    except OSError:
        return False
    return True
