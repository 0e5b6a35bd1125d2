"""The map of the code is the code's."""

from pathlib import Path

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "operator" / "specdec_operator"


def test_the_map_names_every_module_of_controller_and_telemetry() -> None:
    """A new module gets its line in docs/architecture.md, and one that goes loses it."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = {line.split("`")[1] for line in text.splitlines() if line.startswith("| `")}
    modules = {file.name for folder in ("controller", "telemetry") for file in (PACKAGE / folder).glob("[a-z]*.py")}
    assert modules <= rows
    assert {row for row in rows if row.endswith(".py") and "/" not in row} <= modules | {"__main__.py", "ports.py"}
