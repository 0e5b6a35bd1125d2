"""The types cover every field that the reference objects name, and the reference objects name every field."""

from typing import Any

import pytest
import yaml
from hack.crds.structural import structural, walk
from pydantic import BaseModel
from tests.contract.crds.cases import ROOT

from specdec_operator.api.objects import SpecDecDeployment, SpecDecProfile
from specdec_operator.api.profile import SpecDecProfileSpec
from specdec_operator.api.spec import SpecDecDeploymentSpec

KINDS = [
    ("full.yaml", SpecDecDeployment, SpecDecDeploymentSpec),
    ("profile.yaml", SpecDecProfile, SpecDecProfileSpec),
]
NOT_TOGETHER = {"model.cache.persistentVolumeClaim", "model.cache.emptyDir"}
"""Alternatives of a field that the reference object sets."""


def fields_of(value: Any, path: str = "") -> set[str]:
    """Return the paths of all fields of a nested value."""
    if isinstance(value, list):
        return set().union(*(fields_of(item, f"{path}[]") for item in value))
    if not isinstance(value, dict):
        return set()
    paths = {name: f"{path}.{name}".lstrip(".") for name in value}
    return set(paths.values()).union(*(fields_of(value[name], inner) for name, inner in paths.items()))


def load(name: str) -> dict[str, Any]:
    """Return a reference object."""
    return yaml.safe_load((ROOT / "tests/data/api" / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize(("name", "kind", "spec"), KINDS)
def test_the_reference_object_names_every_field(name: str, kind: type[BaseModel], spec: type[BaseModel]) -> None:
    """A new field needs a place in the reference object, and with it a round trip through the API server."""
    del kind
    schema = structural(spec, closed_enums=True)
    known = {path for path, node in walk(schema) if path and not path.endswith(("[]", "{}")) and node}
    alternatives = {path for path in known if any(path.startswith(other) for other in NOT_TOGETHER)}

    assert known - alternatives <= fields_of(load(name)["spec"])


@pytest.mark.parametrize(("name", "kind", "spec"), KINDS)
def test_the_reference_object_survives_the_types(name: str, kind: type[Any], spec: type[BaseModel]) -> None:
    """Reading and writing it again loses and invents nothing."""
    del spec
    body = load(name)

    parsed = kind.parse(body)

    assert parsed.spec.model_dump(mode="json", by_alias=True, exclude_unset=True) == body["spec"]
