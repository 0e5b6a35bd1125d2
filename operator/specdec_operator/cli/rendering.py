"""What `specdec render` prints."""

import json
from typing import Any

import yaml

from specdec_operator.api.names import NONE_METHOD
from specdec_operator.api.objects import SpecDecDeployment
from specdec_operator.cli.documents import UnusableInputError
from specdec_operator.engine.check import check_spec, unsupported
from specdec_operator.engine.findings import Finding
from specdec_operator.engine.render import RenderedMethod, plain_arguments, render_method
from specdec_operator.resources import build_budget, build_service, build_stateful_set


def choose_method(deployment: SpecDecDeployment, name: str | None) -> RenderedMethod | Finding:
    """Render the method `name`, by default the first that the engine supports, else none.

    Returns the finding instead where the engine does not support the method asked for.

    Raises:
        UnusableInputError: if there is no method of that name.
    """
    spec = deployment.spec
    findings = check_spec(spec)
    names = [method.name for method in spec.speculation.methods]
    if name is None:
        name = next((item for item in names if unsupported(findings, item) is None), NONE_METHOD)
    try:
        return unsupported(findings, name) or render_method(spec, name)
    except KeyError as error:
        known = ", ".join((*names, NONE_METHOD))
        raise UnusableInputError(f"--method {name}: there is no such method; use one of {known}") from error


def objects(deployment: SpecDecDeployment, method: RenderedMethod) -> list[dict[str, Any]]:
    """Return the children of the object as the operator applies them; without an owner where the object has no uid."""
    children = [
        build_stateful_set(deployment, method),
        build_service(deployment),
        build_budget(deployment),
    ]
    if not deployment.metadata.uid:
        for child in children:
            del child["metadata"]["ownerReferences"]
    return children


def arguments(deployment: SpecDecDeployment, method: RenderedMethod) -> list[str]:
    """Return the arguments as vLLM gets them, with the method in its place."""
    plain = plain_arguments(deployment.spec, object_name=deployment.metadata.name)
    return [*plain, "--speculative-config", method.config]


def as_yaml(items: list[dict[str, Any]]) -> str:
    """Return the objects as YAML documents."""
    return yaml.safe_dump_all(items, sort_keys=False, width=120, allow_unicode=True).rstrip("\n")


def as_json(items: list[dict[str, Any]]) -> str:
    """Return the objects as one List."""
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=2)
