"""Check one object as `specdec validate` and `specdec render` do: its schema, then everything behind the schema."""

from dataclasses import dataclass
from typing import Final

from pydantic import ValidationError

from specdec_operator.api.names import API_VERSION, DEPLOYMENT_KIND, GROUP, PROFILE_KIND
from specdec_operator.api.objects import SpecDecDeployment, SpecDecProfile
from specdec_operator.cli.documents import Document
from specdec_operator.engine.check import check_spec, unsupported
from specdec_operator.engine.findings import Finding, Severity, error
from specdec_operator.engine.schema_findings import schema_findings

KINDS: Final = (DEPLOYMENT_KIND, PROFILE_KIND)


@dataclass(frozen=True, slots=True)
class CheckedMethod:
    """What becomes of one method: accepted, or rejected by a rule."""

    name: str
    outcome: str
    rule: str | None


@dataclass(frozen=True, slots=True)
class Checked:
    """One object with all findings. `deployment` is None where the schema refuses it, and for other kinds."""

    document: Document
    findings: tuple[Finding, ...]
    methods: tuple[CheckedMethod, ...] = ()
    deployment: SpecDecDeployment | None = None

    @property
    def name(self) -> str:
        """Its metadata.name, "" without one."""
        metadata = self.document.body.get("metadata")
        return str(metadata.get("name", "")) if isinstance(metadata, dict) else ""

    @property
    def valid(self) -> bool:
        """Whether there is no error."""
        return not any(finding.severity is Severity.ERROR for finding in self.findings)


def is_ours(document: Document) -> bool:
    """Whether the object is of one of our kinds and group; others are not looked at."""
    group = str(document.body.get("apiVersion", "")).partition("/")[0]
    return document.kind in KINDS and group == GROUP


def check_document(document: Document) -> Checked:
    """Check an object of ours."""
    version = document.body.get("apiVersion")
    if version != API_VERSION:
        said = f"{version!r} is no version of this group"
        return Checked(document, (error("apiVersion", said, f"write {API_VERSION}", rule="schema"),))
    try:
        if document.kind == PROFILE_KIND:
            SpecDecProfile.parse(document.body)
            return Checked(document, ())
        deployment = SpecDecDeployment.parse(document.body)
    except ValidationError as problem:
        return Checked(document, schema_findings(problem))
    findings = check_spec(deployment.spec, object_name=deployment.metadata.name)
    methods = tuple(_method(method.name, findings) for method in deployment.spec.speculation.methods)
    return Checked(document, findings, methods, deployment)


def _method(name: str, findings: tuple[Finding, ...]) -> CheckedMethod:
    problem = unsupported(findings, name)
    return CheckedMethod(name, "accepted" if problem is None else "rejected", problem.rule if problem else None)
