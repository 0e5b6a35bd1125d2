"""Which release an engine is."""

import pytest

from specdec_operator.api.conditions import Reason
from specdec_operator.api.spec import EngineSpec
from specdec_operator.engine.findings import Finding
from specdec_operator.engine.version import (
    EngineVersion,
    Feature,
    engine_image,
    image_tag,
    parse_engine_version,
    parse_version,
    require_version,
)

DIGEST = "sha256:" + "0" * 64


def engine(**fields: str) -> EngineSpec:
    """Make an engine without the schema's checks, as an object of an older operator may hold it."""
    return EngineSpec.model_construct(**fields)


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("0.30.0", (0, 30, 0)),
        ("v0.30.0", (0, 30, 0)),
        ("0.30.0-cu129", (0, 30, 0)),
        ("0.30.0.post1", (0, 30, 0)),
        ("0.30.0rc1", (0, 30, 0)),
        ("v0.30.1rc2.dev3+gabc", (0, 30, 1)),
        ("0.30.0+cpu", (0, 30, 0)),
        ("1.0.0", (1, 0, 0)),
    ],
)
def test_release_is_read_from_every_form_of_a_version(text: str, release: tuple[int, int, int]) -> None:
    """Suffixes of a version do not change the release."""
    version = parse_version(text)

    assert version is not None
    assert version.release == release


@pytest.mark.parametrize(
    "text",
    ["", "latest", "nightly", "nightly-8a1b2c", "0.30", "main", "v0.30.0x", "sha-0.30.0", "\u0660.\u0663.\u0660"],
)
def test_what_names_no_release_is_not_guessed(text: str) -> None:
    """A tag without a release gives no version."""
    assert parse_version(text) is None


@pytest.mark.parametrize(
    ("image", "tag"),
    [
        ("vllm/vllm-openai:v0.30.0", "v0.30.0"),
        (f"vllm/vllm-openai:v0.30.0@{DIGEST}", "v0.30.0"),
        ("registry.local:5000/team/vllm:0.30.0-cu129", "0.30.0-cu129"),
        ("registry.local:5000/team/vllm", None),
        (f"vllm/vllm-openai@{DIGEST}", None),
    ],
)
def test_tag_of_an_image_reference(image: str, tag: str | None) -> None:
    """Ports of registries and digests are no tags."""
    assert image_tag(image) == tag


def test_version_decides_before_the_image() -> None:
    """With both given, the version's rules apply."""
    version = parse_engine_version(engine(version="0.31.0", image="own/vllm:v0.20.0"))

    assert isinstance(version, EngineVersion)
    assert version.release == (0, 31, 0)


def test_tag_of_the_image_stands_in_for_the_version() -> None:
    """An image whose tag is a release needs no version."""
    assert require_version(engine(image="own/vllm:v0.29.0-cu129")).release == (0, 29, 0)


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"image": f"own/vllm@{DIGEST}"}, "spec.engine.image"),
        ({"image": "own/vllm:nightly"}, "spec.engine.image"),
        ({"version": "nightly"}, "spec.engine.version"),
        ({}, "spec.engine.version"),
    ],
)
def test_unknown_version_names_the_field_to_set(fields: dict[str, str], place: str) -> None:
    """Where nothing tells the release, the finding says what to set."""
    finding = parse_engine_version(engine(**fields))

    assert isinstance(finding, Finding)
    assert finding.reason is Reason.UNKNOWN_ENGINE_VERSION
    assert finding.field == place
    assert "spec.engine.version" in finding.remedy


def test_release_after_the_newest_known_counts_as_the_newest() -> None:
    """Rules of the newest known release apply to newer ones, and it can be told."""
    version = parse_version("0.40.0")

    assert version is not None
    assert version.rules == (0, 33, 0)
    assert version.newer_than_known


@pytest.mark.parametrize(("text", "has"), [("0.17.1", False), ("0.18.0", True), ("0.33.0", True), ("1.0.0", True)])
def test_shutdown_timeout_begins_with_0_18(text: str, *, has: bool) -> None:
    """--shutdown-timeout exists from 0.18.0 on."""
    assert require_version(engine(version=text)).has(Feature.SHUTDOWN_TIMEOUT) is has


@pytest.mark.parametrize(
    ("fields", "image"),
    [
        ({"version": "0.32.0"}, "vllm/vllm-openai:v0.32.0"),
        ({"version": "v0.32.0-cu129"}, "vllm/vllm-openai:v0.32.0-cu129"),
        ({"version": "0.32.0", "image": "own/vllm"}, "own/vllm"),
    ],
)
def test_image_follows_from_the_version(fields: dict[str, str], image: str) -> None:
    """Without an image, vLLM's own image of that release is used."""
    assert engine_image(engine(**fields)) == image


@pytest.mark.parametrize("version", ["0.32.0+cpu", "nightly"])
def test_version_that_is_no_tag_gives_no_image(version: str) -> None:
    """A local version is no image tag, and nothing is guessed."""
    with pytest.raises(ValueError, match=r"spec\.engine\.(version|image)"):
        engine_image(engine(version=version))
