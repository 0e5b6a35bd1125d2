"""What is wrong or noteworthy about a config: the result type of every check in this folder."""

from dataclasses import dataclass
from enum import StrEnum

from specdec_operator.api.conditions import Reason


class Severity(StrEnum):
    """How bad a finding is."""

    ERROR = "error"
    """Cannot be rendered, refused by vLLM, or vLLM would silently run something else."""
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding. `method` names the entry of `spec.speculation.methods` it is about, None for the whole spec."""

    rule: str
    severity: Severity
    reason: Reason
    field: str
    """Path in the object, such as spec.engine.extraArgs[2]."""
    message: str
    """What is wrong, with the offending value."""
    remedy: str
    """What to write instead."""
    method: str | None = None


def error(field: str, message: str, remedy: str, *, rule: str, reason: Reason = Reason.RESERVED_ARGUMENT) -> Finding:
    """Make a finding that forbids rendering the spec."""
    return Finding(rule, Severity.ERROR, reason, field, message, remedy)


def warning(field: str, message: str, remedy: str, *, rule: str) -> Finding:
    """Make a finding that the spec can be run with."""
    return Finding(rule, Severity.WARNING, Reason.VALID_WITH_WARNINGS, field, message, remedy)
