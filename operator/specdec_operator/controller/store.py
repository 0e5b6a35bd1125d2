"""The objects as the watch last saw them: only to decide whether to look live."""

from collections.abc import Iterator
from contextlib import contextmanager

from specdec_operator.api.conditions import ConditionType
from specdec_operator.api.status import RolloutKind
from specdec_operator.ports import JsonObject, Key


class ObjectStore:
    """The last seen body of each SpecDecDeployment."""

    def __init__(self) -> None:
        self._bodies: dict[Key, JsonObject] = {}
        self._switching: set[Key] = set()
        self._reserved: set[Key] = set()

    def __len__(self) -> int:
        """Count the objects."""
        return len(self._bodies)

    def __iter__(self) -> Iterator[Key]:
        """Iterate over the keys as they are now; the store may change meanwhile."""
        return iter(tuple(self._bodies))

    def put(self, key: Key, body: JsonObject) -> None:
        """Keep a body without `managedFields`, which are half of its size and never read here."""
        metadata = {name: value for name, value in body["metadata"].items() if name != "managedFields"}
        self._bodies[key] = {**body, "metadata": metadata}
        (self._switching.add if _is_switching(body) else self._switching.discard)(key)

    def remove(self, key: Key) -> None:
        """Drop an object that is gone."""
        self._bodies.pop(key, None)
        self._switching.discard(key)

    def get(self, key: Key) -> JsonObject | None:
        """Return the last seen body, None when there is none."""
        return self._bodies.get(key)

    def namespaces(self) -> frozenset[str]:
        """Return the namespaces that hold at least one object."""
        return frozenset(key.namespace for key in self._bodies)

    def switching_elsewhere(self, key: Key) -> int:
        """Count the other objects that have a switch on their way, or are just about to record one."""
        return len((self._switching | self._reserved) - {key})

    @contextmanager
    def reserving(self, key: Key, *, switch: bool) -> Iterator[None]:
        """Count the object as switching while its status is being written, if a switch starts with that write."""
        if switch:
            self._reserved.add(key)
        try:
            yield
        finally:
            self._reserved.discard(key)


def _is_switching(body: JsonObject) -> bool:
    """A switch that is not getting on, or that only a human can get going, must not keep all others from switching."""
    spec, status = body.get("spec") or {}, body.get("status") or {}
    if spec.get("suspend") or spec.get("replicas") == 0:
        return False
    conditions = {found.get("type"): found.get("status") for found in status.get("conditions") or ()}
    resting = conditions.get(ConditionType.SWITCHING, "True") != "True"
    stalled = conditions.get(ConditionType.STALLED) == "True"
    return (status.get("rollout") or {}).get("kind") == RolloutKind.SWITCH and not resting and not stalled
