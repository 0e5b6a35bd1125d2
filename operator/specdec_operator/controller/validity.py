"""The condition ConfigValid. Pure."""

from specdec_operator.api.conditions import Condition, ConditionStatus, ConditionType, Reason
from specdec_operator.controller.understanding import Understanding
from specdec_operator.engine.findings import Finding

_MOST_FINDINGS = 5


def describe(found: Finding) -> str:
    """Say field, what is wrong, and what to do."""
    return f"{found.field}: {found.message.rstrip('.')}; {found.remedy.rstrip('.')}."


def describe_all(findings: tuple[Finding, ...]) -> str:
    """Say the first few; the rest is counted, because a condition is no list."""
    told = " ".join(describe(found) for found in findings[:_MOST_FINDINGS])
    more = len(findings) - _MOST_FINDINGS
    return f"{told} And {more} more." if more > 0 else told


def config_valid_condition(understanding: Understanding, outdated: tuple[Finding, ...] = ()) -> Condition:
    """Return the condition ConfigValid; `outdated` are warnings about what runs, told after those about the spec.

    False when the spec or one of its methods cannot be used; methods that can be used are used all the same.
    """
    if understanding.refusals:
        return _told(ConditionStatus.FALSE, understanding.refusals[0].reason, describe_all(understanding.refusals))
    unsupported = tuple(understanding.unsupported.values())
    if unsupported:
        text = f"{describe_all(unsupported)} The other methods are used."
        return _told(ConditionStatus.FALSE, unsupported[0].reason, text)
    warnings = (*understanding.warnings, *outdated)
    if warnings:
        return _told(ConditionStatus.TRUE, Reason.VALID_WITH_WARNINGS, describe_all(warnings))
    return _told(ConditionStatus.TRUE, Reason.VALID, "Everything in the spec is understood and can be rendered.")


def _told(status: ConditionStatus, reason: Reason, message: str) -> Condition:
    return Condition(ConditionType.CONFIG_VALID, status, reason, message)
