"""The house keeps the shape that other tools rely on."""

from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_operator_folder_is_no_package() -> None:
    """operator/ has no __init__.py, which would shadow the standard library's operator module."""
    assert not (ROOT / "operator" / "__init__.py").exists()


def test_no_lock_file_that_records_hosts() -> None:
    """Requirements are pinned with hashes, without a lock file that records registry hosts."""
    assert not (ROOT / "uv.lock").exists()
    assert "--hash=sha256:" in (ROOT / "requirements" / "runtime.txt").read_text()
