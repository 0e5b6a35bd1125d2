"""Every check of a spec that needs more than its schema, in one place."""

from collections.abc import Iterator

from specdec_operator.api.conditions import Reason
from specdec_operator.api.spec import EngineSpec, SpecDecDeploymentSpec
from specdec_operator.engine.arguments import check_arguments
from specdec_operator.engine.findings import Finding, Severity, error, warning
from specdec_operator.engine.method_check import MethodChecker
from specdec_operator.engine.overrides_check import check_overrides
from specdec_operator.engine.pending import check_pending
from specdec_operator.engine.pod_check import check_name, check_pod
from specdec_operator.engine.version import (
    NEWEST,
    OLDEST,
    EngineVersion,
    engine_image,
    format_release,
    image_tag,
    parse_engine_version,
    parse_version,
)


def check_spec(spec: SpecDecDeploymentSpec, *, object_name: str | None = None) -> tuple[Finding, ...]:
    """Check a spec for the vLLM release that it names.

    An ERROR without `method` means that the spec cannot be rendered; an ERROR with `method` makes that one method
    unsupported, and the others run. `object_name` is `metadata.name`, where it is known.
    """
    return tuple(_findings(spec, object_name))


def blocks_rendering(findings: tuple[Finding, ...]) -> bool:
    """Whether a finding forbids rendering the spec at all."""
    return any(finding.severity is Severity.ERROR and finding.method is None for finding in findings)


def unsupported(findings: tuple[Finding, ...], method: str) -> Finding | None:
    """Return the first error of this method, None when the engine runs it."""
    errors = (finding for finding in findings if finding.severity is Severity.ERROR)
    return next((finding for finding in errors if finding.method == method), None)


def _findings(spec: SpecDecDeploymentSpec, object_name: str | None) -> Iterator[Finding]:
    version = parse_engine_version(spec.engine)
    if isinstance(version, Finding):
        yield version
    else:
        yield from _version(spec.engine, version)
        for position, method in enumerate(spec.speculation.methods):
            yield from MethodChecker(method, position, spec.engine, version).findings()
    yield from check_arguments(spec.engine.extra_args)
    yield from check_pod(spec)
    if spec.pod.overrides is not None:
        yield from check_overrides(spec.pod.overrides)
    if object_name is not None:
        yield from check_name(object_name)
    yield from check_pending(spec)


def _version(engine: EngineSpec, version: EngineVersion) -> Iterator[Finding]:
    field = "spec.engine.image" if engine.version is None else "spec.engine.version"
    release, newest, oldest = (format_release(item) for item in (version.release, NEWEST, OLDEST))
    if version.release < OLDEST:
        said = f"vLLM {release} is older than {oldest}, the oldest release whose rules are known"
        reason = Reason.UNSUPPORTED_BY_ENGINE_VERSION
        yield error(field, said, f"use vLLM {oldest} or later", rule="engine-version", reason=reason)
    if version.newer_than_known:
        said = f"vLLM {release} is newer than {newest}, the newest release whose rules are known; those are applied"
        yield warning(field, said, "upgrade the operator when it knows the release", rule="engine-version")
    yield from _image(engine, version)


def _image(engine: EngineSpec, version: EngineVersion) -> Iterator[Finding]:
    try:
        image = engine_image(engine)
    except ValueError:
        said, reason = f"{engine.version!r} cannot be the tag of an image", Reason.UNKNOWN_ENGINE_VERSION
        yield error("spec.engine.version", said, "set spec.engine.image as well", rule="engine-image", reason=reason)
        return
    tagged = parse_version(image_tag(image) or "")
    if tagged is not None and OLDEST <= tagged.release <= NEWEST and tagged.release != version.release:
        said = f"the tag of {image!r} says {tagged.text}, but engine.version says {version.text}, which is believed"
        yield warning("spec.engine.image", said, "make both name the same release", rule="engine-image")
