"""Builds missing binaries from Go modules into the cache: once per version, safe against interruption and company."""

import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

from hack.testbed import golang
from hack.testbed.catalog import Module
from hack.testbed.errors import TestbedError
from hack.testbed.locks import locked
from hack.testbed.paths import MODULES, cache_root
from hack.testbed.progress import console, step


def build_folder(module: Module) -> Path:
    """Return the cache folder for what this module gives; its name changes with the version and the sources."""
    digest = hashlib.sha256(module.linker_flags.encode())
    for source in sorted((MODULES / module.folder).iterdir()):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return cache_root() / "bin" / f"{module.folder}-{module.version}-{digest.hexdigest()[:12]}"


def build(module: Module, names: list[str]) -> None:
    """Build the named binaries of a module into its cache folder, unless another process just did."""
    folder = build_folder(module)
    with locked(cache_root() / "build.lock", _say_waiting):
        missing = [name for name in names if not (folder / name).exists()]
        if missing:
            _compile(module, missing, folder)


def _say_waiting() -> None:
    console.print("[dim]…[/] another build of the test bed runs: waiting for it")


def _compile(module: Module, names: list[str], folder: Path) -> None:
    go = golang.go_command()
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="specdec-build-", dir=folder.parent) as scratch,
        step(
            f"building {', '.join(names)} {module.version} (first time only, minutes with empty Go caches)"
        ) as progress,
    ):
        source, output = Path(scratch) / "source", Path(scratch) / "bin"
        shutil.copytree(MODULES / module.folder, source)
        for done, name in enumerate(names):
            progress.update(f"{name} ({done + 1} of {len(names)})")
            _go_build(go, source, module, name, output / name)
            (output / name).rename(folder / name)


def _go_build(go: Path, source: Path, module: Module, name: str, output: Path) -> None:
    flags = ["-trimpath", "-ldflags", f"-s -w {module.linker_flags}".strip()]
    command = [str(go), "build", *flags, "-o", str(output), module.packages[name]]
    done = subprocess.run(command, cwd=source, env=golang.environment(), capture_output=True, text=True, check=False)
    if done.returncode:
        raise TestbedError(f"building {name} failed:\n{done.stderr[-2000:]}")
