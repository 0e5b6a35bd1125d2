"""Writes OCI image archives that `ctr images import` reads."""

import hashlib
import io
import json
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hack.images.store import Layer, folder, key_of

_TYPE = "application/vnd.oci.image"
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a container of the image starts with; `user` is "uid:gid"."""

    entrypoint: Sequence[str] = ()
    user: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    architecture: str = "amd64"


def write(name: str, reference: str, layers: Sequence[Layer], settings: Settings) -> Path:
    """Return the archive of the image `reference` (repository:tag), written to the cache unless it is there."""
    config = _json(_config(layers, settings))
    manifest = _json(_manifest(layers, config))
    path = folder() / f"{name}-{key_of(reference, manifest)}.tar"
    if path.exists():
        path.touch()
        return path
    with tempfile.TemporaryDirectory(prefix=f"part-{name}-", dir=folder()) as scratch:
        aside = Path(scratch) / "image.tar"
        with tarfile.open(aside, "w") as archive:
            _add(archive, "oci-layout", b'{"imageLayoutVersion":"1.0.0"}')
            _add(archive, "index.json", _json(_index(reference, manifest, settings)))
            for blob in (config, manifest):
                _add(archive, _blob(_digest(blob)), blob)
            for layer in {layer.digest: layer for layer in layers}.values():
                archive.add(layer.path, _blob(layer.digest))
        aside.rename(path)
    return path


def _config(layers: Sequence[Layer], settings: Settings) -> dict[str, Any]:
    env = {"PATH": _PATH, **settings.env}
    start: dict[str, Any] = {"Env": [f"{key}={value}" for key, value in env.items()], "WorkingDir": "/"}
    if settings.entrypoint:
        start["Entrypoint"] = list(settings.entrypoint)
    if settings.user:
        start["User"] = settings.user
    return {
        "architecture": settings.architecture,
        "os": "linux",
        "config": start,
        "rootfs": {"type": "layers", "diff_ids": [layer.digest for layer in layers]},
    }


def _manifest(layers: Sequence[Layer], config: bytes) -> dict[str, Any]:
    return {
        "schemaVersion": 2,
        "mediaType": f"{_TYPE}.manifest.v1+json",
        "config": {"mediaType": f"{_TYPE}.config.v1+json", "digest": _digest(config), "size": len(config)},
        "layers": [
            {"mediaType": f"{_TYPE}.layer.v1.tar", "digest": layer.digest, "size": layer.size} for layer in layers
        ],
    }


def _index(reference: str, manifest: bytes, settings: Settings) -> dict[str, Any]:
    entry = {
        "mediaType": f"{_TYPE}.manifest.v1+json",
        "digest": _digest(manifest),
        "size": len(manifest),
        "annotations": {"io.containerd.image.name": reference},
        "platform": {"architecture": settings.architecture, "os": "linux"},
    }
    return {"schemaVersion": 2, "manifests": [entry]}


def _json(document: dict[str, Any]) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()


def _digest(blob: bytes) -> str:
    return f"sha256:{hashlib.sha256(blob).hexdigest()}"


def _blob(digest: str) -> str:
    return f"blobs/{digest.replace(':', '/')}"


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    archive.addfile(entry, io.BytesIO(content))
