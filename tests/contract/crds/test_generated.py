"""The committed CRDs are the generated ones."""

from pathlib import Path

import pytest
from hack.crds.files import ROOT, generated


@pytest.mark.parametrize("path", generated(), ids=str)
def test_committed_files_are_the_generated_ones(path: Path) -> None:
    """Each generated file is committed as it is; `python -m hack.gen_crds` writes them."""
    assert generated()[path] == (ROOT / path).read_text(encoding="utf-8")
