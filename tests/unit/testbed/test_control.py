"""Commands to a running bed."""

import threading
from pathlib import Path
from typing import Any

import pytest
from hack.testbed import control
from hack.testbed.errors import TestbedError


def _answer(command: dict[str, Any]) -> dict[str, Any]:
    if command["do"] == "fail":
        raise TestbedError("prometheus did not become ready")
    return {"done": command["do"]}


def _serve(path: Path, requests: int) -> threading.Thread:
    server = control.listen(path)

    def serve() -> None:
        with server:
            for _ in range(requests):
                control.serve_one(server, _answer)

    thread = threading.Thread(target=serve)
    thread.start()
    return thread


def test_commands_are_answered_also_below_a_very_long_path(tmp_path: Path) -> None:
    """The address of a socket has room for 107 bytes; a cache folder may be deeper."""
    folder = tmp_path / ("d" * 100) / ("e" * 100)
    folder.mkdir(parents=True)
    thread = _serve(folder / "control.sock", requests=2)

    assert control.request(folder / "control.sock", do="stop")["done"] == "stop"
    with pytest.raises(TestbedError, match="did not become ready"):
        control.request(folder / "control.sock", do="fail")
    thread.join()


def test_a_bed_that_is_down_is_named(tmp_path: Path) -> None:
    """No traceback, the name of the bed."""
    with pytest.raises(TestbedError, match=f"{tmp_path.name}' is not up"):
        control.request(tmp_path / "control.sock", do="status")
