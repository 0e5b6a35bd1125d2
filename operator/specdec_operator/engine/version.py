"""Which vLLM release an engine is, and what hangs on the release alone."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from specdec_operator.api.conditions import Reason
from specdec_operator.api.spec import EngineSpec
from specdec_operator.engine.findings import Finding, error

Release = tuple[int, int, int]

OLDEST: Final[Release] = (0, 11, 0)
"""The oldest release that the engine table knows."""
NEWEST: Final[Release] = (0, 33, 0)
"""The newest release that the engine table knows; newer ones are treated as this one."""
DEFAULT_REPOSITORY: Final = "vllm/vllm-openai"

_RELEASE: Final = re.compile(
    r"v?(\d{1,4})\.(\d{1,4})\.(\d{1,4})((?:a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?([-+_].*)?", re.ASCII
)
_TAG: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")


class Feature(Enum):
    """What not every release has."""

    SHUTDOWN_TIMEOUT = "--shutdown-timeout"
    """SIGTERM lets running requests finish."""
    SPECULATION_HARDENED = "speculation hardened"
    """No request can bring down an engine because it speculates."""
    SCHEDULE = "num_speculative_tokens_per_batch_size"
    ADAPTIVE_VERIFICATION = "enable_adaptive_verification"


FIRST_RELEASE: Final[Mapping[Feature, Release]] = {
    Feature.SHUTDOWN_TIMEOUT: (0, 18, 0),
    Feature.SPECULATION_HARDENED: (0, 24, 0),
    Feature.SCHEDULE: (0, 24, 0),
    Feature.ADAPTIVE_VERIFICATION: (0, 30, 0),
}


@dataclass(frozen=True, slots=True)
class EngineVersion:
    """A parsed version. `release` has no suffix: 0.30.0rc1, 0.30.0.post1 and 0.30.0-cu129 all give (0, 30, 0)."""

    text: str
    release: Release

    @property
    def rules(self) -> Release:
        """The release whose rules apply."""
        return min(self.release, NEWEST)

    @property
    def newer_than_known(self) -> bool:
        """Whether the engine table ends before this release (patches of the newest minor release included)."""
        return self.release > NEWEST

    def has(self, feature: Feature) -> bool:
        """Whether the release has `feature`."""
        return self.release >= FIRST_RELEASE[feature]


def format_release(release: Release) -> str:
    """Return "0.30.0" for (0, 30, 0)."""
    return ".".join(str(part) for part in release)


def parse_version(text: str) -> EngineVersion | None:
    """Read a version or an image tag; None when it names no release (nightly, latest, a commit)."""
    match = _RELEASE.fullmatch(text)
    if match is None:
        return None
    major, minor, patch = (int(part) for part in match.groups()[:3])
    return EngineVersion(text=text, release=(major, minor, patch))


def parse_engine_version(engine: EngineSpec) -> EngineVersion | Finding:
    """Say which release `engine` runs: by `version`, else by the tag of `image`; a Finding when neither tells."""
    if engine.version is not None:
        return parse_version(engine.version) or _unknown("spec.engine.version", engine.version)
    if engine.image is None:
        return _unknown("spec.engine.version", None)
    tag = image_tag(engine.image)
    version = parse_version(tag) if tag else None
    return version or _unknown("spec.engine.image", engine.image)


def require_version(engine: EngineSpec) -> EngineVersion:
    """Return the release that `engine` runs.

    Raises:
        ValueError: if it is unknown.
    """
    match parse_engine_version(engine):
        case EngineVersion() as version:
            return version
        case Finding() as finding:
            raise ValueError(f"{finding.field}: {finding.message}; {finding.remedy}")


def image_tag(image: str) -> str | None:
    """Return the tag of an image reference; None when it has none (a digest alone, or nothing)."""
    name = image.partition("@")[0].rpartition("/")[2]
    return name.partition(":")[2] or None


def engine_image(engine: EngineSpec) -> str:
    """Return the image to run.

    Raises:
        ValueError: if there is neither an image nor a version that can be a tag.
    """
    if engine.image is not None:
        return engine.image
    tag = f"v{require_version(engine).text.removeprefix('v')}"
    if not _TAG.fullmatch(tag):
        raise ValueError(f"spec.engine.version {engine.version!r} gives no image tag; set spec.engine.image")
    return f"{DEFAULT_REPOSITORY}:{tag}"


def _unknown(field: str, value: str | None) -> Finding:
    said = "neither version nor image is given" if value is None else f"{value!r} names no vLLM release"
    remedy = f"set spec.engine.version to the release inside the image, such as {format_release(NEWEST)}"
    message = f"the rules depend on the vLLM release, and {said}"
    return error(field, message, remedy, rule="engine-version", reason=Reason.UNKNOWN_ENGINE_VERSION)
