"""Check one object as `specdec validate` and `specdec render` do: its schema, then everything behind the schema."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from specdec_operator.api.conditions import Reason
from specdec_operator.api.names import API_VERSION, DEPLOYMENT_KIND, GROUP, PROFILE_KIND
from specdec_operator.api.objects import SpecDecDeployment, SpecDecProfile
from specdec_operator.cli.documents import Document
from specdec_operator.engine.check import check_spec, unsupported
from specdec_operator.engine.findings import Finding, Severity, error

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
        return Checked(document, tuple(_schema_findings(problem)))
    findings = check_spec(deployment.spec, object_name=deployment.metadata.name)
    methods = tuple(_method(method.name, findings) for method in deployment.spec.speculation.methods)
    return Checked(document, findings, methods, deployment)


def _method(name: str, findings: tuple[Finding, ...]) -> CheckedMethod:
    problem = unsupported(findings, name)
    return CheckedMethod(name, "accepted" if problem is None else "rejected", problem.rule if problem else None)


def _schema_findings(problem: ValidationError) -> Iterator[Finding]:
    for detail in problem.errors(include_url=False):
        message, remedy = _words(detail["type"], str(detail["msg"]))
        if detail["type"] not in ("missing", "value_error"):
            message = f"{_shown(detail['input'])}: {message}"
        yield error(_path(detail["loc"]), message, remedy, rule="schema", reason=Reason.INVALID_SPEC)


def _words(kind: str, message: str) -> tuple[str, str]:
    """Split pydantic's words into what is wrong and what to do; our own validators say both, around a semicolon."""
    if kind == "value_error":
        said = message.removeprefix("Value error, ")
        problem, semicolon, remedy = said.partition("; ")
        return (problem, remedy) if semicolon else (said, "see the message")
    remedies = {
        "missing": ("the field is missing", "add it"),
        "extra_forbidden": ("there is no such field", "look for a typing error, or leave it out"),
        "string_type": (message.lower(), "write it in quotes"),
    }
    return remedies.get(kind, (message[:1].lower() + message[1:], "write a value that fits"))


def _path(location: tuple[int | str, ...]) -> str:
    path = ""
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else f".{part}"
    return path.removeprefix(".")


def _shown(value: Any) -> str:  # noqa: ANN401 - whatever stands in the file
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
