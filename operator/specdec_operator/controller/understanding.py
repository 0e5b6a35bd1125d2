"""What an object says, and what is wrong with it: parsed and checked once per generation."""

from dataclasses import dataclass, field, replace

from pydantic import ValidationError

from specdec_operator.api.names import RESTARTED_AT_ANNOTATION
from specdec_operator.api.objects import Metadata, SpecDecDeployment, readable
from specdec_operator.api.spec import SpecDecDeploymentSpec
from specdec_operator.api.status import SpecDecDeploymentStatus
from specdec_operator.engine.check import check_spec
from specdec_operator.engine.findings import Finding, Severity
from specdec_operator.engine.schema_findings import schema_findings
from specdec_operator.ports import JsonObject
from specdec_operator.resources import spec_hash


@dataclass(frozen=True, slots=True)
class Understanding:
    """The spec of one object with everything that was found about it."""

    spec: SpecDecDeploymentSpec | None
    """None when it cannot be parsed."""
    findings: tuple[Finding, ...]
    spec_hash: str = ""
    """Digest of what only a new pod can take up; empty where the spec cannot be parsed."""

    @property
    def refusals(self) -> tuple[Finding, ...]:
        """What makes the whole spec unusable."""
        return tuple(found for found in self._errors() if found.method is None)

    @property
    def unsupported(self) -> dict[str, Finding]:
        """By name of the method: the first reason why it cannot be used."""
        return {found.method: found for found in reversed(self._errors()) if found.method is not None}

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """What is worth knowing and stops nothing."""
        return tuple(found for found in self.findings if found.severity is Severity.WARNING)

    def _errors(self) -> tuple[Finding, ...]:
        return tuple(found for found in self.findings if found.severity is Severity.ERROR)


def understand(body: JsonObject) -> Understanding:
    """Parse and check `spec`; what does not fit becomes a finding, never an exception."""
    try:
        spec = SpecDecDeploymentSpec.model_validate(body.get("spec") or {})
    except ValidationError as error:
        return Understanding(spec=None, findings=schema_findings(error, root="spec"))
    return Understanding(
        spec=spec,
        findings=check_spec(spec, object_name=body["metadata"]["name"]),
        spec_hash=spec_hash(deployment_of(body, spec)),
    )


def deployment_of(body: JsonObject, spec: SpecDecDeploymentSpec) -> SpecDecDeployment:
    """Put the parsed spec together with the object's metadata."""
    metadata = Metadata.model_validate(body["metadata"])
    return SpecDecDeployment.model_construct(metadata=metadata, spec=spec, status=SpecDecDeploymentStatus())


@dataclass(frozen=True, slots=True)
class _Known:
    version: tuple[int, str | None]
    """Generation and specdec.dev/restartedAt: nothing that is understood depends on more."""
    understanding: Understanding
    resource_version: str = ""
    status: SpecDecDeploymentStatus = field(default_factory=SpecDecDeploymentStatus)


class Understandings:
    """Remembers what was understood of each object, because a pass comes every few seconds and a change seldom."""

    def __init__(self) -> None:
        self._known: dict[str, _Known] = {}

    def of(self, body: JsonObject) -> tuple[Understanding, SpecDecDeploymentStatus]:
        """Return what the spec says, and the stored status, from memory as far as it is as it was."""
        metadata = body["metadata"]
        annotations = metadata.get("annotations") or {}
        version = (metadata.get("generation", 0), annotations.get(RESTARTED_AT_ANNOTATION))
        resource_version = metadata.get("resourceVersion", "")
        known = self._known.get(metadata["uid"])
        if known is None or known.version != version:
            known = _Known(version, understand(body))
        if not known.resource_version or known.resource_version != resource_version:
            known = replace(known, resource_version=resource_version, status=stored_status(body))
        self._known[metadata["uid"]] = known
        return known.understanding, known.status

    def forget(self, uid: str) -> None:
        """Drop what is known of an object that is gone."""
        self._known.pop(uid, None)


def stored_status(body: JsonObject) -> SpecDecDeploymentStatus:
    """Read the status, leaving out what another release wrote."""
    return readable(SpecDecDeploymentStatus, body.get("status") or {})
