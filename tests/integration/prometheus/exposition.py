"""A tiny HTTP server that shows engines' metrics: the complete text of a real vLLM with some values replaced."""

import gzip
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "data" / "prometheus"
_SAMPLE = re.compile(r"^(?P<name>vllm:[a-z_]+)\{(?P<labels>[^}]*)\} (?P<value>\S+)$")


def recorded(name: str) -> str:
    """Return the recorded text of an engine: vllm-0.32-none, -ngram or -draft-model."""
    return gzip.decompress((DATA / f"{name}.metrics.gz").read_bytes()).decode()


@dataclass
class Engine:
    """One pod's `/metrics`. Counters grow by `per_second` since they were made; values are fixed texts."""

    text: str = field(default_factory=lambda: recorded("vllm-0.32-ngram"))
    values: dict[str, str] = field(default_factory=dict)
    per_second: dict[str, float] = field(default_factory=dict)
    engine_labels: tuple[str, ...] = ("0",)
    status: int = 200
    since: float = field(default_factory=time.monotonic)

    def render(self) -> str:
        """Return the text as of now, once per engine label."""
        lines = []
        for line in self.text.splitlines():
            match = _SAMPLE.match(line)
            if match is None:
                lines.append(line)
                continue
            for index, label in enumerate(self.engine_labels):
                labels = match["labels"].replace('engine="0"', f'engine="{label}"')
                lines.append(f"{match['name']}{{{labels}}} {self._value(match, index)}")
        return "\n".join(lines) + "\n"

    def _value(self, match: re.Match[str], index: int) -> str:
        name = match["name"]
        fixed = self.values.get(f"{name}#{index}", self.values.get(name))
        if fixed is not None:
            return fixed
        if name in self.per_second:
            elapsed = time.monotonic() - self.since
            return repr(float(match["value"]) + self.per_second[name] * (index + 1) * elapsed)
        return match["value"]


class Exposition:
    """Serves `engines[name]` at `/name/metrics`."""

    def __init__(self) -> None:
        self.engines: dict[str, Engine] = {}
        engines = self.engines

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                engine = engines.get(self.path.split("/")[1])
                body = engine.render().encode() if engine is not None else b""
                self.send_response(engine.status if engine is not None else 404)
                self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Keep the test output clean."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True

    @property
    def address(self) -> str:
        """Return host and port."""
        return f"127.0.0.1:{self._server.server_port}"

    @contextmanager
    def serving(self) -> Iterator["Exposition"]:
        """Serve while the block runs."""
        thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()
