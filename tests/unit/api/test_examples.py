"""Every example parses into the API types."""

from pathlib import Path

import pytest
import yaml
from tests.contract.crds.cases import ROOT

from specdec_operator.__about__ import __version__
from specdec_operator.api.names import API_VERSION, DEPLOYMENT_KIND, PROFILE_KIND
from specdec_operator.api.objects import SpecDecDeployment, SpecDecProfile

KINDS = {DEPLOYMENT_KIND: SpecDecDeployment, PROFILE_KIND: SpecDecProfile}
EXAMPLES = sorted((ROOT / "examples").glob("*/*.yaml"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_examples_parse(example: Path) -> None:
    """Each object of ours in an example is one that the types accept."""
    bodies = [body for body in yaml.safe_load_all(example.read_text(encoding="utf-8")) if body]
    ours = [body for body in bodies if body["apiVersion"] == API_VERSION]

    assert ours
    for body in ours:
        KINDS[body["kind"]].parse(body)


def test_the_quick_start_names_the_simulator_of_this_release() -> None:
    """The image is built under the version number of the repository."""
    text = (ROOT / "examples/01-quickstart/simulator.yaml").read_text(encoding="utf-8")

    assert f"image: specdec.dev/vllm-simulator:{__version__}\n" in text
