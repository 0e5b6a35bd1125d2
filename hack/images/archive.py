"""Writes one OCI archive that holds several images, as `ctr images import` and `kind load image-archive` read it."""

import hashlib
import io
import json
import tarfile
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hack.images.store import Layer, folder, key_of

_TYPE = "application/vnd.oci.image"
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_IN_USE_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Image:
    """One image.

    Attributes:
        reference: repository and tag, as pods name it.
        layers: bottom first; images may share them.
        entrypoint: what runs; empty for none.
        user: "uid:gid" or "" for root.
        env: environment besides PATH.
    """

    reference: str
    layers: Sequence[Layer]
    entrypoint: Sequence[str] = ()
    user: str = ""
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Bytes of all layers."""
        return sum(layer.size for layer in self.layers)


def write(images: Sequence[Image], architecture: str) -> Path:
    """Return the archive with these images, written to the cache unless it is there; older archives go."""
    manifests = [_manifest(image, architecture) for image in images]
    index = _json(_index(images, [manifest for manifest, _ in manifests], architecture))
    path = folder() / f"images-{key_of(index)}.tar"
    if not path.exists():
        blobs = [blob for pair in manifests for blob in pair]
        layers = {layer.digest: layer for image in images for layer in image.layers}
        with tempfile.TemporaryDirectory(prefix="part-images-", dir=folder()) as scratch:
            aside = Path(scratch) / "images.tar"
            _pack(aside, index, blobs, list(layers.values()))
            aside.rename(path)
    path.touch()
    _forget_older(path)
    return path


def _pack(path: Path, index: bytes, blobs: Sequence[bytes], layers: Sequence[Layer]) -> None:
    with tarfile.open(path, "w") as archive:
        _add(archive, "oci-layout", b'{"imageLayoutVersion":"1.0.0"}')
        _add(archive, "index.json", index)
        for blob in blobs:
            _add(archive, _place(_digest(blob)), blob)
        for layer in layers:
            archive.add(layer.path, _place(layer.digest))


def _forget_older(newest: Path) -> None:
    """Remove archives of earlier builds; a bed that starts right now may still read a recent one."""
    for path in newest.parent.glob("images-*.tar"):
        if path != newest and path.stat().st_mtime < time.time() - _IN_USE_SECONDS:
            path.unlink()


def _manifest(image: Image, architecture: str) -> tuple[bytes, bytes]:
    """Return an image's manifest and configuration."""
    config = _json(_config(image, architecture))
    layers = [
        {"mediaType": f"{_TYPE}.layer.v1.tar", "digest": layer.digest, "size": layer.size} for layer in image.layers
    ]
    manifest = {
        "schemaVersion": 2,
        "mediaType": f"{_TYPE}.manifest.v1+json",
        "config": {"mediaType": f"{_TYPE}.config.v1+json", "digest": _digest(config), "size": len(config)},
        "layers": layers,
    }
    return _json(manifest), config


def _config(image: Image, architecture: str) -> dict[str, Any]:
    env = {"PATH": _PATH, **image.env}
    start: dict[str, Any] = {"Env": [f"{key}={value}" for key, value in env.items()], "WorkingDir": "/"}
    if image.entrypoint:
        start["Entrypoint"] = list(image.entrypoint)
    if image.user:
        start["User"] = image.user
    return {
        "architecture": architecture,
        "os": "linux",
        "config": start,
        "rootfs": {"type": "layers", "diff_ids": [layer.digest for layer in image.layers]},
    }


def _index(images: Sequence[Image], manifests: Sequence[bytes], architecture: str) -> dict[str, Any]:
    entries = [
        {
            "mediaType": f"{_TYPE}.manifest.v1+json",
            "digest": _digest(manifest),
            "size": len(manifest),
            "annotations": {"io.containerd.image.name": image.reference},
            "platform": {"architecture": architecture, "os": "linux"},
        }
        for image, manifest in zip(images, manifests, strict=True)
    ]
    return {"schemaVersion": 2, "manifests": entries}


def _json(document: dict[str, Any]) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()


def _digest(blob: bytes) -> str:
    return f"sha256:{hashlib.sha256(blob).hexdigest()}"


def _place(digest: str) -> str:
    return f"blobs/{digest.replace(':', '/')}"


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    archive.addfile(entry, io.BytesIO(content))
