"""The reference of the process is complete."""

from pathlib import Path

from specdec_operator.controller.configuration import OperatorConfiguration
from specdec_operator.telemetry.metrics import Metrics

TEXT = (Path(__file__).parents[3] / "docs" / "reference" / "operator.md").read_text(encoding="utf-8")
ROWS = {line.split("`")[1] for line in TEXT.splitlines() if line.startswith("| `")}


def test_every_field_of_the_configuration_is_explained() -> None:
    """And none that is not there."""
    fields = {field.alias for field in OperatorConfiguration.model_fields.values()}
    assert fields == {row for row in ROWS if not row.startswith(("/", "specdec_"))}


def test_every_metric_is_explained() -> None:
    """By the name that a scrape gives."""
    names = {
        f"{family.name}_total" if family.type == "counter" else family.name for family in Metrics().registry.collect()
    }
    assert names == {row for row in ROWS if row.startswith("specdec_")}
