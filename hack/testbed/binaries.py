"""Finds or builds every binary of a bed."""

import os
import shutil
import subprocess
from pathlib import Path

from hack.testbed import catalog, host
from hack.testbed.build import build, build_folder

_CONTROL_PLANE = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "helm")


def ready(*, control_plane: bool = False) -> dict[str, str]:
    """Return the path of every binary by name, built or installed first where missing.

    Args:
        control_plane: only what the control plane needs.
    """
    tools = host.CONTROL_PLANE_TOOLS if control_plane else {**host.CONTROL_PLANE_TOOLS, **host.NODE_TOOLS}
    return {**host.ensure(tools), **_go_binaries(control_plane=control_plane)}


def _go_binaries(*, control_plane: bool) -> dict[str, str]:
    found: dict[str, str] = {}
    for module in catalog.MODULES:
        names = [name for name in module.packages if not control_plane or name in _CONTROL_PLANE]
        folder = build_folder(module)
        outside = {name: path for name in names if (path := _suitable(name)) is not None}
        build_here = [name for name in names if name not in outside]
        if any(not (folder / name).exists() for name in build_here):
            build(module, build_here)
        found |= {name: str(folder / name) for name in build_here} | outside
    return found


def _suitable(name: str) -> str | None:
    """Return the path of a binary of this machine whose version suits; None when there is none."""
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    if name == "prometheus":
        return None  # distributions leave out its discovery of pods through the API server
    for candidate in (str(Path(assets) / name) if assets else None, shutil.which(name)):
        if candidate and Path(candidate).exists() and catalog.suits(name, _version(candidate, name)):
            return candidate
    return None


def _version(path: str, name: str) -> str:
    command = (path, *catalog.version_command(name))
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr
