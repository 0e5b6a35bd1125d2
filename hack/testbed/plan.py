"""What a bed is asked to be, handed from the command to the bed's first process as JSON."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hack.testbed.paths import BedPaths


@dataclass(frozen=True, slots=True)
class Plan:
    """One bed to bring up.

    Attributes:
        name, root: identify the bed (see BedPaths).
        binaries: path of each binary by name.
        images: OCI archives to load.
        control_plane: etcd, API server, controller-manager and scheduler only: no node, no pods.
        accelerators: how many `nvidia.com/gpu` the node claims to have.
        scrape_interval: Prometheus' scrape interval in seconds.
    """

    name: str
    root: str
    binaries: dict[str, str]
    images: tuple[str, ...] = ()
    control_plane: bool = False
    accelerators: int = 0
    scrape_interval: float = 2.0

    @property
    def paths(self) -> BedPaths:
        """Return where this bed keeps its files."""
        return BedPaths(self.name, Path(self.root))

    def to_json(self) -> str:
        """Serialise."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Plan":
        """Read what to_json wrote."""
        fields: dict[str, Any] = json.loads(text)
        return cls(**{**fields, "images": tuple(fields["images"])})
