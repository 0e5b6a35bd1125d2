"""What a schema refuses, in the words of every other check: field, value, remedy."""

from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import ValidationError

from specdec_operator.api.conditions import Reason
from specdec_operator.engine.findings import Finding, error

RULE: Final = "schema"
_LONGEST_VALUE: Final = 80
_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "missing": ("the field is missing", "add it"),
    "extra_forbidden": ("there is no such field", "look for a typing error, or for a newer operator that knows it"),
    "string_type": ("is no text", "write it in quotes"),
}
_OTHERS: Final = "write a value that fits; `kubectl explain sdd.spec --recursive` lists the fields"


def schema_findings(problem: ValidationError, *, root: str = "") -> tuple[Finding, ...]:
    """Turn each of pydantic's errors into a finding; `root` is the path of what was parsed, "" for a whole object."""
    return tuple(
        _finding(_path(root, detail["loc"]), detail["type"], detail["msg"], detail["input"])
        for detail in problem.errors(include_url=False)
    )


def _finding(field: str, kind: str, words: str, value: object) -> Finding:
    if kind == "value_error":
        said, _, remedy = words.removeprefix("Value error, ").partition("; ")
        return _error(field, said, remedy or "see the message")
    said, remedy = _WORDS.get(kind, (words[:1].lower() + words[1:], _OTHERS))
    return _error(field, f"{_shown(value)}{said}", remedy)


def _error(field: str, message: str, remedy: str) -> Finding:
    return error(field, message, remedy, rule=RULE, reason=Reason.INVALID_SPEC)


def _path(root: str, location: Sequence[int | str]) -> str:
    parts = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return (root + parts).removeprefix(".")


def _shown(value: object) -> str:
    """Show plain values only: an object may hold what nobody should read in a condition."""
    if not isinstance(value, str | int | float):
        return ""
    text = repr(value)
    return f"{text if len(text) <= _LONGEST_VALUE else f'{text[: _LONGEST_VALUE - 3]}...'}: "
