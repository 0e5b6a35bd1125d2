"""Environment of the engine container."""

from typing import Any

from specdec_operator.api.names import CONFIG_ANNOTATION, CONFIG_ENVIRONMENT
from specdec_operator.api.spec import Hub, HubSource, ModelSpec, SpecDecDeploymentSpec


def build_environment(spec: SpecDecDeploymentSpec, cache_variables: dict[str, str]) -> list[dict[str, Any]]:
    """Return the operator's variables, then the user's; a user's variable takes the place of a default of ours."""
    own: list[dict[str, Any]] = [
        {"name": CONFIG_ENVIRONMENT, "valueFrom": {"fieldRef": _annotation()}},
        *({"name": name, "value": value} for name, value in cache_variables.items()),
        *_hub(spec.model),
    ]
    users = [dict(variable) for variable in spec.engine.env]
    taken = {variable.get("name") for variable in users}
    return [*(variable for variable in own if variable["name"] not in taken), *users]


def _annotation() -> dict[str, str]:
    return {"apiVersion": "v1", "fieldPath": f"metadata.annotations['{CONFIG_ANNOTATION}']"}


def _hub(model: ModelSpec) -> list[dict[str, Any]]:
    hub = model.hub or Hub()
    model_scope = hub.source is HubSource.MODEL_SCOPE
    variables: list[dict[str, Any]] = []
    if model_scope:
        variables.append({"name": "VLLM_USE_MODELSCOPE", "value": "True"})
    if hub.endpoint is not None:
        variables.append(_endpoint(hub.endpoint, model_scope=model_scope))
    if hub.offline:
        variables += [{"name": name, "value": "1"} for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")]
    if model.token_secret_ref is not None:
        reference = {"name": model.token_secret_ref.name, "key": model.token_secret_ref.key}
        name = "MODELSCOPE_API_TOKEN" if model_scope else "HF_TOKEN"
        variables.append({"name": name, "valueFrom": {"secretKeyRef": reference}})
    return variables


def _endpoint(address: str, *, model_scope: bool) -> dict[str, Any]:
    """ModelScope's client puts the scheme before the host itself."""
    if model_scope:
        return {"name": "MODELSCOPE_DOMAIN", "value": address.partition("://")[2]}
    return {"name": "HF_ENDPOINT", "value": address}
