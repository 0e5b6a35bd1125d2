"""`spec.engine`: the vLLM that serves the model.

Two rules stand in the CRD only, because `engine/` checks them itself and says more about them: that the release is
known, and that `extraArgs` keeps off the operator's flags.
"""

from typing import Annotated, Self

from pydantic import Field, model_validator

from specdec_operator.api.base import ApiModel, Fraction, FreeObject, LongText, NamedObject
from specdec_operator.api.names import CONFIG_ENVIRONMENT
from specdec_operator.api.owned_flags import OWNED_FLAGS
from specdec_operator.api.schema import Matches, Rule, UniqueBy, cel, quoted

_RELEASE = r"[0-9]+\.[0-9]+\.[0-9]+(?:(?:a|b|rc)[0-9]+)?(?:\.post[0-9]+)?(?:\.dev[0-9]+)?(?:[-+_][-A-Za-z0-9._+]*)?"

EngineVersion = Annotated[
    str,
    Field(min_length=1, max_length=64),
    Matches(_RELEASE, "write a vLLM release without a leading v, such as '0.32.0'"),
]
Image = Annotated[
    str,
    Field(min_length=1, max_length=1024),
    Matches(r"[A-Za-z0-9]\S*", "write an image such as vllm/vllm-openai:v0.32.0, without spaces"),
]
ParallelSize = Annotated[int, Field(ge=1, le=1024)]
Argument = Annotated[str, Field(max_length=4096)]
Environment = Annotated[tuple[NamedObject, ...], Field(max_length=256), UniqueBy("name")]


class Accelerator(ApiModel):
    """The extended resource that each replica takes; count 0 asks for none."""

    resource_name: Annotated[
        str,
        Field(min_length=3, max_length=253),
        Matches(
            r"[a-z0-9][-a-z0-9.]*/[A-Za-z0-9][-A-Za-z0-9_.]*",
            "name an extended resource of the nodes, such as nvidia.com/gpu, amd.com/gpu or nvidia.com/mig-1g.10gb",
        ),
    ] = "nvidia.com/gpu"
    """Name of the extended resource, of any vendor."""
    count: Annotated[int, Field(ge=0, le=1024)] | None = None
    """How many a replica takes. Absent: tensorParallelSize x pipelineParallelSize x dataParallelSize."""


_VERSION_KNOWN = Rule(
    f"has(self.version) || (has(self.image) && self.image.matches({quoted(f':v?{_RELEASE}(?:@|$)')}))",
    "engine.version: name the vLLM release, such as '0.32.0'; it may only be left out where the tag of engine.image "
    "is a release, such as v0.32.0",
    ".version",
)
_ENVIRONMENT_FREE = Rule(
    f"!has(self.env) || self.env.all(e, e.name != '{CONFIG_ENVIRONMENT}')",
    f"engine.env: {CONFIG_ENVIRONMENT} belongs to the operator; use speculation.methods instead",
    ".env",
)


class EngineSpec(ApiModel):
    """The vLLM that serves it. The version decides which rules apply."""

    model_config = cel(_VERSION_KNOWN, _ENVIRONMENT_FREE, *(flags.rule for flags in OWNED_FLAGS))

    version: EngineVersion | None = None
    """vLLM release, such as 0.32.0. Required unless the tag of `image` is a release."""
    image: Image | None = None
    """Container image; digests work. Absent: vllm/vllm-openai:v<version>."""
    command: Annotated[tuple[LongText, ...], Field(max_length=16)] = ()
    """Start of the command line, in exec form. Absent: [vllm, serve]."""
    accelerator: Accelerator | None = None
    """The accelerator of each replica. Absent: nvidia.com/gpu, one for each parallel rank."""
    tensor_parallel_size: ParallelSize = 1
    """Accelerators that share each layer."""
    pipeline_parallel_size: ParallelSize = 1
    """Stages that the layers are spread over."""
    data_parallel_size: ParallelSize = 1
    """Copies of the model inside one replica."""
    max_model_len: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = None
    """Longest sequence in tokens. Absent: the model's own."""
    max_num_seqs: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Most requests in one batch. Absent: vLLM's default."""
    gpu_memory_utilization: Fraction | None = None
    """Share of the accelerator's memory that vLLM takes, such as '0.9'. Absent: vLLM's default."""
    extra_args: Annotated[tuple[Argument, ...], Field(max_length=128)] = ()
    """Further arguments of vLLM, one list entry each. Flags that the operator owns are refused."""
    env: Environment = ()
    """Further environment of the engine, as in a container."""
    env_from: Annotated[tuple[FreeObject, ...], Field(max_length=64)] = ()
    """Sources of further environment, as in a container."""

    @model_validator(mode="after")
    def _environment_is_free(self) -> Self:
        if any(entry["name"] == CONFIG_ENVIRONMENT for entry in self.env):
            raise ValueError(_ENVIRONMENT_FREE.message)
        return self
