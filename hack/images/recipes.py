"""The four images, from the layers they are made of."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from hack.images import archive, base, packages, store
from hack.images.archive import Image
from hack.testbed.locks import locked
from hack.testbed.paths import REPOSITORY
from hack.testbed.progress import console, step

_ABOUT = REPOSITORY / "operator" / "specdec_operator" / "__about__.py"
_ENV = {"PYTHONUNBUFFERED": "1"}
_SCRIPT = """#!/usr/bin/python3
import sys

from {module} import {function}

sys.exit({function}())
"""


@dataclass(frozen=True, slots=True)
class _Program:
    """A package of this repository, its pinned requirements and its commands on PATH: name -> "module:function"."""

    name: str
    package: Path
    requirements: Path
    commands: dict[str, str]


_OPERATOR = _Program(
    "specdec-operator",
    REPOSITORY / "operator" / "specdec_operator",
    REPOSITORY / "requirements" / "runtime.txt",
    {"specdec": "specdec_operator.cli.main:run"},
)
_SIMULATOR = _Program(
    "vllm-simulator",
    REPOSITORY / "simulator" / "vllm_simulator",
    REPOSITORY / "requirements" / "simulator.txt",
    {"vllm": "vllm_simulator.__main__:main"},
)


def version() -> str:
    """Return the one version number of the repository."""
    scope: dict[str, str] = {}
    exec(_ABOUT.read_text(), scope)  # noqa: S102 - our own file
    return scope["__version__"]


def build_all() -> tuple[Path, list[Image]]:
    """Build what has changed; returns one archive that holds all images, and the images."""
    with locked(store.folder() / "build.lock", _say_waiting):
        store.prune()
        images = _images()
        with step("images", quiet=True):
            return archive.write(images, base.architecture()), images


def _images() -> list[Image]:
    python = base.python()
    return [
        Image("bed.local/pause:1", [base.pause()], entrypoint=["/pause"]),
        Image(f"bed.local/python:{base.PYTHON}", [python], env=_ENV),
        Image(
            f"specdec.dev/{_OPERATOR.name}:{version()}",
            [python, *_layers(_OPERATOR, python)],
            entrypoint=["python3", "-m", "specdec_operator"],
            user=f"{base.NON_ROOT}:{base.NON_ROOT}",
            env=_ENV,
        ),
        Image(
            f"specdec.dev/{_SIMULATOR.name}:{version()}",
            [python, *_layers(_SIMULATOR, python)],
            entrypoint=["vllm", "serve"],
            env=_ENV,
        ),
    ]


def _layers(program: _Program, python: store.Layer) -> list[store.Layer]:
    return [packages.third_party(program.name, program.requirements, python), _code(program, python)]


def _code(program: _Program, python: store.Layer) -> store.Layer:
    """Return the layer with our own code: small, so that a change is in the image a second later."""
    files = store.files_below(program.package)
    contents = [part for path in files for part in (str(path.relative_to(program.package)), path.read_bytes())]

    def fill(root: Path) -> None:
        site = root / packages.SITE / program.package.name
        shutil.copytree(program.package, site, ignore=shutil.ignore_patterns("__pycache__"))
        for name, target in program.commands.items():
            _command(root / "usr/local/bin" / name, *target.split(":"))
        with base.interpreter(python) as command:
            base.compile_bytecode(command, root, packages.SITE)

    key = store.key_of(Path(__file__).read_bytes(), python.digest, *contents)
    with step(f"{program.name} image", quiet=True):
        return store.layer(f"{program.name}-code", key, fill)


def _command(path: Path, module: str, function: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_SCRIPT.format(module=module, function=function))
    path.chmod(0o755)


def _say_waiting() -> None:
    console.print("[dim]…[/] another build of the images runs: waiting for it")
