"""The reference pages name every field with its default, and every reason."""

import re

import pytest
import yaml
from hack.crds.definitions import DEPLOYMENT, PROFILE, Kind
from hack.crds.structural import Schema, structural, walk
from tests.contract.crds.cases import ROOT

from specdec_operator.api.conditions import ConditionType, Reason
from specdec_operator.api.objects import SpecDecDeployment, SpecDecProfile

PAGES = [("specdecdeployment.md", DEPLOYMENT), ("specdecprofile.md", PROFILE)]
OURS = r"^\| `([A-Za-z\[\].]+)` \| (?:`([^`]*)`)? ?\|"


def page(name: str) -> str:
    """Return the text of a reference page."""
    return (ROOT / "docs/reference" / name).read_text(encoding="utf-8")


def leaves(schema: Schema) -> dict[str, str]:
    """Return the default of each field that has none below it, empty where there is no default."""
    found: dict[str, str] = {}
    free: tuple[str, ...] = ()
    for path, node in walk(schema):
        if path.startswith(free or ("\0",)) or path.endswith("{}"):
            continue
        if "x-kubernetes-preserve-unknown-fields" in node:
            free += (f"{path}.",)
        if not path.endswith("[]") and "properties" not in node and "properties" not in node.get("items", {}):
            default = re.search(r" Default: (.*)\.$", node["description"])
            found[path] = default.group(1) if default else ""
        elif path.endswith("[]") and path in {"engine.env[]", "engine.envFrom[]"}:
            found[path.removesuffix("[]")] = ""
    return found


@pytest.mark.parametrize(("name", "kind"), PAGES)
def test_every_field_is_documented_with_its_default(name: str, kind: Kind) -> None:
    """The tables of a page name the fields of the spec, and what each is without being written."""
    documented = dict(re.findall(OURS, page(name), re.MULTILINE))
    fields = leaves(structural(kind.spec, closed_enums=True))

    missing = {path: default for path, default in fields.items() if documented.get(path) != default}
    assert missing == {}


@pytest.mark.parametrize(("name", "kind"), PAGES)
def test_no_field_is_documented_that_does_not_exist(name: str, kind: Kind) -> None:
    """A page outlives no field."""
    schema = structural(kind.spec, closed_enums=True)
    status = structural(kind.status, closed_enums=False)
    known = {path for part in (schema, status) for path, _ in walk(part)}

    assert {path for path, _ in re.findall(OURS, page(name), re.MULTILINE)} - known == set()


def test_every_status_field_is_documented() -> None:
    """The page names each field at the top of the status."""
    text = page("specdecdeployment.md").partition("## Status")[2]
    fields = structural(DEPLOYMENT.status, closed_enums=False)["properties"]

    assert [name for name in fields if f"`{name}`" not in text] == []


def test_every_condition_and_reason_is_documented() -> None:
    """Whatever a condition or an event can say has a line."""
    text = page("specdecdeployment.md").partition("### Conditions")[2]

    assert [word for word in (*ConditionType, *Reason) if f"`{word}`" not in text] == []


@pytest.mark.parametrize(("name", "parse"), [(PAGES[0][0], SpecDecDeployment), (PAGES[1][0], SpecDecProfile)])
def test_the_examples_of_the_pages_parse(name: str, parse: type[SpecDecDeployment | SpecDecProfile]) -> None:
    """What a reader copies is accepted."""
    blocks = re.findall(r"^```yaml\n(.*?)^```", page(name), re.MULTILINE | re.DOTALL)

    assert blocks
    for block in blocks:
        parse.parse(yaml.safe_load(block))
