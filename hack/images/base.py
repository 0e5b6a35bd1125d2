"""The layers everything stands on: pause, and Python 3.11 from Debian's packages."""

import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from hack.images.store import Layer, key_of, layer
from hack.testbed.errors import TestbedError
from hack.testbed.host import apt
from hack.testbed.progress import step

PYTHON = "3.11"
NON_ROOT = 65532
_PAUSE = Path(__file__).with_name("pause.c")
_LIBRARIES = (
    *("libc6", "libcrypt1", "libgcc-s1", "zlib1g", "libexpat1", "libssl3", "libbz2-1.0", "liblzma5", "libffi8"),
    *("libuuid1", "libsqlite3-0", "libreadline8", "libtinfo6", "libncursesw6", "libdb5.3", "libtirpc3", "libnsl2"),
    *("libgssapi-krb5-2", "libkrb5-3", "libk5crypto3", "libkrb5support0", "libcom-err2", "libkeyutils1"),
)
_PYTHON = (
    *("python3.11-minimal", "libpython3.11-minimal", "libpython3.11-stdlib", "python3.11"),
    *("media-types", "netbase", "tzdata"),
)
# What a real vLLM needs when its installation is mounted into a pod of this image (lscpu, C++ and NUMA libraries).
_FOR_VLLM = ["util-linux", "libsmartcols1", "libstdc++6", "libgomp1", "libnuma1", "libpng16-16", "procps", "libproc2-0"]
_PACKAGES = ("base-files", "ca-certificates", "busybox-static", *_LIBRARIES, *_PYTHON, *_FOR_VLLM)
_TOOLS = ["sh", "ls", "cat", "sleep", "env", "id", "wget", "ps", "kill", "mkdir", "date", "hostname"]
_ACCOUNTS = {
    "root": (0, "/root", "/bin/sh"),
    "nonroot": (NON_ROOT, "/", "/bin/false"),
    "nobody": (65534, "/", "/bin/false"),
}
_UNUSED = (
    *(f"share/{name}" for name in ("doc", "man", "locale", "info", "lintian", "zoneinfo/right", "zoneinfo/posix")),
    *(f"lib/python{PYTHON}/{name}" for name in ("lib2to3", "pydoc_data", "test", "ensurepip", "idlelib")),
    f"lib/{platform.machine()}-linux-gnu/gconv",
)
_NOT_COMPILED = r"/(idlelib|turtledemo|test|tests|tkinter|ensurepip|distutils)/"


def pause() -> Layer:
    """Return the layer with the static /pause."""

    def fill(root: Path) -> None:
        _run(["gcc", "-Os", "-static", "-s", "-o", str(root / "pause"), str(_PAUSE)])

    return layer("pause", key_of(_PAUSE.read_bytes(), platform.machine()), fill)


def python() -> Layer:
    """Return the layer with Debian's Python, a shell from busybox and the libraries that wheels expect."""
    release = Path("/etc/os-release").read_text() if Path("/etc/os-release").exists() else ""
    key = key_of(Path(__file__).read_bytes(), release, platform.machine())
    return layer("python", key, _fill_python)


@contextmanager
def interpreter(python_layer: Layer) -> Iterator[list[str]]:
    """Yield a command that runs the images' Python version here: this Python when it fits, else that of the layer."""
    if f"{sys.version_info[0]}.{sys.version_info[1]}" == PYTHON:
        yield [sys.executable]
        return
    with tempfile.TemporaryDirectory(prefix="python-") as scratch:
        _run(["tar", "-x", "-C", scratch, "-f", str(python_layer.path)])
        yield _own_python(Path(scratch))


def compile_bytecode(python: Sequence[str], root: Path, where: str, exclude: str = _NOT_COMPILED) -> None:
    """Compile the modules below root/where: a container with a read-only root cannot do it."""
    options = ["-m", "compileall", "-q", "-x", exclude, "--invalidation-mode", "unchecked-hash"]
    _run([*python, *options, "-s", str(root), "-p", "/", str(root / where)])


def replace_by_bytecode(python: Sequence[str], root: Path, where: str) -> None:
    """Put bytecode without docstrings in the place of the modules below root/where."""
    folder = root / where
    _run([*python, "-m", "compileall", "-q", "-b", "-o", "2", "-s", str(root), "-p", "/", str(folder)])
    for source in folder.rglob("*.py"):
        source.unlink()


def _own_python(root: Path) -> list[str]:
    libraries = root / "usr" / "lib" / f"{platform.machine()}-linux-gnu"
    loader = next(iter(sorted(libraries.glob("ld-linux-*.so.*"))))
    home = f"PYTHONHOME={root / 'usr'}"
    return ["env", home, str(loader), "--library-path", str(libraries), str(root / "usr" / "bin" / f"python{PYTHON}")]


@cache
def architecture() -> str:
    """Return the machine's architecture as images name it."""
    return {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())


def _fill_python(root: Path) -> None:
    for name in ("bin", "sbin", "lib", "lib64"):
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")
    with tempfile.TemporaryDirectory(prefix="debs-") as scratch, step("base image: Debian's Python packages"):
        _download(Path(scratch))
        for package in sorted(Path(scratch).glob("*.deb")):
            script = 'dpkg-deb --fsys-tarfile "$0" | tar -x -C "$1" --keep-directory-symlink'
            _run(["sh", "-ec", script, str(package), str(root)])
    _trim_and_furnish(root)
    compile_bytecode(_own_python(root), root, f"usr/lib/python{PYTHON}")


def _download(folder: Path) -> None:
    folder.chmod(0o755)  # apt downloads as a user of its own
    error = apt(["apt-get", "download", "-q", *_PACKAGES], folder)
    if error:
        raise TestbedError(
            "the base image is made from packages of Debian 12 (bookworm): run `apt-get update` and try again, or give"
            f" your own images with --image\n{error}"
        )


def _trim_and_furnish(root: Path) -> None:
    for name in ("python3", "python"):
        (root / "usr" / "bin" / name).symlink_to(f"python{PYTHON}")
    for tool in _TOOLS:
        if not (root / "usr" / "bin" / tool).exists():
            (root / "usr" / "bin" / tool).symlink_to("busybox")
    for unused in _UNUSED:
        shutil.rmtree(root / "usr" / unused, ignore_errors=True)
    for name in ("tmp", "proc", "sys", "dev", "run", "etc", "app"):
        (root / name).mkdir(exist_ok=True)
    (root / "tmp").chmod(0o1777)
    accounts = [f"{name}:x:{uid}:{uid}:{name}:{home}:{shell}" for name, (uid, home, shell) in _ACCOUNTS.items()]
    (root / "etc" / "passwd").write_text("\n".join(accounts) + "\n")
    groups = [f"{name}:x:{uid}:" for name, (uid, _, _) in _ACCOUNTS.items()]
    (root / "etc" / "group").write_text("\n".join(groups) + "\n")
    certificates = sorted((root / "usr" / "share" / "ca-certificates").rglob("*.crt"))
    bundle = root / "etc" / "ssl" / "certs" / "ca-certificates.crt"
    bundle.parent.mkdir(parents=True, exist_ok=True)
    bundle.write_text("".join(path.read_text() for path in certificates))


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(list(command), capture_output=True, text=True, check=False)
    if done.returncode:
        raise TestbedError(f"{' '.join(command[:6])} ... failed:\n{(done.stderr or done.stdout)[-1500:]}")
