"""What the local images hold."""

import tarfile

import pytest
from hack.images.archive import Image
from hack.images.recipes import build_all

FORBIDDEN = {"pandas", "numpy", "torch"}


@pytest.fixture(scope="module", name="operator_image")
def _operator_image() -> Image:
    """Build what has changed and return the operator's image."""
    _, images = build_all()
    return next(image for image in images if "specdec-operator" in image.reference)


def test_the_operator_image_is_small(operator_image) -> None:
    """Less than 200 MB, uncompressed."""
    assert operator_image.size < 200e6


def test_the_operator_image_holds_no_numerics(operator_image) -> None:
    """No pandas, numpy or torch, and no caches of a package installer."""
    packages = set()
    for layer in operator_image.layers:
        with tarfile.open(layer.path) as tar:
            names = (name for name in tar.getnames() if "/dist-packages/" in name)
            packages |= {name.split("/dist-packages/")[1].split("/")[0].split("-")[0].lower() for name in names}

    assert {"kopf", "kubernetes", "specdec_operator"} <= packages
    assert not packages & (FORBIDDEN | {"pip"})


def test_the_operator_does_not_run_as_root(operator_image) -> None:
    """A user id that runAsNonRoot accepts."""
    assert operator_image.user == "65532:65532"
