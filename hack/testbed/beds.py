"""Beds from the outside: start, find, end, and clean up what a crash has left."""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from hack.testbed import cgroups, control, net
from hack.testbed.errors import TestbedError
from hack.testbed.isolation import PRIVATE_FOLDERS
from hack.testbed.locks import try_lock, wait_lock
from hack.testbed.paths import REPOSITORY, BedPaths, bed_paths, cache_root, run_root
from hack.testbed.plan import Plan
from hack.testbed.progress import Step, console, step

_UNSHARE = ("unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child")


@dataclass(frozen=True, slots=True)
class Bed:
    """A running bed, as written to the file that SPECDEC_TESTBED names.

    `init_pid` is the bed's first process as seen from the process namespace `pid_namespace`; `init_started` is its
    start time in clock ticks after boot, by which a reused pid is told apart. `node` and `prometheus_url` are null
    in a bed that is a control plane only.
    """

    name: str
    init_pid: int
    init_started: str
    pid_namespace: str
    kubeconfig: str
    api_server: str
    node: str | None
    accelerators: int
    prometheus_url: str | None
    audit_log: str
    logs: str
    control: str
    bin: str
    kubectl: str
    helm: str
    images: tuple[str, ...]


def read(name: str) -> Bed | None:
    """Return the running bed called `name`; None when it is down."""
    paths = bed_paths(name)
    bed = _described(paths) if _is_locked(paths) else None
    if bed is None or bed.pid_namespace != _pid_namespace():
        return bed
    handle = _handle(bed)
    if handle is None:
        return None
    os.close(handle)
    return bed


def names() -> list[str]:
    """Return the names of all beds that were ever started here."""
    return sorted(path.stem for path in run_root().glob("*.lock"))


def start(plan: Plan, lock: int, *, lifeline: int = -1, quiet: bool = False) -> Bed:
    """Bring a bed up; `lock` is the descriptor that holds its lock, `lifeline` ends the bed when its other end closes.

    On failure everything is taken down again and TestbedError says what did not come up.
    """
    _check_cache()
    clean(plan.paths)
    _make_folders(plan)
    with step(f"test bed {plan.name}", quiet=quiet) as progress:
        reader, writer = os.pipe()
        process = _spawn(plan, lock, writer, lifeline)
        os.close(writer)
        try:
            _await_ready(plan, reader, progress)
            return _describe(plan, _child_of(process.pid))
        except BaseException:
            process.kill()
            process.wait()
            clean(plan.paths)
            raise
        finally:
            os.close(reader)
            process.returncode = 0  # it stays; whoever takes the bed down ends it


def stop(name: str) -> bool:
    """End the bed called `name` and clean up; also after a crash. Says whether it was up."""
    paths = bed_paths(name)
    paths.root.mkdir(parents=True, exist_ok=True)
    lock = try_lock(paths.lock)
    was_up = lock is None
    if lock is None:
        end(paths)
        lock = wait_lock(paths.lock, 30)
    if lock is None:
        raise TestbedError(f"test bed {name!r} does not end; its first process is in {paths.description}")
    clean(paths)
    os.close(lock)
    return was_up


def end(paths: BedPaths) -> None:
    """End a bed's processes: by its own first process, or by killing that when it does not answer within 10 s."""
    bed = _described(paths)
    handle = _handle(bed) if bed else None
    try:
        control.request(paths.control, timeout=10, do="shutdown")
    except (TestbedError, OSError):
        if handle is not None:
            signal.pidfd_send_signal(handle, signal.SIGKILL)
    if handle is not None:
        if not select.select([handle], [], [], 15)[0]:
            signal.pidfd_send_signal(handle, signal.SIGKILL)
            select.select([handle], [], [], 15)
        os.close(handle)


def sweep() -> None:
    """Clean up after every bed that is down but has left something."""
    for name in names():
        paths = bed_paths(name)
        lock = try_lock(paths.lock)
        if lock is None:
            continue
        try:
            if paths.data.exists():
                clean(paths)
        except TestbedError as error:
            console.print(f"[yellow]note:[/] test bed {name}, which is down, has left something: {error}")
        finally:
            os.close(lock)


def clean(paths: BedPaths) -> None:
    """Remove what a bed leaves: its cgroup and its data. The bed must be down and its lock held by the caller."""
    cgroups.remove(paths.cgroup)
    for path in (paths.control, paths.description):
        path.unlink(missing_ok=True)
    _refuse_mounts(paths.root)
    if paths.data.exists():
        shutil.rmtree(paths.data)


def _described(paths: BedPaths) -> Bed | None:
    if not paths.description.exists():
        return None
    fields = json.loads(paths.description.read_text())
    return Bed(**{**fields, "images": tuple(fields["images"])})


def _is_locked(paths: BedPaths) -> bool:
    lock = try_lock(paths.lock)
    if lock is None:
        return True
    os.close(lock)
    return False


def _handle(bed: Bed) -> int | None:
    """Return a descriptor of the bed's first process; None when it has ended or is out of sight from here."""
    if bed.pid_namespace != _pid_namespace():
        return None
    try:
        handle = os.pidfd_open(bed.init_pid)
    except ProcessLookupError:
        return None
    if _started(bed.init_pid) == bed.init_started:
        return handle
    os.close(handle)
    return None


def _make_folders(plan: Plan) -> None:
    paths = plan.paths
    shutil.rmtree(paths.logs, ignore_errors=True)
    for folder in (paths.logs, paths.data, paths.bin):
        folder.mkdir(parents=True, exist_ok=True)
    paths.root.chmod(0o700)
    for name, target in plan.binaries.items():
        (paths.bin / name).symlink_to(target)


def _spawn(plan: Plan, lock: int, progress: int, lifeline: int) -> subprocess.Popen[bytes]:
    plan_file = plan.paths.data / "plan.json"
    plan_file.write_text(plan.to_json())
    descriptors = [lock, progress] + ([lifeline] if lifeline >= 0 else [])
    command = (*_UNSHARE, sys.executable, "-m", "hack.testbed.init", str(plan_file))
    with (plan.paths.logs / "init.log").open("ab") as log:
        return subprocess.Popen(
            (*command, str(lock), str(progress), str(lifeline)),
            cwd=REPOSITORY,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=descriptors,
            start_new_session=True,
        )


def _await_ready(plan: Plan, reader: int, progress: Step) -> None:
    with os.fdopen(os.dup(reader)) as lines:
        for line in lines:
            message = json.loads(line)
            if "error" in message:
                raise TestbedError(f"test bed {plan.name}: {message['error']}")
            if message.get("ready"):
                return
            progress.update(f"waiting for {message['step']}")
    log = (plan.paths.logs / "init.log").read_text()[-2000:]
    raise TestbedError(f"test bed {plan.name}: its first process ended early\n{log}")


def _describe(plan: Plan, init_pid: int) -> Bed:
    paths = plan.paths
    node = not plan.control_plane
    bed = Bed(
        name=plan.name,
        init_pid=init_pid,
        init_started=_started(init_pid),
        pid_namespace=_pid_namespace(),
        kubeconfig=str(paths.kubeconfig),
        api_server=net.API_URL,
        node=net.NODE_NAME if node else None,
        accelerators=plan.accelerators,
        prometheus_url=net.PROMETHEUS_URL if node else None,
        audit_log=str(paths.logs / "audit.log"),
        logs=str(paths.logs),
        control=str(paths.control),
        bin=str(paths.bin),
        kubectl=plan.binaries["kubectl"],
        helm=plan.binaries["helm"],
        images=plan.images,
    )
    aside = paths.description.with_suffix(".part")
    aside.write_text(json.dumps(asdict(bed), indent=1))
    aside.rename(paths.description)
    return bed


def _child_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


def _started(pid: int) -> str:
    """Return when a process started, in clock ticks after boot; empty when it has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _pid_namespace() -> str:
    return str(Path("/proc/self/ns/pid").readlink())


def _check_cache() -> None:
    for folder in PRIVATE_FOLDERS:
        if cache_root().is_relative_to(folder):
            raise TestbedError(
                f"the cache {cache_root()} is below {folder}, which is private in a bed: set SPECDEC_CACHE"
            )


def _refuse_mounts(root: Path) -> None:
    """Never delete through a mount: it could lead to somebody's files."""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        mount = line.split()[4]
        if Path(mount).is_relative_to(root):
            raise TestbedError(f"{mount} is mounted inside {root}: unmount it (umount {mount}), then try again")
