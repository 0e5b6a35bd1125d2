"""`spec.rollout`, `spec.service` and `spec.metrics`: how pods are switched, reached and measured."""

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from specdec_operator.api.base import Annotations, ApiModel, Duration, Url
from specdec_operator.api.schema import AtLeast, Rule, cel


class MetricsSourceKind(StrEnum):
    """Where the engines' metrics are read."""

    PROMETHEUS = "Prometheus"
    PODS = "Pods"


class RolloutStrategy(StrEnum):
    """Whether an extra replica covers for the one that restarts."""

    IN_PLACE = "InPlace"
    SURGE = "Surge"


class SingleReplica(StrEnum):
    """Whether a single replica may be restarted, which is an outage."""

    HOLD = "Hold"
    RESTART = "Restart"


class ServiceType(StrEnum):
    """Kubernetes Service types that make sense for an engine."""

    CLUSTER_IP = "ClusterIP"
    NODE_PORT = "NodePort"
    LOAD_BALANCER = "LoadBalancer"


_ADDRESS_OF_PROMETHEUS = Rule(
    "!has(self.address) || !has(self.source) || self.source == 'Prometheus'",
    "metrics.address: only source Prometheus has an address; leave it out, or set source to Prometheus",
    ".address",
)


class MetricsSpec(ApiModel):
    """Where this object's metrics are read. Credentials and label names belong to the operator's configuration."""

    model_config = cel(_ADDRESS_OF_PROMETHEUS)

    source: MetricsSourceKind = MetricsSourceKind.PROMETHEUS
    """Prometheus, or the pods themselves."""
    address: Url | None = None
    """A Prometheus of this object's own, honoured only where the operator's configuration allows it."""

    @model_validator(mode="after")
    def _address_fits(self) -> Self:
        if self.address is not None and self.source is not MetricsSourceKind.PROMETHEUS:
            raise ValueError(_ADDRESS_OF_PROMETHEUS.message)
        return self


class CanarySpec(ApiModel):
    """How the first switched pod is judged."""

    duration: Duration = "5m"
    """How long it is compared with the others."""
    minimum_requests: Annotated[int, Field(ge=1, le=1_000_000)] = 50
    """Fewest requests to judge by."""
    maximum_regression_percent: Annotated[int, Field(ge=0, le=100)] = 5
    """Loss in tokens per second per request from which the switch is taken back."""


class DrainSpec(ApiModel):
    """How clients leave a pod."""

    middleware: bool = True
    """Answer `Connection: close` from the moment the pod has left its Service."""


_SURGE_ONE = Rule(
    "!has(self.strategy) || self.strategy != 'Surge' || !has(self.maxUnavailable) || self.maxUnavailable == 1",
    "rollout.maxUnavailable: with strategy Surge one extra replica covers for one restart; set 1 or leave it out",
    ".maxUnavailable",
)


class RolloutSpec(ApiModel):
    """How pods are switched and replaced."""

    model_config = cel(_SURGE_ONE)

    strategy: RolloutStrategy = RolloutStrategy.IN_PLACE
    """InPlace restarts engines in their pods; Surge lets one extra replica cover for the one that restarts."""
    max_unavailable: Annotated[int, Field(ge=1, le=1000)] = 1
    """Most replicas out of service at once by the operator's acts."""
    single_replica: SingleReplica = SingleReplica.HOLD
    """Whether a single replica may be restarted, which is an outage."""
    startup_timeout: Annotated[str, Field(max_length=16), AtLeast("1s")] = "30m"
    """Longest time from the start of an engine until it is ready."""
    drain_timeout: Duration = "10m"
    """Longest wait for running requests to end before an engine restarts."""
    drain: DrainSpec = Field(default_factory=DrainSpec)
    """How clients leave a pod."""
    canary: CanarySpec = Field(default_factory=CanarySpec)
    """How the first switched pod is judged."""

    @model_validator(mode="after")
    def _surge_covers_one(self) -> Self:
        if self.strategy is RolloutStrategy.SURGE and self.max_unavailable != 1:
            raise ValueError(_SURGE_ONE.message)
        return self


class ServiceSpec(ApiModel):
    """The Service in front of the pods."""

    type: ServiceType = ServiceType.CLUSTER_IP
    """Type of the Service."""
    port: Annotated[int, Field(ge=1, le=65_535)] = 8000
    """Port of the Service."""
    annotations: Annotations = Field(default_factory=dict)
    """Annotations of the Service."""
