"""A few calls to the API server as administrator; standard library only, so that a bed starts fast."""

import json
import ssl
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from hack.testbed import net


class Api:
    """The bed's API server, authenticated with the administrator's certificate."""

    def __init__(self, pki: Path) -> None:
        self._context = ssl.create_default_context(cafile=str(pki / "ca.crt"))
        self._context.load_cert_chain(pki / "admin.crt", pki / "admin.key")

    def ready(self, base: str = net.API_URL) -> bool:
        """Say whether the API server answers /readyz."""
        return self._try("GET", f"{base}/readyz") is not None

    def get(self, path: str) -> dict[str, Any] | None:
        """Return the object at `path`; None when there is none or no answer."""
        answer = self._try("GET", net.API_URL + path)
        return None if answer is None else json.loads(answer)

    def create(self, path: str, body: dict[str, Any]) -> None:
        """Create an object; one that exists already stays."""
        try:
            self._call("POST", net.API_URL + path, json.dumps(body).encode(), "application/json")
        except urllib.error.HTTPError as error:
            if error.code != 409:
                raise

    def patch(self, path: str, operations: list[dict[str, Any]]) -> None:
        """Apply a JSON patch."""
        self._call("PATCH", net.API_URL + path, json.dumps(operations).encode(), "application/json-patch+json")

    def _try(self, method: str, url: str) -> bytes | None:
        try:
            return self._call(method, url)
        except OSError:
            return None

    def _call(self, method: str, url: str, body: bytes | None = None, content_type: str = "") -> bytes:
        headers = {"Content-Type": content_type} if body else {}
        request = urllib.request.Request(url, data=body, method=method, headers=headers)  # noqa: S310 - fixed scheme
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=self._context)
        )
        with opener.open(request, timeout=5) as answer:
            content: bytes = answer.read()
            return content
