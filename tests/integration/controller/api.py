"""A few calls to the API server, without the operator's own cluster port."""

from functools import partial
from typing import Any

from specdec_operator.adapters.cluster.config import load_configuration
from specdec_operator.adapters.cluster.transport import Request, Transport
from specdec_operator.ports import ClusterError, Failure

Body = dict[str, Any]
_PREFIX = {
    "sdd": "/apis/specdec.dev/v1alpha1/namespaces/{}/specdecdeployments",
    "statefulset": "/apis/apps/v1/namespaces/{}/statefulsets",
    "service": "/api/v1/namespaces/{}/services",
    "budget": "/apis/policy/v1/namespaces/{}/poddisruptionbudgets",
    "pod": "/api/v1/namespaces/{}/pods",
    "event": "/api/v1/namespaces/{}/events",
}


class Api:
    """Reads and writes as a user of the cluster would."""

    def __init__(self) -> None:
        self._transport = Transport(partial(load_configuration, None), connect=5.0)

    async def open(self) -> None:
        """Connect."""
        await self._transport.open()

    async def close(self) -> None:
        """End all connections."""
        await self._transport.close()

    async def get(self, kind: str, namespace: str, name: str) -> Body | None:
        """Read an object, None when there is none."""
        try:
            return await self.send("GET", self._path(kind, namespace, name))
        except ClusterError as error:
            if error.failure is Failure.NOT_FOUND:
                return None
            raise

    async def list(self, kind: str, namespace: str) -> list[Body]:
        """Read all objects of a namespace."""
        answer = await self.send("GET", self._path(kind, namespace))
        return list(answer["items"])

    async def create(self, kind: str, body: Body) -> Body:
        """Create an object."""
        return await self.send("POST", self._path(kind, body["metadata"]["namespace"]), body=body)

    async def patch(self, kind: str, namespace: str, name: str, change: Body, *, part: str = "") -> Body:
        """Merge a change into an object or, with `part`, into a subresource of it."""
        path = self._path(kind, namespace, name) + (f"/{part}" if part else "")
        return await self.send("PATCH", path, body=change, content_type="application/merge-patch+json")

    async def delete(self, kind: str, namespace: str, name: str, *, grace: int | None = None) -> None:
        """Delete an object; one that is gone is no error."""
        options = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"}
        if grace is not None:
            options["gracePeriodSeconds"] = grace
        try:
            await self.send("DELETE", self._path(kind, namespace, name), body=options)
        except ClusterError as error:
            if error.failure is not Failure.NOT_FOUND:
                raise

    async def send(self, verb: str, path: str, **parts: Any) -> Body:
        """Send any request."""
        query = {} if verb in {"GET", "DELETE"} else {"fieldManager": "somebody"}
        return await self._transport.send(Request(verb=verb, path=path, deadline=10.0, query=query, **parts))

    @staticmethod
    def _path(kind: str, namespace: str, name: str = "") -> str:
        collection = _PREFIX[kind].format(namespace)
        return f"{collection}/{name}" if name else collection
