"""Servers that stand between the operator and Prometheus, or in its place: they forward, ask for a login, or hang."""

import shutil
import socket
import ssl
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

Answer = tuple[int, dict[str, str], bytes]
"""Status, headers, body."""
Handle = Callable[[str, dict[str, str]], Answer]
"""From the path with query and the headers (lower-case names) to the answer."""


@contextmanager
def http_server(handle: Handle, certificate: Path | None = None) -> Iterator[str]:
    """Serve answers while the block runs; with TLS when a certificate with its key is given. Yields the address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, extra, body = handle(self.path, headers)
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **extra}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Keep the test output clean."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that refuses the certificate is part of a test."""

    server = Server(("127.0.0.1", 0), Handler)
    scheme = "http"
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        scheme = "https"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"{scheme}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def forwarding(upstream: str, seen: Callable[[str, dict[str, str], bytes], None] = lambda *_: None) -> Handle:
    """Return a handler that asks `upstream`; `seen` gets each query, the request's headers and the answer."""

    def handle(path: str, headers: dict[str, str]) -> Answer:
        try:
            with urllib.request.urlopen(upstream + path, timeout=10) as answer:
                status, body = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            status, body = error.code, error.read()
        query = parse_qs(urlsplit(path).query).get("query", [""])[0]
        seen(query, headers, body)
        return status, {}, body

    return handle


def guarded(handle: Handle, token: Callable[[], str]) -> Handle:
    """Return a handler that asks for a bearer token first."""

    def check(path: str, headers: dict[str, str]) -> Answer:
        if headers.get("authorization") != f"Bearer {token()}":
            return 401, {"Content-Type": "text/html"}, b"<html><body><h1>401</h1>\n token   wanted</body></html>"
        return handle(path, headers)

    return check


@contextmanager
def raw_server(talk: Callable[[socket.socket], None]) -> Iterator[str]:
    """Accept connections and let `talk` do what it likes with each, in a thread of its own."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(0.05)
    ended = threading.Event()
    connections: list[socket.socket] = []

    def accept() -> None:
        while not ended.is_set():
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            connections.append(connection)
            threading.Thread(target=_quietly, args=(talk, connection), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        ended.set()
        thread.join()
        for connection in connections:
            connection.close()
        listener.close()


def _quietly(talk: Callable[[socket.socket], None], connection: socket.socket) -> None:
    try:
        talk(connection)
    except OSError:
        return


def silence(connection: socket.socket) -> None:
    """Take the request and never answer."""
    while connection.recv(4096):
        pass


def drip(connection: socket.socket) -> None:
    """Answer with one byte of the body every 50 ms, for a minute."""
    connection.recv(4096)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1200\r\n\r\n")
    for _ in range(1200):
        connection.sendall(b" ")
        time.sleep(0.05)


def make_certificate(folder: Path) -> Path:
    """Make a self-signed certificate for 127.0.0.1; the file holds the key too."""
    openssl = shutil.which("openssl")
    if openssl is None:
        raise RuntimeError("no openssl in PATH; install the package `openssl` of the distribution")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run([openssl, "req", *kind, *names, *files], check=True, capture_output=True)
    both = folder / "both.pem"
    both.write_bytes(key.read_bytes() + certificate.read_bytes())
    return both
