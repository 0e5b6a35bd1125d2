"""Single objects at the API server: read, list, create, apply, patch, delete."""

from collections.abc import Mapping
from typing import Final

from specdec_operator.adapters.cluster.kinds import Resource, resource_of
from specdec_operator.adapters.cluster.ownership import adopted
from specdec_operator.adapters.cluster.timings import Timings
from specdec_operator.adapters.cluster.transport import Request, Transport
from specdec_operator.api.names import FIELD_MANAGER
from specdec_operator.ports import ClusterError, Failure, JsonObject

STEP_MANAGER: Final = f"{FIELD_MANAGER}-steps"
"""Field manager of the patches of single fields: an apply of ours must not take them away again."""
_METADATA_ONLY: Final = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
_PAGE: Final = 500
_ADOPTIONS: Final = 3


class Objects:
    """The verbs, for any kind; every method raises ClusterError."""

    def __init__(self, transport: Transport, timings: Timings) -> None:
        self._transport = transport
        self._timings = timings

    async def read(self, resource: Resource, namespace: str, name: str) -> JsonObject | None:
        """Return one object, None when there is none."""
        return await self._get(resource.item(namespace, name))

    async def list_all(self, resource: Resource, namespace: str | None, selector: str = "") -> list[JsonObject]:
        """Return all objects of a namespace (None: of the cluster), page by page, each with its kind."""
        query = {"limit": str(_PAGE)} | ({"labelSelector": selector} if selector else {})
        path = resource.collection(namespace)
        bodies: list[JsonObject] = []
        while True:
            page = await self._transport.send(Request(verb="GET", path=path, query=query, deadline=self._timings.list))
            head = {"apiVersion": resource.api_version, "kind": resource.kind}
            bodies += [{**head, **item} for item in page.get("items") or ()]
            token = page["metadata"].get("continue")
            if not token:
                return bodies
            query = {**query, "continue": token}

    async def create(self, body: JsonObject) -> JsonObject:
        """Create an object; a field that the server does not know is refused."""
        path = resource_of(body).collection(body["metadata"]["namespace"])
        query = {"fieldManager": FIELD_MANAGER, "fieldValidation": "Strict"}
        return await self.write("POST", path, body, query=query)

    async def apply(self, body: JsonObject) -> JsonObject:
        """Apply on the server; what our create or apply set before and the body leaves out, goes."""
        metadata = body["metadata"]
        path = resource_of(body).item(metadata["namespace"], metadata["name"])
        fenced = await self._adopt(path, body)
        query = {"fieldManager": FIELD_MANAGER, "force": "true", "fieldValidation": "Strict"}
        return await self.write("PATCH", path, fenced, query=query, content_type="application/apply-patch+yaml")

    async def merge(self, path: str, metadata: JsonObject) -> JsonObject:
        """Patch metadata; a uid and a resourceVersion in it are the fence."""
        query = {"fieldManager": STEP_MANAGER}
        body = {"metadata": metadata}
        return await self.write("PATCH", path, body, query=query, content_type="application/merge-patch+json")

    async def write(
        self,
        verb: str,
        path: str,
        body: JsonObject | list[JsonObject],
        *,
        query: Mapping[str, str] | None = None,
        content_type: str = "application/json",
    ) -> JsonObject:
        """Send a body."""
        deadline = self._timings.write
        return await self._transport.send(
            Request(verb=verb, path=path, body=body, query=query or {}, content_type=content_type, deadline=deadline)
        )

    async def _get(self, path: str, accept: str = "application/json") -> JsonObject | None:
        try:
            return await self._transport.send(
                Request(verb="GET", path=path, accept=accept, deadline=self._timings.read)
            )
        except ClusterError as error:
            if error.failure is Failure.NOT_FOUND:
                return None
            raise

    async def _adopt(self, path: str, body: JsonObject) -> JsonObject:
        """Count what we created as applied (see `ownership`); return the body with its fence brought up to date."""
        for attempt in range(_ADOPTIONS):
            answer = await self._get(path, _METADATA_ONLY)
            live = answer["metadata"] if answer else {}
            fields = adopted(live.get("managedFields") or [])
            if fields is None or body["metadata"].get("uid") not in (None, live["uid"]):
                return body
            try:
                written = await self._write_ownership(path, live["resourceVersion"], fields)
            except ClusterError as error:
                # Only bookkeeping is written, so a change in between (mostly of status) is no reason to give up.
                if error.failure is not Failure.CONFLICT or attempt == _ADOPTIONS - 1:
                    raise
                continue
            return _refenced(body, live["resourceVersion"], written["metadata"]["resourceVersion"])
        return body

    async def _write_ownership(self, path: str, version: str, fields: list[JsonObject]) -> JsonObject:
        steps: list[JsonObject] = [
            {"op": "replace", "path": "/metadata/resourceVersion", "value": version},
            {"op": "replace", "path": "/metadata/managedFields", "value": fields},
        ]
        query = {"fieldManager": FIELD_MANAGER}
        return await self.write("PATCH", path, steps, query=query, content_type="application/json-patch+json")


def _refenced(body: JsonObject, before: str, after: str) -> JsonObject:
    """Return the body with the resourceVersion that our own bookkeeping made out of the one it was fenced by."""
    metadata = body["metadata"]
    if metadata.get("resourceVersion") != before:
        return body
    return {**body, "metadata": {**metadata, "resourceVersion": after}}
