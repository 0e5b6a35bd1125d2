"""Where things lie: the cache (binaries, images) and one folder for each bed."""

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

from hack.testbed.errors import TestbedError

REPOSITORY = Path(__file__).resolve().parents[2]
MODULES = Path(__file__).resolve().parent / "modules"


def cache_root() -> Path:
    """Return the cache folder: $SPECDEC_CACHE, else specdec-operator in the user's cache folder. Made when missing."""
    own = os.environ.get("SPECDEC_CACHE")
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    root = Path(own) if own else home / "specdec-operator"
    root.mkdir(parents=True, exist_ok=True)
    return root.resolve()


@dataclass(frozen=True, slots=True)
class BedPaths:
    """Files of one bed. `lock` is held for as long as the bed lives; everything else is below `root`."""

    name: str
    root: Path

    @property
    def lock(self) -> Path:
        """Locked by the bed's first process."""
        return self.root.with_name(f"{self.name}.lock")

    @property
    def logs(self) -> Path:
        """One log per component; kept after the bed has gone, until the next start under this name."""
        return self.root / "log"

    @property
    def data(self) -> Path:
        """Everything that goes with the bed: etcd, containerd, kubelet, Prometheus."""
        return self.root / "data"

    @property
    def pki(self) -> Path:
        """Keys and certificates."""
        return self.data / "pki"

    @property
    def bin(self) -> Path:
        """Symbolic links to the binaries in use; goes on PATH."""
        return self.data / "bin"

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self.data / "admin.kubeconfig"

    @property
    def description(self) -> Path:
        """JSON that describes the running bed; SPECDEC_TESTBED points here."""
        return self.root / "bed.json"

    @property
    def control(self) -> Path:
        """Socket of the bed's first process; it takes commands from inside and outside of the namespaces."""
        return self.root / "control.sock"

    @property
    def cgroup(self) -> str:
        """Name of the bed's own cgroup, unique on this machine also among different cache folders."""
        digest = hashlib.sha256(str(self.root).encode()).hexdigest()[:8]
        return f"specdec-testbed-{self.name}-{digest}"


def bed_paths(name: str) -> BedPaths:
    """Return the paths of the bed called `name` (lower-case letters, digits and dashes, at most 40 characters)."""
    if not re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?", name):
        raise TestbedError(f"--name {name!r}: use lower-case letters, digits and dashes, at most 40 characters")
    return BedPaths(name, run_root() / name)


def run_root() -> Path:
    """Return the folder that holds all beds."""
    root = cache_root() / "run"
    root.mkdir(parents=True, exist_ok=True)
    return root
