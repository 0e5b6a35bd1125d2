"""Layers with third-party Python packages, exactly as pinned, for the image's Python whatever runs this."""

import platform
import shutil
import subprocess
import sys
from pathlib import Path

from hack.images import base
from hack.images.store import Layer, key_of, layer
from hack.testbed.errors import TestbedError
from hack.testbed.progress import step

SITE = f"usr/local/lib/python{base.PYTHON}/dist-packages"
_MANYLINUX = ("2014", "_2_17", "_2_24", "_2_26", "_2_27", "_2_28", "_2_31", "_2_34", "_2_35", "_2_36")
# Never imported at run time by anything here.
_UNUSED = ("**/tests", "**/test", "bin", "**/*.pyi", "**/*.pyx", "**/*.pxd", "**/*.c", "**/*.h")
# Loaded one by one on first use, and only a few ever are: no bytecode for all of them.
_NOT_COMPILED = r"/(kubernetes/(aio/)?client/(models|api)|pygments/lexers)/"
# Generated, and three quarters docstrings: these are there as optimised bytecode alone.
_WITHOUT_SOURCE = ("kubernetes/client/api", "kubernetes/aio/client/api")


def third_party(kind: str, requirements: Path, python: Layer) -> Layer:
    """Return the layer with the packages of a requirements file (pinned, with hashes)."""
    key = key_of(Path(__file__).read_bytes(), requirements.read_bytes(), python.digest)

    def fill(root: Path) -> None:
        with step(f"{kind} image: packages of {requirements.name}"):
            _install(requirements, root / SITE)
            _trim(root / SITE)
            with base.interpreter(python) as command:
                base.compile_bytecode(command, root, SITE, exclude=_NOT_COMPILED)
                for folder in filter(lambda name: (root / SITE / name).exists(), _WITHOUT_SOURCE):
                    base.replace_by_bytecode(command, root, f"{SITE}/{folder}")

    return layer(f"{kind}-packages", key, fill)


def _install(requirements: Path, target: Path) -> None:
    machine = platform.machine()
    platforms = [f"--platform=manylinux{version}_{machine}" for version in _MANYLINUX]
    exactly = ["--require-hashes", "--no-deps", "--only-binary=:all:", "--no-compile", "--implementation=cp"]
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *exactly, *platforms]
    command += [f"--python-version={base.PYTHON}", "--target", str(target), "-r", str(requirements)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise TestbedError(f"installing the packages of {requirements.name} failed:\n{done.stderr[-1500:]}")


def _trim(site: Path) -> None:
    for pattern in _UNUSED:
        for path in sorted(site.glob(pattern)):
            if path.is_dir():
                shutil.rmtree(path)
            elif path.exists():
                path.unlink()
    for record in site.glob("*.dist-info/RECORD"):
        record.unlink()
