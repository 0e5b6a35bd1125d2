"""What an object says, and what is wrong with it: parsed and checked once per generation."""

from dataclasses import dataclass

from pydantic import ValidationError

from specdec_operator.api.objects import Metadata, SpecDecDeployment
from specdec_operator.api.spec import SpecDecDeploymentSpec
from specdec_operator.api.status import SpecDecDeploymentStatus
from specdec_operator.engine.check import check_spec
from specdec_operator.engine.findings import Finding, Severity
from specdec_operator.engine.schema_findings import schema_findings
from specdec_operator.ports import JsonObject


@dataclass(frozen=True, slots=True)
class Understanding:
    """The spec of one object with everything that was found about it."""

    spec: SpecDecDeploymentSpec | None
    """None when it cannot be parsed."""
    findings: tuple[Finding, ...]

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
    return Understanding(spec=spec, findings=check_spec(spec, object_name=body["metadata"]["name"]))


def deployment_of(body: JsonObject, spec: SpecDecDeploymentSpec) -> SpecDecDeployment:
    """Put the parsed spec together with the object's metadata."""
    metadata = Metadata.model_validate(body["metadata"])
    return SpecDecDeployment.model_construct(metadata=metadata, spec=spec, status=SpecDecDeploymentStatus())


class Understandings:
    """Remembers what was understood, by uid and generation: the spec cannot change without them."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, Understanding]] = {}

    def of(self, body: JsonObject) -> Understanding:
        """Return what the object says, from memory where this generation was read before."""
        metadata = body["metadata"]
        uid, generation = metadata["uid"], metadata.get("generation", 0)
        known = self._known.get(uid)
        if known is None or known[0] != generation:
            known = self._known[uid] = (generation, understand(body))
        return known[1]

    def forget(self, uid: str) -> None:
        """Drop what is known of an object that is gone."""
        self._known.pop(uid, None)
