"""The children as the watches last saw them. Pure."""

from collections.abc import Iterable
from typing import NamedTuple

from specdec_operator.adapters.cluster.trim import same
from specdec_operator.api.names import DEPLOYMENT_LABEL
from specdec_operator.ports import ChildKind, Children, JsonObject, Key, is_ours


class Place(NamedTuple):
    """Names one child."""

    kind: ChildKind
    namespace: str
    name: str


def place_of(kind: ChildKind, body: JsonObject) -> Place:
    """Return where the child is."""
    metadata = body["metadata"]
    return Place(kind, metadata["namespace"], metadata["name"])


def key_of(body: JsonObject) -> Key | None:
    """Return the object that a child says it belongs to; None when its label is missing."""
    metadata = body["metadata"]
    name = (metadata.get("labels") or {}).get(DEPLOYMENT_LABEL)
    return Key(metadata["namespace"], name) if name else None


class ChildCache:
    """Trimmed children by the object they belong to. Each change returns the keys whose children differ now."""

    def __init__(self) -> None:
        self._bodies: dict[Place, JsonObject] = {}
        self._places: dict[Key, dict[Place, None]] = {}

    def put(self, kind: ChildKind, body: JsonObject) -> set[Key]:
        """Store a trimmed child."""
        place = place_of(kind, body)
        known = self._bodies.get(place)
        if known is not None and same(known, body):
            self._bodies[place] = body
            return set()
        changed = self._forget(place)
        self._bodies[place] = body
        key = key_of(body)
        if key is not None:
            self._places.setdefault(key, {})[place] = None
            changed.add(key)
        return changed

    def remove(self, kind: ChildKind, body: JsonObject) -> set[Key]:
        """Forget a child that is gone."""
        return self._forget(place_of(kind, body))

    def replace(self, kind: ChildKind, namespace: str | None, bodies: Iterable[JsonObject]) -> set[Key]:
        """Make these the only children of the kind in the namespace (None: in the cluster)."""
        listed = {place_of(kind, body): body for body in bodies}
        gone = [
            place
            for place in self._bodies
            if place.kind is kind and namespace in (None, place.namespace) and place not in listed
        ]
        changed: set[Key] = set()
        for place in gone:
            changed |= self._forget(place)
        for body in listed.values():
            changed |= self.put(kind, body)
        return changed

    def children(self, key: Key) -> Children:
        """Return the children of an object; pods are those that its StatefulSet owns."""
        places = self._places.get(key, {})
        stateful_set = self._named(ChildKind.STATEFUL_SET, key)
        uid = stateful_set["metadata"]["uid"] if stateful_set else None
        pods = [self._bodies[place] for place in places if place.kind is ChildKind.POD]
        return Children(
            stateful_set=stateful_set,
            service=self._named(ChildKind.SERVICE, key),
            budget=self._named(ChildKind.POD_DISRUPTION_BUDGET, key),
            pods=tuple(pod for pod in pods if uid is not None and is_ours(pod, uid)),
        )

    def __len__(self) -> int:
        return len(self._bodies)

    def _named(self, kind: ChildKind, key: Key) -> JsonObject | None:
        place = Place(kind, key.namespace, key.name)
        return self._bodies.get(place) if place in self._places.get(key, {}) else None

    def _forget(self, place: Place) -> set[Key]:
        body = self._bodies.pop(place, None)
        key = key_of(body) if body is not None else None
        if key is None:
            return set()
        places = self._places[key]
        del places[place]
        if not places:
            del self._places[key]
        return {key}
