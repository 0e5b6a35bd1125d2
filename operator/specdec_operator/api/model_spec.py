"""`spec.model`: what is served, and where its weights come from."""

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from specdec_operator.api.base import (
    ApiModel,
    LongArgument,
    ModelName,
    ObjectName,
    Quantity,
    ShortArgument,
    Url,
)
from specdec_operator.api.schema import Matches, Rule, cel


class HubSource(StrEnum):
    """Where model names are looked up."""

    HUGGING_FACE = "HuggingFace"
    MODEL_SCOPE = "ModelScope"


class SecretKeyRef(ApiModel):
    """A key of a Secret in the object's namespace; the operator never reads it."""

    name: ObjectName
    """Name of the Secret."""
    key: Annotated[
        str,
        Field(min_length=1, max_length=253),
        Matches(r"[-._A-Za-z0-9]+", "write a key of the Secret: letters, digits, dashes, underscores and dots"),
    ] = "token"
    """Key in the Secret."""


class PersistentVolumeClaimCache(ApiModel):
    """One claim that all replicas share (ReadWriteMany or ReadOnlyMany)."""

    claim_name: ObjectName
    """Name of the claim in the object's namespace."""


class PerReplicaClaimCache(ApiModel):
    """One claim a replica, for ReadWriteOnce storage. It cannot change once the object exists."""

    storage_class_name: ObjectName | None = None
    """Class of the claims. Absent: the cluster's default class."""
    size: Quantity
    """Size of each claim, such as 100Gi."""


class EmptyDirCache(ApiModel):
    """Node-local storage that survives a switch, not a replacement of the pod."""

    size_limit: Quantity | None = None
    """Upper bound, such as 100Gi. Absent: the node's."""


_CACHE_KINDS = Rule(
    "[has(self.persistentVolumeClaim), has(self.perReplicaClaim), has(self.emptyDir)].filter(x, x).size() == 1",
    "model.cache: set exactly one of persistentVolumeClaim, perReplicaClaim and emptyDir, "
    "or leave cache out for an emptyDir",
)


class ModelCache(ApiModel):
    """Where weights are kept: exactly one of the three; `emptyDir` when the field is absent."""

    model_config = cel(_CACHE_KINDS)

    persistent_volume_claim: PersistentVolumeClaimCache | None = None
    """One existing claim that all replicas share."""
    per_replica_claim: PerReplicaClaimCache | None = None
    """One claim a replica, kept when replicas go down and deleted with the object."""
    empty_dir: EmptyDirCache | None = None
    """Storage of the pod itself."""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = (self.persistent_volume_claim, self.per_replica_claim, self.empty_dir)
        if sum(kind is not None for kind in kinds) != 1:
            raise ValueError(_CACHE_KINDS.message)
        return self


class Hub(ApiModel):
    """Air-gapped operation: another endpoint, or none at all."""

    endpoint: Url | None = None
    """Address of a mirror of the hub. Absent: the hub's own."""
    offline: bool = False
    """true: engines never ask the hub; the weights must be in the cache."""
    source: HubSource = HubSource.HUGGING_FACE
    """Where model names are looked up."""


_CLAIM = "has({0}.cache) && has({0}.cache.perReplicaClaim)"
_CLAIM_KEPT = Rule(
    f"({_CLAIM.format('self')}) == ({_CLAIM.format('oldSelf')}) && "
    f"(!({_CLAIM.format('self')}) || self.cache.perReplicaClaim == oldSelf.cache.perReplicaClaim)",
    "model.cache.perReplicaClaim cannot be added, changed or removed later, because the claims of a StatefulSet are "
    "immutable: delete the object and create it anew",
    ".cache",
)


class ModelSpec(ApiModel):
    """The model that is served."""

    model_config = cel(_CLAIM_KEPT)

    name: ModelName
    """Hub id, or absolute path in the container."""
    revision: ShortArgument | None = None
    """Branch, tag or commit on the hub. Absent: the hub's default branch."""
    trust_remote_code: bool = False
    """true: code that comes with the model may run in the engine."""
    served_names: Annotated[tuple[LongArgument, ...], Field(max_length=16)] = ()
    """Names that clients ask for. Absent: `model.name`, or the object's name where that is a path."""
    token_secret_ref: SecretKeyRef | None = None
    """The hub token. It reaches the engine by reference and is never read by the operator."""
    cache: ModelCache | None = None
    """Where weights are kept. Absent: an emptyDir."""
    hub: Hub | None = None
    """Another hub, or none. Absent: Hugging Face."""
