"""What is wrong with the parts of a spec that become the pod: its volumes, environment, resources and name."""

import posixpath
import re
from collections.abc import Iterator
from typing import Any, Final

from specdec_operator.api.conditions import Reason
from specdec_operator.api.spec import SpecDecDeploymentSpec
from specdec_operator.engine.accelerator import accelerator_count, accelerator_name
from specdec_operator.engine.findings import Finding, error, warning
from specdec_operator.engine.owned import DIRECTORIES, ENVIRONMENT

_TOKENS: Final = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "MODELSCOPE_API_TOKEN")
_SHELLS: Final = frozenset({"sh", "bash", "dash", "ash", "zsh"})
_SERVICE_OF_VLLM: Final = re.compile(r"vllm(-.*)?")


def check_pod(spec: SpecDecDeploymentSpec) -> Iterator[Finding]:
    """Yield what would collide with the operator's own parts of the pod."""
    yield from _mounts(spec)
    for index, variable in enumerate(spec.engine.env):
        yield from _variable(spec, variable, f"spec.engine.env[{index}]")
    yield from _resources(spec)
    yield from _command(spec.engine.command)


def check_name(object_name: str) -> Iterator[Finding]:
    """Warn about a name whose Service sets VLLM_* variables in other pods of the namespace.

    Pods of the operator switch these variables off; vLLM pods of others that do not read VLLM_PORT as their own port.
    """
    if _SERVICE_OF_VLLM.fullmatch(object_name):
        variable = f"{object_name.upper().replace('-', '_')}_PORT"
        said = f"a Service called {object_name!r} sets {variable} in other pods, where a vLLM may read it"
        yield warning("metadata.name", said, "choose a name that does not begin with vllm", rule="service-name")


def _command(command: tuple[str, ...]) -> Iterator[Finding]:
    field = "spec.engine.command"
    if any(text.removesuffix(".py").endswith("api_server") for text in command):
        said = "vLLM's api_server module passes over the model given as an argument, and would serve another one"
        yield error(field, said, "leave it out, or end in vllm serve", rule="command")
    elif posixpath.basename(next(iter(command), "")) in _SHELLS:
        said = f"{command[0]!r} is a shell: it keeps SIGTERM from the engine unless it ends in exec"
        yield warning(field, said, 'give the program itself, or end in exec ... "$@"', rule="command")


def _mounts(spec: SpecDecDeploymentSpec) -> Iterator[Finding]:
    for index, mount in enumerate(spec.pod.volume_mounts):
        path = str(mount.get("mountPath", "")).rstrip("/")
        if path in DIRECTORIES:
            said = f"{path} is where the operator mounts a volume of its own"
            field = f"spec.pod.volumeMounts[{index}].mountPath"
            yield error(field, said, "choose another path", rule="volume")


def _variable(spec: SpecDecDeploymentSpec, variable: dict[str, Any], field: str) -> Iterator[Finding]:
    name = str(variable.get("name", ""))
    if name in ENVIRONMENT:
        yield error(field, f"{name} belongs to the operator", ENVIRONMENT[name], rule="environment")
    elif name in _TOKENS and spec.model.token_secret_ref is not None:
        said = f"{name} and model.tokenSecretRef both give the hub's token"
        reason = Reason.CONFLICTING_OPTIONS
        yield error(field, said, "keep model.tokenSecretRef", rule="environment", reason=reason)
    elif name == "PROMETHEUS_MULTIPROC_DIR":
        said = f"{name} names a fixed directory, so an engine that restarts adds to the counters of its last run"
        remedy = "leave it out; vLLM then makes a new directory at each start"
        yield warning(field, said, remedy, rule="metrics-directory")


def _resources(spec: SpecDecDeploymentSpec) -> Iterator[Finding]:
    name, count = accelerator_name(spec), accelerator_count(spec)
    for kind in ("requests", "limits"):
        said = ((spec.resources or {}).get(kind) or {}).get(name)
        if said is not None and str(said) != str(count):
            message = f"{name} is {said} here, and engine.accelerator makes it {count}"
            remedy = "leave it out here, and set engine.accelerator.count"
            field = f"spec.resources.{kind}[{name}]"
            yield error(field, message, remedy, rule="accelerator", reason=Reason.CONFLICTING_OPTIONS)
