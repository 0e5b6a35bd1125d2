"""What `specdec validate` prints."""

import json
from typing import Any

from specdec_operator.cli.checking import Checked
from specdec_operator.engine.findings import Finding


def as_json(results: list[Checked]) -> str:
    """Return the stable form that scripts read."""
    return json.dumps({"objects": [_object(result) for result in results]}, indent=2)


def as_text(results: list[Checked]) -> str:
    """Return the form for people: a line for each object, and its findings below."""
    lines = []
    for result in results:
        verdict = "valid" if result.valid else "invalid"
        lines.append(f"{result.document.source}: {result.document.kind}/{result.name} is {verdict}")
        lines += [f"  {line(finding)}" for finding in result.findings]
    return "\n".join(lines)


def line(finding: Finding) -> str:
    """Return a finding as one line."""
    return f"{finding.severity.value}: {finding.field}: {finding.message}; {finding.remedy} [{finding.rule}]"


def _object(result: Checked) -> dict[str, Any]:
    return {
        "name": result.name,
        "kind": result.document.kind,
        "valid": result.valid,
        "findings": [
            {
                "rule": finding.rule,
                "severity": finding.severity.value,
                "field": finding.field,
                "message": finding.message,
                "remedy": finding.remedy,
            }
            for finding in result.findings
        ],
        "methods": [{"name": method.name, "outcome": method.outcome, "rule": method.rule} for method in result.methods],
    }
