"""Names and places of beds."""

from pathlib import Path

import pytest
from hack.testbed.errors import TestbedError
from hack.testbed.paths import BedPaths, bed_paths, cache_root


def test_the_cache_folder_can_be_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """$SPECDEC_CACHE is the folder itself; $XDG_CACHE_HOME holds it."""
    monkeypatch.delenv("SPECDEC_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_root() == tmp_path / "specdec-operator"

    monkeypatch.setenv("SPECDEC_CACHE", str(tmp_path / "mine"))
    assert cache_root() == tmp_path / "mine"


@pytest.mark.parametrize("name", ["", "../other", "Upper", "a b", "-x", "x" * 41])
def test_names_that_cannot_be_folders_and_cgroups_are_refused(name: str) -> None:
    """The message says what a name looks like."""
    with pytest.raises(TestbedError, match="lower-case letters, digits and dashes"):
        bed_paths(name)


def test_beds_of_one_name_in_two_caches_have_different_cgroups() -> None:
    """Cleaning up one must never touch the other."""
    one, other = BedPaths("default", Path("/a/run/default")), BedPaths("default", Path("/b/run/default"))
    assert one.cgroup != other.cgroup
    assert one.cgroup.startswith("specdec-testbed-default-")
