"""Layers and archives."""

import hashlib
import json
import tarfile
from pathlib import Path

import pytest
from hack.images import archive, store
from hack.images.archive import Image
from hack.images.store import Layer


@pytest.fixture(autouse=True)
def _cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SPECDEC_CACHE", str(tmp_path / "cache"))


def _layer(key: str, content: str = "hello") -> Layer:
    def fill(root: Path) -> None:
        (root / "etc").mkdir()
        (root / "etc" / "greeting").write_text(content)

    return store.layer("some", key, fill)


def test_a_layer_is_filled_once() -> None:
    """The same key gives the same file without work; the same content the same digest."""

    def never(root: Path) -> None:
        raise AssertionError(root)

    first = _layer("one")
    assert store.layer("some", "one", never) == first
    assert _layer("two").digest == first.digest
    assert _layer("three", "other").digest != first.digest


def test_an_interrupted_layer_leaves_nothing_behind() -> None:
    """A half-filled layer is never taken for a whole one."""

    def broken(root: Path) -> None:
        (root / "half").write_text("x")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.layer("some", "broken", broken)

    assert list(store.folder().iterdir()) == []


def test_an_archive_holds_each_blob_once_under_its_digest() -> None:
    """Images share layers; every blob is what its name says, and the index names both images."""
    base, top = _layer("base"), _layer("top", "more")
    images = [
        Image("example.test/a:1", [base]),
        Image("example.test/b:1", [base, top], entrypoint=["/run"], user="1:1"),
    ]

    path = archive.write(images, "amd64")

    with tarfile.open(path) as tar:
        names = tar.getnames()
        assert len(names) == len(set(names))
        for name in (name for name in names if name.startswith("blobs/sha256/")):
            assert hashlib.sha256(tar.extractfile(name).read()).hexdigest() == name.rsplit("/", 1)[1]
        index = json.load(tar.extractfile("index.json"))
    assert sum(name.endswith(base.digest.split(":")[1]) for name in names) == 1
    assert [entry["annotations"]["io.containerd.image.name"] for entry in index["manifests"]] == [
        "example.test/a:1",
        "example.test/b:1",
    ]


def test_the_same_images_are_not_written_twice() -> None:
    """The archive is named by what it holds."""
    images = [Image("example.test/a:1", [_layer("base")])]
    path = archive.write(images, "amd64")
    before = path.stat().st_ino

    assert archive.write(images, "amd64") == path
    assert path.stat().st_ino == before
    assert archive.write([Image("example.test/a:2", images[0].layers)], "amd64") != path
