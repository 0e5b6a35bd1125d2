"""The command line of the test bed."""

import os
import signal
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from hack.images.recipes import build_all
from hack.testbed import beds, binaries, control, enter
from hack.testbed.beds import Bed
from hack.testbed.errors import TestbedError
from hack.testbed.locks import wait_lock
from hack.testbed.paths import BedPaths, bed_paths
from hack.testbed.plan import Plan
from hack.testbed.progress import console

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None, help=__doc__)

Name = Annotated[str, typer.Option(help="Which bed; beds of different names run side by side.")]
Command = Annotated[list[str], typer.Argument(help="The command to run, after --.")]
ControlPlane = Annotated[bool, typer.Option("--control-plane", help="No node and no Prometheus; up in 5 s.")]
Accelerators = Annotated[int, typer.Option(help="How many nvidia.com/gpu the node claims to have.", min=0)]
Images = Annotated[list[Path] | None, typer.Option("--image", help="Also load this OCI archive; repeatable.")]
Scrape = Annotated[float, typer.Option(help="Prometheus' scrape interval in seconds.", min=0.1)]


@app.command()
def build(*, control_plane: ControlPlane = False) -> None:
    """Make every binary ready: found on this machine, installed, or built once into the cache."""
    for name, path in sorted(binaries.ready(control_plane=control_plane).items()):
        typer.echo(f"{name} {path}")


@app.command()
def up(
    *,
    name: Name = "default",
    control_plane: ControlPlane = False,
    accelerators: Accelerators = 0,
    image: Images = None,
    scrape_interval: Scrape = 2.0,
) -> None:
    """Bring up a bed that stays until `down`."""
    if beds.read(name):
        console.print(f"test bed {name} is up already")
        return
    paths, lock = _claim(name)
    plan = _plan(paths, control_plane, accelerators, image, scrape_interval)
    bed = beds.start(plan, lock)
    console.print(f"[dim]use it:[/] python -m hack.testbed exec --name {bed.name} -- kubectl get nodes")


@app.command()
def run(  # noqa: PLR0913 - one parameter for each option
    command: Command,
    *,
    name: Annotated[
        str | None, typer.Option(help="Name of the bed; default: the first free of run-1, run-2, ...")
    ] = None,
    control_plane: ControlPlane = False,
    accelerators: Accelerators = 0,
    image: Images = None,
    scrape_interval: Scrape = 2.0,
) -> None:
    """Bring up a bed, run a command in it, take it down; the exit status is the command's."""
    paths, lock = _claim(name)
    plan = _plan(paths, control_plane, accelerators, image, scrape_interval)
    lifeline, other_end = os.pipe()
    # The lock is kept to the end, so that no other command takes the name while this one cleans up.
    bed = beds.start(plan, lock, lifeline=lifeline)
    try:
        os.close(lifeline)
        status = enter.run(bed, command)
    finally:
        os.close(other_end)
        beds.end(paths)
        beds.clean(paths)
    raise typer.Exit(status)


@app.command()
def down(*, name: Name = "default") -> None:
    """Take a bed down and remove everything it left, also after a crash."""
    _require_root()
    console.print(f"test bed {name} {'is down' if beds.stop(name) else 'was not up'}")


@app.command("exec")
def execute(command: Command, *, name: Name = "default") -> None:
    """Run a command inside a bed."""
    _require_root()
    raise typer.Exit(enter.run(_running(name), command))


@app.command()
def status() -> None:
    """List the beds and the state of their components."""
    for name in beds.names():
        bed = beds.read(name)
        if bed is None:
            continue
        components = control.request(Path(bed.control), do="status")["components"]
        typer.echo(f"{name}: {', '.join(f'{component} {state}' for component, state in components.items())}")


Action = Annotated[str, typer.Argument(help="stop, start, pause (SIGSTOP) or resume.")]


@app.command()
def prometheus(action: Action, *, name: Name = "") -> None:
    """Stop or start Prometheus; its data stays."""
    _control("prometheus", action, name)


@app.command()
def apiserver(action: Action, *, name: Name = "") -> None:
    """Stop or start, pause or resume the API server."""
    _control("kube-apiserver", action, name)


@app.command()
def component(
    component: Annotated[str, typer.Argument(help="As `status` names it.")], action: Action, *, name: Name = ""
) -> None:
    """Stop or start, pause or resume any component."""
    _control(component, action, name)


def main() -> None:
    """Run the command line; an expected error is one message and exit status 1."""
    signal.signal(signal.SIGTERM, _end)  # as an exception, so that what was begun is cleaned up
    try:
        app()
    except TestbedError as error:
        console.print(f"[red]error:[/] {error}", markup=True)
        raise SystemExit(1) from None


def _require_root() -> None:
    if os.geteuid() != 0:
        raise TestbedError(
            "a test bed needs root (namespaces, mounts, cgroups): use sudo, or set KUBECONFIG to a cluster"
        )


def _end(number: int, frame: FrameType | None) -> None:
    del frame
    raise SystemExit(128 + number)


def _control(component: str, action: str, name: str) -> None:
    if action not in ("stop", "start", "pause", "resume"):
        raise TestbedError(f"action {action!r}: use stop, start, pause or resume")
    path = bed_paths(name).control if name else _current()
    control.request(path, do=action, component=component)


def _current() -> Path:
    """Return the control socket of the bed this process runs in, else of the bed called default."""
    description = os.environ.get("SPECDEC_TESTBED")
    return Path(description).parent / "control.sock" if description else bed_paths("default").control


def _running(name: str) -> Bed:
    bed = beds.read(name)
    if bed is None:
        raise TestbedError(f"test bed {name!r} is not up: python -m hack.testbed up --name {name}")
    return bed


def _claim(name: str | None) -> tuple[BedPaths, int]:
    """Return a bed's paths and its lock: of the given name, or of the first free name."""
    if name and beds.read(name):
        raise TestbedError(f"test bed {name} is up already: `exec` uses it, `down` ends it")
    for candidate in [name] if name else [f"run-{number}" for number in range(1, 100)]:
        paths = bed_paths(candidate)
        # Whoever cleans up after a bed holds its lock for a moment.
        lock = wait_lock(paths.lock, 20 if name else 0)
        if lock is not None:
            return paths, lock
    raise TestbedError(f"test bed {name or 'run-*'} is being started or taken down by another command: try again")


def _images(more: list[Path]) -> tuple[str, ...]:
    """Return the archives to load: the local images, built where something changed, and the ones asked for."""
    for path in more:
        if not path.is_file():
            raise TestbedError(f"--image {path}: no such file; give an OCI archive")
    local, _ = build_all()
    return (str(local), *(str(path.resolve()) for path in more))


def _plan(paths: BedPaths, control_plane: bool, accelerators: int, image: list[Path] | None, scrape: float) -> Plan:  # noqa: FBT001
    _require_root()
    beds.sweep()
    return Plan(
        name=paths.name,
        root=str(paths.root),
        binaries=binaries.ready(control_plane=control_plane),
        images=() if control_plane else _images(image or []),
        control_plane=control_plane,
        accelerators=accelerators,
        scrape_interval=scrape,
    )
