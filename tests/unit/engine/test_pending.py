"""Fields that do nothing yet."""

from typing import Any

import pytest
from tests.helpers.deployments import NGRAM, make_deployment

from specdec_operator.engine.check import check_spec
from specdec_operator.engine.findings import Severity
from specdec_operator.engine.pending import PENDING

BREAK_EVEN = {"profileRef": {"name": "p"}, "accelerator": "H100"}
ASKED: list[tuple[dict[str, Any], set[str]]] = [
    ({"speculation": {"policy": {"trigger": "OfferedLoad"}}}, {"speculation.policy.trigger"}),
    ({"speculation": {"policy": {"switchCost": "5m"}}}, {"speculation.policy.switchCost"}),
    ({"speculation": {"breakEven": BREAK_EVEN}}, {"speculation.breakEven.profileRef"}),
    (
        {"speculation": {"methods": [NGRAM, {**NGRAM, "name": "b", "schedule": "Auto"}]}},
        {"speculation.methods[1].schedule"},
    ),
    ({"metrics": {"source": "Pods"}}, {"metrics.source"}),
    ({"metrics": {"address": "http://prometheus"}}, {"metrics.address"}),
    ({"rollout": {"strategy": "Surge"}}, {"rollout.strategy"}),
    ({"rollout": {"canary": {}}}, {"rollout.canary"}),
    ({"rollout": {"drain": {"middleware": True}}}, {"rollout.drain.middleware"}),
]


def warned(**spec: Any) -> set[str]:
    """Return the fields that are said not to be in force."""
    findings = check_spec(make_deployment(**spec).spec)
    said = [item for item in findings if item.rule == "not-in-force" and item.severity is Severity.WARNING]
    return {item.field.removeprefix("spec.") for item in said}


@pytest.mark.parametrize(("spec", "fields"), ASKED)
def test_field_that_does_nothing_yet_is_told(spec: dict[str, Any], fields: set[str]) -> None:
    """Each is warned about with its path in the object, and nothing else is."""
    assert warned(**spec) == fields


@pytest.mark.parametrize(
    "spec",
    [
        {"speculation": {"policy": {"trigger": "Threshold"}}},
        {"speculation": {"methods": [{**NGRAM, "schedule": "Off"}]}},
        {"metrics": {"source": "Prometheus"}},
        {"rollout": {"strategy": "InPlace", "drain": {"middleware": False}}},
        {},
    ],
)
def test_values_in_force_and_defaults_are_not_told(spec: dict[str, Any]) -> None:
    """What works as written, and what nobody wrote, is passed over."""
    assert warned(**spec) == set()


def test_every_entry_is_tried() -> None:
    """A renamed field cannot leave a dead entry behind."""
    assert sum(len(fields) for _, fields in ASKED) == len(PENDING)
