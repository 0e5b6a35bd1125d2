"""Commands to a running bed over its control socket, from inside and outside of the namespaces.

One request a connection: a JSON object on one line, `{"do": "stop", "component": "prometheus"}`; the answer is
`{"ok": true, ...}` or `{"error": "..."}`.
"""

import json
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hack.testbed.errors import TestbedError

Handler = Callable[[dict[str, Any]], dict[str, Any]]


@contextmanager
def _short(path: Path) -> Iterator[str]:
    """Name `path` through its folder's descriptor: the address of a socket has room for 107 bytes only."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


def listen(path: Path) -> socket.socket:
    """Return a listening socket at `path`."""
    path.unlink(missing_ok=True)
    server = socket.socket(socket.AF_UNIX)
    with _short(path) as address:
        server.bind(address)
    path.chmod(0o600)
    server.listen()
    return server


def serve_one(server: socket.socket, handler: Handler) -> None:
    """Accept one connection, answer its request and close it; a client that went away is no error."""
    connection, _ = server.accept()
    connection.settimeout(5)
    with connection, connection.makefile("rw") as stream:
        try:
            stream.write(json.dumps(_answer(stream.readline(), handler)) + "\n")
            stream.flush()
        except OSError:
            return


def _answer(line: str, handler: Handler) -> dict[str, Any]:
    try:
        return {"ok": True, **handler(json.loads(line))}
    except (TestbedError, ValueError, KeyError) as error:
        return {"error": str(error)}


def request(path: Path, *, timeout: float = 120, **command: str) -> dict[str, Any]:
    """Send a command to the bed whose control socket is at `path`; raise TestbedError when it refuses or is down."""
    try:
        with socket.socket(socket.AF_UNIX) as client, _short(path) as address:
            client.settimeout(timeout)
            client.connect(address)
            client.sendall(json.dumps(command).encode() + b"\n")
            answer: dict[str, Any] = json.loads(client.makefile().readline() or '{"error": "the bed went down"}')
    except (FileNotFoundError, ConnectionError) as error:
        raise TestbedError(f"the test bed {path.parent.name!r} is not up") from error
    if "error" in answer:
        raise TestbedError(answer["error"])
    return answer
