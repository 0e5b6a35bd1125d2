"""`spec` of a SpecDecDeployment.

Defaults live here and in `docs/reference`, not in the CRD: a default that the API server persists makes
every GitOps tool show the object as out of sync. `replicas` alone is defaulted in the schema, because an
HPA cannot read the scale subresource without it.
"""

from typing import Annotated

from pydantic import Field

from specdec_operator.api.base import ApiModel, FreeObject, LongText, Name40, ShortText
from specdec_operator.api.engine_spec import Accelerator, EngineSpec
from specdec_operator.api.model_spec import (
    EmptyDirCache,
    Hub,
    HubSource,
    ModelCache,
    ModelSpec,
    PerReplicaClaimCache,
    PersistentVolumeClaimCache,
    SecretKeyRef,
)
from specdec_operator.api.pod_spec import PodSpec
from specdec_operator.api.rollout_spec import (
    CanarySpec,
    DrainSpec,
    MetricsSourceKind,
    MetricsSpec,
    RolloutSpec,
    RolloutStrategy,
    ServiceSpec,
    ServiceType,
    SingleReplica,
)
from specdec_operator.api.speculation_spec import (
    BreakEvenSpec,
    MethodSpec,
    PolicySpec,
    ProfileRef,
    ScheduleMode,
    SpeculationMode,
    SpeculationSpec,
    Trigger,
)

__all__ = [
    "Accelerator",
    "BreakEvenSpec",
    "CanarySpec",
    "DrainSpec",
    "EmptyDirCache",
    "EngineSpec",
    "FreeObject",
    "Hub",
    "HubSource",
    "LongText",
    "MethodSpec",
    "MetricsSourceKind",
    "MetricsSpec",
    "ModelCache",
    "ModelSpec",
    "Name40",
    "PerReplicaClaimCache",
    "PersistentVolumeClaimCache",
    "PodSpec",
    "PolicySpec",
    "ProfileRef",
    "RolloutSpec",
    "RolloutStrategy",
    "ScheduleMode",
    "SecretKeyRef",
    "ServiceSpec",
    "ServiceType",
    "ShortText",
    "SingleReplica",
    "SpecDecDeploymentSpec",
    "SpeculationMode",
    "SpeculationSpec",
    "Trigger",
]


class SpecDecDeploymentSpec(ApiModel):
    """`spec` of a SpecDecDeployment: the model, the engine and how it may speculate."""

    suspend: bool = False
    """true: the operator only writes status; what runs keeps running."""
    model: ModelSpec
    """The model that is served."""
    engine: EngineSpec
    """The vLLM that serves it."""
    replicas: Annotated[int, Field(ge=0, le=1000)] = 1
    """How many engines; the scale subresource changes it, the operator never does."""
    resources: FreeObject | None = None
    """Resources of the engine's container, verbatim; the accelerator is added."""
    pod: PodSpec = Field(default_factory=PodSpec)
    """What to change about the pods."""
    speculation: SpeculationSpec = Field(default_factory=SpeculationSpec)
    """How the engines may speculate. Absent: plain decoding."""
    metrics: MetricsSpec = Field(default_factory=MetricsSpec)
    """Where this object's metrics are read."""
    rollout: RolloutSpec = Field(default_factory=RolloutSpec)
    """How pods are switched and replaced."""
    service: ServiceSpec = Field(default_factory=ServiceSpec)
    """The Service in front of the pods."""

    def method(self, name: str) -> MethodSpec | None:
        """Return the method of that name, None for "none" and for unknown names."""
        return next((method for method in self.speculation.methods if method.name == name), None)
