"""The page that explains the decisions shows the numbers of the code."""

import re
from pathlib import Path

import pytest

from specdec_operator.adapters.prometheus.configuration import LabelNames, PrometheusConfiguration
from specdec_operator.api.conditions import Reason
from specdec_operator.policy.curves import DOUBLING_OVER_BREAK_EVEN, PlainCurve, return_concurrency
from specdec_operator.policy.knees import ACCEPTANCE, DRAFT_COST, KNEES, Drafter

DOCS = Path(__file__).parents[3] / "docs"
DECIDING = (DOCS / "explanation" / "deciding.md").read_text(encoding="utf-8")
METRICS = (DOCS / "reference" / "metrics.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in DECIDING.splitlines() if line.startswith("|")]


def row(first: str) -> list[str]:
    """Return the cells of the row that begins so."""
    return next(cells for cells in ROWS if cells[0] == first)


def test_the_knees():
    """n* of each accelerator."""
    names = [name.replace(" ", "") for name in row("accelerator")[1:]]
    assert dict(zip(names, map(float, row("n\\*")[1:]), strict=True)) == {
        name: knee.tokens.value for name, knee in KNEES.items()
    }


@pytest.mark.parametrize(
    ("name", "drafter"),
    [
        ("EAGLE-3", Drafter.EAGLE3),
        ("EAGLE", Drafter.EAGLE),
        ("draft model", Drafter.DRAFT_MODEL),
        ("MTP", Drafter.MTP),
        ("block drafter", Drafter.BLOCK),
        ("n-gram", Drafter.NGRAM),
    ],
)
def test_the_priors(name, drafter):
    """Acceptance and cost of each kind of drafter."""
    _, chance, cost = row(name)
    assert float(chance) == ACCEPTANCE[drafter].value
    assert float(cost.removesuffix(" in all")) == DRAFT_COST[drafter].value


def test_the_way_back():
    """0.57 of the break-even with one method, 34.3 for 60."""
    back = return_concurrency(60, PlainCurve(60 * DOUBLING_OVER_BREAK_EVEN), None)
    assert f"B_return = {back / 60:.2f} · B*" in DECIDING
    assert f"comes back below {back:.1f}" in DECIDING


def test_every_reason_is_told_by_its_name():
    """A name in the tables that no condition carries would be a dead end."""
    told = set(re.findall(r"`([A-Z][A-Za-z]+)`", "\n".join("|".join(cells[:1]) for cells in ROWS)))
    names = {reason.value for reason in Reason}
    assert told - names <= {"Explicit", "ClosedForm", "Prior", "Auto", "Recommend", "Off", "MetricsAvailable"}


def test_every_field_of_the_configuration_is_told():
    """Under the name that the file uses."""
    for field in PrometheusConfiguration.model_fields.values():
        if field.alias != "labels":
            assert f"`{field.alias}`" in METRICS
    for name in LabelNames.model_fields:
        assert f"{name}`" in METRICS
