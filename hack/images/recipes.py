"""The four images, from the layers they are made of."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from hack.images import archive, base, packages, store
from hack.testbed.locks import locked
from hack.testbed.paths import REPOSITORY
from hack.testbed.progress import console, step

_ABOUT = REPOSITORY / "operator" / "specdec_operator" / "__about__.py"
_SCRIPT = """#!/usr/bin/python3
import sys

from {module} import {function}

sys.exit({function}())
"""


@dataclass(frozen=True, slots=True)
class Image:
    """A built image: its reference, its archive, the bytes of its layers."""

    reference: str
    path: Path
    size: int


@dataclass(frozen=True, slots=True)
class _Program:
    """A package of this repository and the commands that go on PATH: name -> "module:function"."""

    kind: str
    package: Path
    requirements: str
    commands: dict[str, str]
    settings: archive.Settings


def version() -> str:
    """Return the one version number of the repository."""
    scope: dict[str, str] = {}
    exec(_ABOUT.read_text(), scope)  # noqa: S102 - our own file
    return scope["__version__"]


def build_all() -> list[Image]:
    """Build what has changed; returns all images."""
    with locked(store.folder() / "build.lock", _say_waiting):
        store.prune()
        python = base.python()
        return [
            _image("pause", "bed.local/pause:1", [base.pause()], archive.Settings(entrypoint=["/pause"])),
            _image("python", f"bed.local/python:{base.PYTHON}", [python], archive.Settings(env=_ENV)),
            *(_program(program, python) for program in _programs()),
        ]


_ENV = {"PYTHONUNBUFFERED": "1"}


def _programs() -> tuple[_Program, ...]:
    user = f"{base.NON_ROOT}:{base.NON_ROOT}"
    operator = archive.Settings(entrypoint=["python3", "-m", "specdec_operator"], user=user, env=_ENV)
    simulator = archive.Settings(entrypoint=["vllm", "serve"], env=_ENV)
    command = {"specdec": "specdec_operator.cli.main:run"}
    engine = {"vllm": "vllm_simulator.__main__:main"}
    return (
        _Program("specdec-operator", REPOSITORY / "operator/specdec_operator", "runtime.txt", command, operator),
        _Program("vllm-simulator", REPOSITORY / "simulator/vllm_simulator", "simulator.txt", engine, simulator),
    )


def _program(program: _Program, python: store.Layer) -> Image:
    requirements = REPOSITORY / "requirements" / program.requirements
    layers = [python, packages.third_party(program.kind, requirements, python), _code(program, python)]
    return _image(program.kind, f"specdec.dev/{program.kind}:{version()}", layers, program.settings)


def _code(program: _Program, python: store.Layer) -> store.Layer:
    files = store.files_below(program.package)
    contents = [part for path in files for part in (str(path.relative_to(program.package)), path.read_bytes())]

    def fill(root: Path) -> None:
        site = root / packages.SITE / program.package.name
        shutil.copytree(program.package, site, ignore=shutil.ignore_patterns("__pycache__"))
        for name, target in program.commands.items():
            _command(root / "usr/local/bin" / name, *target.split(":"))
        with base.interpreter(python) as command:
            base.compile_bytecode(command, root, packages.SITE)

    with step(f"{program.kind} image", quiet=True):
        return store.layer(f"{program.kind}-code", store.key_of(Path(__file__).read_bytes(), *contents), fill)


def _command(path: Path, module: str, function: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_SCRIPT.format(module=module, function=function))
    path.chmod(0o755)


def _image(name: str, reference: str, layers: list[store.Layer], settings: archive.Settings) -> Image:
    return Image(reference, archive.write(name, reference, layers, settings), store.total(layers))


def _say_waiting() -> None:
    console.print("[dim]…[/] another build of the images runs: waiting for it")
