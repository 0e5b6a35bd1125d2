"""The kinds that this operator reads or writes, and their paths at the API server."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from specdec_operator.api.names import API_VERSION, DEPLOYMENT_KIND, DEPLOYMENT_PLURAL, PROFILE_KIND, PROFILE_PLURAL
from specdec_operator.ports import ChildKind, JsonObject


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind with the plural that its paths use."""

    api_version: str
    kind: str
    plural: str

    def collection(self, namespace: str | None) -> str:
        """Return the path of all objects of a namespace, or of the whole cluster for None."""
        root = "/apis" if "/" in self.api_version else "/api"
        scope = "" if namespace is None else f"/namespaces/{quote(namespace, safe='')}"
        return f"{root}/{self.api_version}{scope}/{self.plural}"

    def item(self, namespace: str, name: str, subresource: str = "") -> str:
        """Return the path of one object, or of one of its subresources."""
        path = f"{self.collection(namespace)}/{quote(name, safe='')}"
        return f"{path}/{subresource}" if subresource else path


DEPLOYMENT: Final = Resource(API_VERSION, DEPLOYMENT_KIND, DEPLOYMENT_PLURAL)
STATEFUL_SET: Final = Resource("apps/v1", ChildKind.STATEFUL_SET.value, "statefulsets")
SERVICE: Final = Resource("v1", ChildKind.SERVICE.value, "services")
BUDGET: Final = Resource("policy/v1", ChildKind.POD_DISRUPTION_BUDGET.value, "poddisruptionbudgets")
POD: Final = Resource("v1", ChildKind.POD.value, "pods")
EVENT: Final = Resource("events.k8s.io/v1", "Event", "events")

WATCHED: Final = {
    ChildKind.STATEFUL_SET: STATEFUL_SET,
    ChildKind.SERVICE: SERVICE,
    ChildKind.POD_DISRUPTION_BUDGET: BUDGET,
    ChildKind.POD: POD,
}

_WRITABLE: Final[Mapping[str, Resource]] = {
    resource.kind: resource
    for resource in (
        STATEFUL_SET,
        SERVICE,
        BUDGET,
        Resource("v1", ChildKind.CONFIG_MAP.value, "configmaps"),
        Resource(API_VERSION, PROFILE_KIND, PROFILE_PLURAL),
    )
}


def resource_of(body: JsonObject) -> Resource:
    """Return the resource that a body to create or to apply belongs to.

    Raises:
        ValueError: the operator does not write this kind.
    """
    resource = _WRITABLE.get(str(body.get("kind")))
    if resource is None or body.get("apiVersion") != resource.api_version:
        known = ", ".join(f"{entry.api_version}/{entry.kind}" for entry in _WRITABLE.values())
        given = f"{body.get('apiVersion')}/{body.get('kind')}"
        raise ValueError(f"kind {given} is none that the operator writes: use one of {known}")
    return resource
