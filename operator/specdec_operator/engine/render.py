"""Turn a spec into what vLLM is given: the JSON of one method, and the arguments that are the same for all."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from specdec_operator.api.names import CONFIG_ENVIRONMENT, NONE_METHOD
from specdec_operator.api.spec import MethodSpec, ModelSpec, SpecDecDeploymentSpec
from specdec_operator.engine.timing import shutdown_timing
from specdec_operator.engine.version import Feature, require_version

PORT: Final = 8000
"""The port inside the pod; `spec.service.port` is what clients see."""


@dataclass(frozen=True, slots=True)
class RenderedMethod:
    """A method as a pod carries it."""

    name: str
    config: str
    """JSON text of `--speculative-config`; "null" for plain decoding."""
    num_speculative_tokens: int | None


def render_method(spec: SpecDecDeploymentSpec, name: str) -> RenderedMethod:
    """Render one entry of `spec.speculation.methods`, or "none".

    The same method always gives the same text, whatever the order of its options.

    Raises:
        KeyError: if there is no such method.
    """
    if name == NONE_METHOD:
        return RenderedMethod(name=name, config="null", num_speculative_tokens=None)
    method = spec.method(name)
    if method is None:
        raise KeyError(name)
    text = json.dumps(speculative_config(method), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return RenderedMethod(name=name, config=text, num_speculative_tokens=method.num_speculative_tokens)


def speculative_config(method: MethodSpec) -> dict[str, Any]:
    """Return the object given to `--speculative-config`: the options, and over them the typed fields that are set."""
    return {**method.options, **typed_options(method)}


def typed_options(method: MethodSpec) -> dict[str, Any]:
    """Return the keys of `--speculative-config` that have a field of their own, as far as they are set."""
    fields = {
        "method": method.method,
        "model": method.model,
        "revision": method.revision,
        "num_speculative_tokens": method.num_speculative_tokens,
        "draft_tensor_parallel_size": method.draft_tensor_parallel_size,
    }
    return {key: value for key, value in fields.items() if value is not None}


def render_arguments(spec: SpecDecDeploymentSpec, *, object_name: str) -> tuple[str, ...]:
    """Return all arguments after the command, for the `args` of a container (exec form).

    The user's extra arguments come before the operator's, because vLLM takes the last of two equal flags. The method
    is not in it: Kubernetes puts the pod's own value in the place of `$(SPECULATIVE_CONFIG)`.

    Raises:
        ValueError: if the engine version is unknown.
    """
    texts = plain_arguments(spec, object_name=object_name)
    return (*(literal(text) for text in texts), "--speculative-config", f"$({CONFIG_ENVIRONMENT})")


def plain_arguments(spec: SpecDecDeploymentSpec, *, object_name: str) -> tuple[str, ...]:
    """Return the same arguments as vLLM will see them, without `--speculative-config`.

    Raises:
        ValueError: if the engine version is unknown.
    """
    own = (*_model(spec.model, object_name), *_engine(spec), *_shutdown(spec))
    return (spec.model.name, *spec.engine.extra_args, *own)


def literal(text: str) -> str:
    """Protect `text` from Kubernetes' expansion in `command` and `args`.

    `$(NAME)` would be replaced, `$$` would become `$`, and a character outside ASCII after `$` would be torn apart;
    doubling every `$` gives back exactly `text` in all three cases.
    """
    return text.replace("$", "$$")


def served_names(model: ModelSpec, object_name: str) -> tuple[str, ...]:
    """Return the names that clients use: as given, else the hub id, else (for a path) the object's name."""
    if model.served_names:
        return model.served_names
    return (object_name,) if model.name.startswith("/") else (model.name,)


def _model(model: ModelSpec, object_name: str) -> Iterator[str]:
    yield from ("--served-model-name", *served_names(model, object_name))
    if model.revision is not None:
        yield from ("--revision", model.revision)
    if model.trust_remote_code:
        yield "--trust-remote-code"


def _engine(spec: SpecDecDeploymentSpec) -> Iterator[str]:
    engine = spec.engine
    yield from ("--host", "0.0.0.0", "--port", str(PORT))  # noqa: S104 - pods are reached from outside by their address
    for flag, size in (
        ("--tensor-parallel-size", engine.tensor_parallel_size),
        ("--pipeline-parallel-size", engine.pipeline_parallel_size),
        ("--data-parallel-size", engine.data_parallel_size),
    ):
        if size > 1:
            yield from (flag, str(size))
    for flag, value in (
        ("--max-model-len", engine.max_model_len),
        ("--max-num-seqs", engine.max_num_seqs),
        ("--gpu-memory-utilization", engine.gpu_memory_utilization),
    ):
        if value is not None:
            yield from (flag, str(value))


def _shutdown(spec: SpecDecDeploymentSpec) -> Iterator[str]:
    if require_version(spec.engine).has(Feature.SHUTDOWN_TIMEOUT):
        yield from ("--shutdown-timeout", str(shutdown_timing(spec).drain))
