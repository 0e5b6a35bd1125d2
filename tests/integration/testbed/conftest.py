"""The test bed tested on itself: beds of its own, which run beside or inside the one the session may run in."""

import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hack.testbed import beds
from hack.testbed.beds import Bed
from hack.testbed.cgroups import hierarchies
from hack.testbed.paths import BedPaths, bed_paths

ROOT = Path(__file__).parents[3]
SYSCTLS = ("vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops")


@pytest.fixture(scope="session", autouse=True)
def _root() -> None:
    if os.geteuid() != 0:
        pytest.skip("a test bed needs root")


def start_command(*arguments: str) -> subprocess.Popen[str]:
    """Start `python -m hack.testbed` in the repository."""
    command = [sys.executable, "-m", "hack.testbed", *arguments]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finished(process: subprocess.Popen[str], status: int = 0) -> str:
    """Wait for a command to end with this exit status and return what it printed."""
    out, errors = process.communicate(timeout=240)
    assert process.returncode == status, f"exit status {process.returncode}\n{out}\n{errors}"
    return out


def bed_command(*arguments: str, status: int = 0) -> str:
    """Run `python -m hack.testbed` to its end and return what it printed."""
    return finished(start_command(*arguments), status)


def running(name: str) -> Bed:
    """Return the description of a bed that must be up."""
    bed = beds.read(name)
    assert bed is not None, f"test bed {name} is not up"
    return bed


@dataclass(frozen=True, slots=True)
class Machine:
    """What a bed could leave on this machine, apart from its own folder."""

    links: frozenset[str]
    nft_tables: frozenset[str]
    mounts: frozenset[str]
    sysctls: tuple[str, ...]

    @classmethod
    def look(cls) -> "Machine":
        """Look at the machine now."""
        return cls(
            links=frozenset(path.name for path in Path("/sys/class/net").iterdir()),
            nft_tables=frozenset(_output("nft", "list", "tables").splitlines()),
            mounts=frozenset(line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()),
            sysctls=tuple(Path("/proc/sys", key).read_text() for key in SYSCTLS),
        )

    def assert_nothing_new(self) -> None:
        """Fail when there is more now than when this was seen."""
        now = Machine.look()
        assert not now.links - self.links
        assert not now.nft_tables - self.nft_tables
        assert not now.mounts - self.mounts
        assert now.sysctls == self.sysctls


def processes_of(paths: BedPaths) -> list[str]:
    """Return the command lines of processes that name the bed's folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if f"{paths.root}/" in line:
            found.append(line)
    return found


def cgroups_of(paths: BedPaths) -> list[Path]:
    """Return the bed's folders in all cgroup hierarchies."""
    return [folder for hierarchy in hierarchies() if (folder := hierarchy / paths.cgroup).exists()]


def assert_gone(name: str) -> None:
    """Fail when anything is left of a bed but its logs and its lock file."""
    paths = bed_paths(name)
    assert processes_of(paths) == []
    assert cgroups_of(paths) == []
    assert sorted(path.name for path in paths.root.iterdir()) in ([], ["log"])


@pytest.fixture(name="new_name")
def _new_name() -> Iterator[Callable[[], str]]:
    """Return a function that gives names for beds; whatever the test leaves of them is taken down."""
    names: list[str] = []

    def new_name() -> str:
        names.append(f"test-{uuid.uuid4().hex[:8]}")
        return names[-1]

    yield new_name
    for name in names:
        forget(name)


def forget(name: str) -> None:
    """Take a bed down and remove also its logs."""
    beds.stop(name)
    shutil.rmtree(bed_paths(name).root)
    bed_paths(name).lock.unlink()


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout
