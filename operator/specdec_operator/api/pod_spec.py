"""`spec.pod`: what the user may say about the pods."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from specdec_operator.api.base import (
    Annotations,
    ApiModel,
    FreeObject,
    Labels,
    MountObject,
    NamedObject,
    ObjectName,
    Quantity,
)
from specdec_operator.api.names import ENGINE_CONTAINER, GROUP, MANAGED_BY_LABEL, OWN_VOLUME_PREFIX
from specdec_operator.api.schema import Rule, UniqueBy, cel

_OWN_LABELS = Rule(
    f"!has(self.labels) || self.labels.all(k, !k.startsWith('{GROUP}/') && k != '{MANAGED_BY_LABEL}')",
    f"pod.labels: keys under {GROUP}/ and {MANAGED_BY_LABEL} belong to the operator; choose other keys",
    ".labels",
)
_OWN_ANNOTATIONS = Rule(
    f"!has(self.annotations) || self.annotations.all(k, !k.startsWith('{GROUP}/'))",
    f"pod.annotations: keys under {GROUP}/ belong to the operator; choose other keys",
    ".annotations",
)
_OWN_CONTAINER = Rule(
    f"!has(self.initContainers) || self.initContainers.all(c, c.name != '{ENGINE_CONTAINER}')",
    f"pod.initContainers: the name {ENGINE_CONTAINER} belongs to the engine's container; choose another name",
    ".initContainers",
)
_OWN_VOLUMES = Rule(
    f"!has(self.volumes) || self.volumes.all(v, !v.name.startsWith('{OWN_VOLUME_PREFIX}'))",
    f"pod.volumes: names beginning with {OWN_VOLUME_PREFIX} belong to the operator; choose another name",
    ".volumes",
)


class PodSpec(ApiModel):
    """What the user may say about the pods; `overrides` is a strategic-merge patch for the rest."""

    model_config = cel(_OWN_LABELS, _OWN_ANNOTATIONS, _OWN_CONTAINER, _OWN_VOLUMES)

    labels: Labels = Field(default_factory=dict)
    """Further labels."""
    annotations: Annotations = Field(default_factory=dict)
    """Further annotations."""
    node_selector: Labels = Field(default_factory=dict)
    """Labels that the node must have."""
    tolerations: Annotated[tuple[FreeObject, ...], Field(max_length=64)] = ()
    """Taints that the pods bear."""
    affinity: FreeObject | None = None
    """Affinity to nodes and pods."""
    topology_spread_constraints: Annotated[tuple[FreeObject, ...], Field(max_length=16)] = ()
    """How the pods spread over zones and nodes."""
    runtime_class_name: ObjectName | None = None
    """RuntimeClass of the pods."""
    priority_class_name: ObjectName | None = None
    """PriorityClass of the pods; one above batch work keeps a freed accelerator from being taken by it."""
    scheduler_name: ObjectName | None = None
    """Scheduler of the pods."""
    service_account_name: ObjectName | None = None
    """ServiceAccount of the pods."""
    image_pull_secrets: Annotated[tuple[NamedObject, ...], Field(max_length=16), UniqueBy("name")] = ()
    """Secrets for the image registry, by name."""
    init_containers: Annotated[tuple[NamedObject, ...], Field(max_length=16), UniqueBy("name")] = ()
    """Containers that run before the engine, for example to fetch weights."""
    volumes: Annotated[tuple[NamedObject, ...], Field(max_length=64), UniqueBy("name")] = ()
    """Further volumes."""
    volume_mounts: Annotated[tuple[MountObject, ...], Field(max_length=64), UniqueBy("mountPath")] = ()
    """Where the engine sees these volumes."""
    security_context: FreeObject | None = None
    """Security context of the pod, over the operator's own (seccomp profile RuntimeDefault)."""
    shared_memory_size: Quantity | None = None
    """Size of /dev/shm. Absent: no bound of its own with several parallel ranks, the runtime's default with one."""
    termination_grace_period_seconds: Annotated[int, Field(ge=30, le=86_400)] | None = None
    """Seconds that a pod has to end. Absent: `rollout.drainTimeout` and 25 seconds around it."""
    overrides: Annotated[FreeObject, Field(max_length=32)] | None = None
    """Strategic-merge patch on the pod template, applied last; refused where it touches what the operator owns."""

    @model_validator(mode="after")
    def _leave_ours_alone(self) -> Self:
        if any(key.startswith(f"{GROUP}/") or key == MANAGED_BY_LABEL for key in self.labels):
            raise ValueError(_OWN_LABELS.message)
        if any(key.startswith(f"{GROUP}/") for key in self.annotations):
            raise ValueError(_OWN_ANNOTATIONS.message)
        if any(container["name"] == ENGINE_CONTAINER for container in self.init_containers):
            raise ValueError(_OWN_CONTAINER.message)
        if any(volume["name"].startswith(OWN_VOLUME_PREFIX) for volume in self.volumes):
            raise ValueError(_OWN_VOLUMES.message)
        return self
