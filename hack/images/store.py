"""Layers and archives in the cache, named by what they are made from: what has not changed is not built again."""

import hashlib
import os
import shutil
import tarfile
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hack.testbed.paths import cache_root

_UNUSED_DAYS = 14


@dataclass(frozen=True, slots=True)
class Layer:
    """One image layer: an uncompressed tar and its digest ("sha256:...")."""

    path: Path
    digest: str

    @property
    def size(self) -> int:
        """Bytes."""
        return self.path.stat().st_size


def folder() -> Path:
    """Return where images lie in the cache."""
    path = cache_root() / "images"
    path.mkdir(parents=True, exist_ok=True)
    return path


def key_of(*parts: str | bytes) -> str:
    """Return a short name for content made from these parts."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8) + data)
    return digest.hexdigest()[:16]


def layer(kind: str, key: str, fill: Callable[[Path], None]) -> Layer:
    """Return the layer of this kind and key; `fill` writes its files into an empty folder when it is not there yet."""
    path = folder() / f"layer-{kind}-{key}.tar"
    digest = path.with_suffix(".digest")
    if not (path.exists() and digest.exists()):
        with tempfile.TemporaryDirectory(prefix=f"part-{kind}-", dir=folder()) as scratch:
            root, tar = Path(scratch) / "root", Path(scratch) / "layer.tar"
            root.mkdir(mode=0o755)
            fill(root)
            _pack(root, tar)
            _write(digest, _sha256(tar))
            tar.rename(path)
    os.utime(path)
    return Layer(path, digest.read_text())


def files_below(*roots: Path) -> list[Path]:
    """Return all source files below the folders, sorted, without caches of bytecode."""
    found = (path for root in roots for path in root.rglob("*"))
    return sorted(path for path in found if path.is_file() and "__pycache__" not in path.parts)


def prune() -> None:
    """Forget layers and archives that no build has used for two weeks, and what interrupted builds left."""
    limit = time.time() - _UNUSED_DAYS * 86400
    for path in folder().iterdir():
        if path.stat().st_mtime >= limit:
            continue
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def _pack(root: Path, tar: Path) -> None:
    with tarfile.open(tar, "w", format=tarfile.PAX_FORMAT) as archive:
        for entry in sorted(root.iterdir()):
            archive.add(entry, entry.name, filter=_anonymous)


def _anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Everything belongs to root and has no date: the same content gives the same digest."""
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    return entry


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


def _write(path: Path, text: str) -> None:
    aside = path.with_name(f"{path.name}.part")
    aside.write_text(text)
    aside.rename(path)
