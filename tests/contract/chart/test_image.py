"""The Dockerfile fits the repository and the chart."""

import re
from collections.abc import Callable

import pytest
from tests.contract.chart.conftest import Objects
from tests.contract.crds.cases import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
LAST_STAGE = DOCKERFILE.rpartition("\nFROM ")[2]
SOURCES = [
    source
    for line in re.findall(r"^COPY (?!--from)(.*)$", DOCKERFILE, re.MULTILINE)
    for source in line.split()[:-1]
]  # fmt: skip


def test_what_is_copied_exists_and_reaches_the_builder() -> None:
    """Each source is in the repository, below a folder or file that .dockerignore lets through."""
    allowed = set(re.findall(r"^!(.*)$", (ROOT / ".dockerignore").read_text(encoding="utf-8"), re.MULTILINE))

    assert [source for source in SOURCES if not (ROOT / source).exists()] == []
    assert {source.partition("/")[0] for source in SOURCES} == allowed


@pytest.mark.parametrize("name", ["runtime.txt", "build.txt"])
def test_everything_that_is_installed_has_a_hash(name: str) -> None:
    """Every requirement is pinned to one version and its files."""
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    requirements = [line for line in text.splitlines() if line and not line.startswith((" ", "#"))]

    assert [line for line in requirements if "==" not in line] == []
    assert text.count("--hash=sha256:") >= len(requirements)
    assert f"--require-hashes -r requirements/{name}" in DOCKERFILE


def test_the_last_stage_has_no_build_tools() -> None:
    """Nothing is installed or built in the image that ships."""
    assert "RUN" not in LAST_STAGE
    assert "pip" not in LAST_STAGE


def test_image_and_chart_agree(render: Callable[[], Objects]) -> None:
    """The chart starts what the image starts by itself, as the same user."""
    pod = render()["Deployment", "ops", "sdo-specdec-operator"]["spec"]["template"]["spec"]
    context = pod["securityContext"]
    command = ", ".join(f'"{part}"' for part in pod["containers"][0]["command"])

    assert f"USER {context['runAsUser']}:{context['runAsGroup']}\n" in LAST_STAGE
    assert f"ENTRYPOINT [{command}]" in LAST_STAGE
