"""The engine of test_engine_pod.py: prints its arguments, answers /health after DELAY seconds, ends on SIGTERM."""

import http.server
import json
import os
import signal
import sys
import time

START = time.monotonic()
DELAY = float(os.environ.get("DELAY", "0"))


class Answer(http.server.BaseHTTPRequestHandler):
    """Answers every path with the method that the engine was started with."""

    def do_GET(self) -> None:
        """Answer."""
        ready = time.monotonic() - START > DELAY
        self.send_response(200 if ready else 503)
        self.end_headers()
        self.wfile.write(os.environ["SPECULATIVE_CONFIG"].encode())

    def log_message(self, *_arguments: object) -> None:
        """Keep quiet."""


def end(*_arguments: object) -> None:
    """Leave at once: nothing runs here."""
    os._exit(0)


signal.signal(signal.SIGTERM, end)
print(json.dumps(sys.argv[1:]), flush=True)
http.server.ThreadingHTTPServer(("0.0.0.0", 8000), Answer).serve_forever()
