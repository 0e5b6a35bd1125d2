"""Kubeconfigs made out of the one that the tests run with."""

import base64
import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml


class Kubeconfigs:
    """Writes kubeconfigs that differ from the given one in server or user."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        base = Path(os.environ["KUBECONFIG"])
        config = yaml.safe_load(base.read_text(encoding="utf-8"))
        self._base = base
        context = _named(config["contexts"], config["current-context"])["context"]
        self._cluster: dict[str, Any] = _named(config["clusters"], context["cluster"])["cluster"]
        self._user: dict[str, Any] = _named(config["users"], context["user"])["user"]

    @property
    def server(self) -> tuple[str, int]:
        """Return host and port of the API server."""
        parts = urlsplit(self._cluster["server"])
        return parts.hostname or "", parts.port or 443

    def authority(self) -> Path:
        """Return a file with the certificate of the API server's authority."""
        return _as_file(self._cluster, "certificate-authority", self._base, self._folder / "ca.crt")

    def through(self, port: int) -> str:
        """Return a kubeconfig of the same user whose server is a proxy on this port."""
        host = self._cluster.get("tls-server-name") or self.server[0]
        cluster = {**self._cluster, "server": f"https://127.0.0.1:{port}", "tls-server-name": host}
        return self.write(f"proxy-{port}", cluster=cluster)

    def with_user(self, name: str, **user: str) -> str:
        """Return a kubeconfig of another user."""
        return self.write(name, user=user)

    def write(self, name: str, *, cluster: dict[str, Any] | None = None, user: dict[str, Any] | None = None) -> str:
        """Write a kubeconfig and return its path."""
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": cluster or self._cluster}],
            "users": [{"name": "u", "user": self._user if user is None else user}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
        }
        path = self._folder / f"{name}.kubeconfig"
        path.write_text(yaml.safe_dump(config), encoding="utf-8")
        return str(path)

    def remove(self, name: str) -> None:
        """Delete a kubeconfig that was written."""
        (self._folder / f"{name}.kubeconfig").unlink()


def _named(entries: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(entry for entry in entries if entry["name"] == name)


def _as_file(entry: dict[str, Any], key: str, base: Path, target: Path) -> Path:
    if f"{key}-data" in entry:
        target.write_bytes(base64.b64decode(entry[f"{key}-data"]))
        return target
    return base.parent / entry[key]
