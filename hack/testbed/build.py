"""Builds missing binaries from Go modules into the cache: once per version, safe against interruption and company."""

import hashlib
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from hack.testbed import golang
from hack.testbed.catalog import Module
from hack.testbed.errors import TestbedError
from hack.testbed.locks import locked
from hack.testbed.paths import MODULES, cache_root
from hack.testbed.progress import console, step


def build_folder(module: Module) -> Path:
    """Return the cache folder for what this module gives; its name changes with the version and the sources."""
    digest = hashlib.sha256(f"{module.linker_flags}\0{module.tags}".encode())
    for source in sorted(path for path in (MODULES / module.folder).rglob("*") if path.is_file()):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return cache_root() / "bin" / f"{module.label}-{digest.hexdigest()[:12]}"


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
        step(f"building {', '.join(names)} (once; minutes when Go's caches are empty)") as progress,
    ):
        source, output = Path(scratch) / "source", Path(scratch) / "bin"
        shutil.copytree(MODULES / module.folder, source)
        output.mkdir()
        command = _command(go, module, names, output)
        _run(command, source, lambda: progress.update(f"{len(list(output.iterdir()))} of {len(names)} linked"))
        for name in names:
            (output / name).rename(folder / name)


def _command(go: Path, module: Module, names: list[str], output: Path) -> list[str]:
    flags = ["-trimpath", "-tags", module.tags, "-ldflags", f"-s -w {module.linker_flags}".strip()]
    # A folder as target names each binary after its package, which does not fit etcd's.
    target = output / names[0] if len(names) == 1 else output
    packages = [module.packages[name] for name in names]
    return [str(go), "build", *flags, "-o", str(target), *packages]


def _run(command: list[str], source: Path, watch: Callable[[], None]) -> None:
    """Run a build to its end, calling `watch` now and then; no process is left behind when this is interrupted."""
    with tempfile.TemporaryFile("w+") as messages:
        process = subprocess.Popen(command, cwd=source, env=golang.environment(), stdout=messages, stderr=messages)
        try:
            while process.poll() is None:
                watch()
                time.sleep(0.5)
        finally:
            process.kill()
            process.wait()
        messages.seek(0)
        if process.returncode:
            raise TestbedError(f"`{' '.join(command)}` failed:\n{messages.read()[-2000:]}")
