"""`spec` of a SpecDecDeployment.

Defaults live here and in `docs/reference`, not in the CRD: a default that the API server persists makes
every GitOps tool show the object as out of sync. `replicas` alone is defaulted in the schema, because an
HPA cannot read the scale subresource without it.
"""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field, model_validator

from specdec_operator.api.base import ApiModel, Duration, Fraction
from specdec_operator.api.names import NONE_METHOD

Name40 = Annotated[str, Field(min_length=1, max_length=40, pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")]
ShortText = Annotated[str, Field(min_length=1, max_length=253)]
LongText = Annotated[str, Field(min_length=1, max_length=1024)]
FreeObject = dict[str, Any]
"""An object of Kubernetes' own or of vLLM's: schema-free here, checked where it is used."""


class HubSource(StrEnum):
    """Where model names are looked up."""

    HUGGING_FACE = "HuggingFace"
    MODEL_SCOPE = "ModelScope"


class SpeculationMode(StrEnum):
    """Who decides what runs."""

    AUTO = "Auto"
    RECOMMEND = "Recommend"
    PINNED = "Pinned"
    OFF = "Off"


class Trigger(StrEnum):
    """What a switch is decided on."""

    OFFERED_LOAD = "OfferedLoad"
    THRESHOLD = "Threshold"


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


class ScheduleMode(StrEnum):
    """Whether vLLM's K schedule is rendered for a method."""

    AUTO = "Auto"
    OFF = "Off"


class ServiceType(StrEnum):
    """Kubernetes Service types that make sense for an engine."""

    CLUSTER_IP = "ClusterIP"
    NODE_PORT = "NodePort"
    LOAD_BALANCER = "LoadBalancer"


class SecretKeyRef(ApiModel):
    """A key of a Secret in the object's namespace; the operator never reads it."""

    name: ShortText
    key: ShortText = "token"


class PersistentVolumeClaimCache(ApiModel):
    """One claim that all replicas share (ReadWriteMany or ReadOnlyMany)."""

    claim_name: ShortText


class PerReplicaClaimCache(ApiModel):
    """One claim a replica, for ReadWriteOnce storage."""

    storage_class_name: ShortText | None = None
    size: ShortText


class EmptyDirCache(ApiModel):
    """Node-local storage that survives a switch, not a replacement of the pod."""

    size_limit: ShortText | None = None


class ModelCache(ApiModel):
    """Where weights are kept: exactly one of the three; `emptyDir` when the field is absent."""

    persistent_volume_claim: PersistentVolumeClaimCache | None = None
    per_replica_claim: PerReplicaClaimCache | None = None
    empty_dir: EmptyDirCache | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> "ModelCache":
        if len(self.model_fields_set) > 1:
            raise ValueError("set only one of persistentVolumeClaim, perReplicaClaim, emptyDir")
        return self


class Hub(ApiModel):
    """Air-gapped operation: another endpoint, or none at all."""

    endpoint: LongText | None = None
    offline: bool = False
    source: HubSource = HubSource.HUGGING_FACE


class ModelSpec(ApiModel):
    """The model that is served."""

    name: LongText
    revision: ShortText | None = None
    trust_remote_code: bool = False
    served_names: Annotated[tuple[LongText, ...], Field(max_length=16)] = ()
    token_secret_ref: SecretKeyRef | None = None
    cache: ModelCache | None = None
    hub: Hub | None = None


class Accelerator(ApiModel):
    """The extended resource that each replica takes; count 0 asks for none."""

    resource_name: ShortText = "nvidia.com/gpu"
    count: Annotated[int, Field(ge=0, le=1024)] | None = None
    """Default: tensorParallelSize x pipelineParallelSize x dataParallelSize."""


class EngineSpec(ApiModel):
    """The vLLM that serves it. The version decides which rules apply."""

    version: ShortText | None = None
    image: LongText | None = None
    command: Annotated[tuple[LongText, ...], Field(max_length=16)] = ()
    accelerator: Accelerator | None = None
    tensor_parallel_size: Annotated[int, Field(ge=1, le=1024)] = 1
    pipeline_parallel_size: Annotated[int, Field(ge=1, le=1024)] = 1
    data_parallel_size: Annotated[int, Field(ge=1, le=1024)] = 1
    max_model_len: Annotated[int, Field(ge=1)] | None = None
    max_num_seqs: Annotated[int, Field(ge=1)] | None = None
    gpu_memory_utilization: Fraction | None = None
    extra_args: Annotated[tuple[Annotated[str, Field(max_length=4096)], ...], Field(max_length=128)] = ()
    env: Annotated[tuple[FreeObject, ...], Field(max_length=256)] = ()
    env_from: Annotated[tuple[FreeObject, ...], Field(max_length=64)] = ()


class PodSpec(ApiModel):
    """What the user may say about the pods; `overrides` is a strategic-merge patch for the rest."""

    labels: dict[str, str] = Field(default_factory=dict, max_length=64)
    annotations: dict[str, str] = Field(default_factory=dict, max_length=64)
    node_selector: dict[str, str] = Field(default_factory=dict, max_length=64)
    tolerations: Annotated[tuple[FreeObject, ...], Field(max_length=64)] = ()
    affinity: FreeObject | None = None
    topology_spread_constraints: Annotated[tuple[FreeObject, ...], Field(max_length=16)] = ()
    runtime_class_name: ShortText | None = None
    priority_class_name: ShortText | None = None
    scheduler_name: ShortText | None = None
    service_account_name: ShortText | None = None
    image_pull_secrets: Annotated[tuple[FreeObject, ...], Field(max_length=16)] = ()
    init_containers: Annotated[tuple[FreeObject, ...], Field(max_length=16)] = ()
    volumes: Annotated[tuple[FreeObject, ...], Field(max_length=64)] = ()
    volume_mounts: Annotated[tuple[FreeObject, ...], Field(max_length=64)] = ()
    security_context: FreeObject | None = None
    shared_memory_size: ShortText | None = None
    termination_grace_period_seconds: Annotated[int, Field(ge=30, le=86_400)] | None = None
    overrides: FreeObject | None = None


class MethodSpec(ApiModel):
    """One way to speculate: a vLLM method with its drafter and token count K."""

    name: Name40
    method: ShortText
    model: LongText | None = None
    revision: ShortText | None = None
    num_speculative_tokens: Annotated[int, Field(ge=1, le=1024)] | None = None
    draft_tensor_parallel_size: Annotated[int, Field(ge=1, le=1024)] | None = None
    options: FreeObject = Field(default_factory=dict)
    break_even_concurrency: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    expected_acceptance_length: Annotated[str, Field(max_length=8, pattern=r"^[0-9]+(\.[0-9]+)?$")] | None = None
    schedule: ScheduleMode = ScheduleMode.AUTO


class ProfileRef(ApiModel):
    """A SpecDecProfile in the same namespace."""

    name: ShortText


class BreakEvenSpec(ApiModel):
    """Where the break-even of methods without a number of their own comes from."""

    profile_ref: ProfileRef | None = None
    accelerator: Annotated[str, Field(min_length=1, max_length=64)] | None = None


class PolicySpec(ApiModel):
    """When to switch."""

    trigger: Trigger = Trigger.OFFERED_LOAD
    disable_after: Duration = "5m"
    enable_after: Duration = "15m"
    minimum_dwell: Duration = "15m"
    maximum_switches_per_day: Annotated[int, Field(ge=0, le=1000)] = 4
    switch_cost: Duration | None = None
    act_on_priors: bool = False


class SpeculationSpec(ApiModel):
    """Methods in order of preference and the policy that chooses among them and `none`."""

    mode: SpeculationMode = SpeculationMode.AUTO
    pinned: Name40 | None = None
    methods: Annotated[tuple[MethodSpec, ...], Field(max_length=16)] = ()
    break_even: BreakEvenSpec | None = None
    policy: PolicySpec = Field(default_factory=PolicySpec)

    @model_validator(mode="after")
    def _names_fit(self) -> "SpeculationSpec":
        names = [method.name for method in self.methods]
        if len(set(names)) != len(names):
            raise ValueError("names in methods must differ from each other")
        if NONE_METHOD in names:
            raise ValueError('the name "none" stands for plain decoding; give the method another name')
        if self.mode is SpeculationMode.PINNED and self.pinned not in (*names, NONE_METHOD):
            raise ValueError('mode Pinned needs pinned: the name of one of the methods, or "none"')
        return self


class MetricsSpec(ApiModel):
    """Where this object's metrics are read; addresses belong to the operator's own configuration."""

    source: MetricsSourceKind = MetricsSourceKind.PROMETHEUS


class CanarySpec(ApiModel):
    """How the first switched pod is judged."""

    duration: Duration = "5m"
    minimum_requests: Annotated[int, Field(ge=1, le=1_000_000)] = 50
    maximum_regression_percent: Annotated[int, Field(ge=0, le=100)] = 5


class DrainSpec(ApiModel):
    """How clients leave a pod."""

    middleware: bool = True
    """Answer `Connection: close` from the moment the pod has left its Service."""


class RolloutSpec(ApiModel):
    """How pods are switched and replaced."""

    strategy: RolloutStrategy = RolloutStrategy.IN_PLACE
    max_unavailable: Annotated[int, Field(ge=1, le=1000)] = 1
    single_replica: SingleReplica = SingleReplica.HOLD
    startup_timeout: Duration = "30m"
    drain_timeout: Duration = "10m"
    drain: DrainSpec = Field(default_factory=DrainSpec)
    canary: CanarySpec = Field(default_factory=CanarySpec)


class ServiceSpec(ApiModel):
    """The Service in front of the pods."""

    type: ServiceType = ServiceType.CLUSTER_IP
    port: Annotated[int, Field(ge=1, le=65_535)] = 8000
    annotations: dict[str, str] = Field(default_factory=dict, max_length=64)


class SpecDecDeploymentSpec(ApiModel):
    """`spec` of a SpecDecDeployment."""

    suspend: bool = False
    model: ModelSpec
    engine: EngineSpec = Field(default_factory=EngineSpec)
    replicas: Annotated[int, Field(ge=0, le=1000)] = 1
    resources: FreeObject | None = None
    pod: PodSpec = Field(default_factory=PodSpec)
    speculation: SpeculationSpec = Field(default_factory=SpeculationSpec)
    metrics: MetricsSpec = Field(default_factory=MetricsSpec)
    rollout: RolloutSpec = Field(default_factory=RolloutSpec)
    service: ServiceSpec = Field(default_factory=ServiceSpec)

    def method(self, name: str) -> MethodSpec | None:
        """Return the method of that name, None for "none" and for unknown names."""
        return next((method for method in self.speculation.methods if method.name == name), None)
