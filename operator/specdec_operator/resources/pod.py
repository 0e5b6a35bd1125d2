"""The pod template: one engine container and what the user added."""

from collections.abc import Sequence
from typing import Any, Final

from specdec_operator.api.names import (
    CONFIG_ANNOTATION,
    ENGINE_CONTAINER,
    METHOD_ANNOTATION,
    SPEC_HASH_ANNOTATION,
)
from specdec_operator.api.objects import SpecDecDeployment
from specdec_operator.api.spec import SpecDecDeploymentSpec
from specdec_operator.engine.accelerator import accelerator_count, accelerator_name
from specdec_operator.engine.render import (
    PORT,
    RenderedMethod,
    literal,
    render_arguments,
)
from specdec_operator.engine.timing import shutdown_timing
from specdec_operator.engine.version import engine_image
from specdec_operator.resources.environment import build_environment
from specdec_operator.resources.overrides import merge_overrides
from specdec_operator.resources.ownership import labels, serving_selector, spec_hash
from specdec_operator.resources.probes import PORT_NAME, liveness_probe, pre_stop, readiness_probe, startup_probe
from specdec_operator.resources.volumes import Volumes

DEFAULT_COMMAND: Final = ("vllm", "serve")


def build_pod_template(deployment: SpecDecDeployment, target: RenderedMethod, volumes: Volumes) -> dict[str, Any]:
    """Build the template; `pod.overrides` is merged into it last."""
    spec = deployment.spec
    name = deployment.metadata.name
    template = {
        "metadata": {
            "labels": {**labels(name), **spec.pod.labels, **serving_selector(name)},
            "annotations": {
                **spec.pod.annotations,
                CONFIG_ANNOTATION: target.config,
                METHOD_ANNOTATION: target.name,
                SPEC_HASH_ANNOTATION: spec_hash(deployment),
            },
        },
        "spec": _pod_spec(spec, name, volumes),
    }
    return template if spec.pod.overrides is None else merge_overrides(template, spec.pod.overrides)


def _pod_spec(spec: SpecDecDeploymentSpec, name: str, volumes: Volumes) -> dict[str, Any]:
    pod = spec.pod
    restricted = pod.security_context is None
    optional = {
        "serviceAccountName": pod.service_account_name,
        "automountServiceAccountToken": False if pod.service_account_name is None else None,
        "nodeSelector": pod.node_selector,
        "tolerations": _plain(pod.tolerations),
        "affinity": pod.affinity,
        "topologySpreadConstraints": _plain(pod.topology_spread_constraints),
        "runtimeClassName": pod.runtime_class_name,
        "priorityClassName": pod.priority_class_name,
        "schedulerName": pod.scheduler_name,
        "imagePullSecrets": _plain(pod.image_pull_secrets),
        "initContainers": _plain(pod.init_containers),
    }
    return {
        "containers": [_engine_container(spec, name, volumes)],
        "volumes": [*volumes.volumes, *_plain(pod.volumes)],
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": shutdown_timing(spec).grace,
        "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}} if restricted else pod.security_context,
        **{key: value for key, value in optional.items() if value is not None and value not in ([], {})},
    }


def _engine_container(spec: SpecDecDeploymentSpec, name: str, volumes: Volumes) -> dict[str, Any]:
    container: dict[str, Any] = {
        "name": ENGINE_CONTAINER,
        "image": engine_image(spec.engine),
        "command": [literal(text) for text in spec.engine.command or DEFAULT_COMMAND],
        "args": list(render_arguments(spec, object_name=name)),
        "env": build_environment(spec, volumes.environment),
        "ports": [{"name": PORT_NAME, "containerPort": PORT, "protocol": "TCP"}],
        "volumeMounts": [*volumes.mounts, *_plain(spec.pod.volume_mounts)],
        "startupProbe": startup_probe(spec.rollout.startup_timeout),
        "livenessProbe": liveness_probe(),
        "readinessProbe": readiness_probe(),
        "lifecycle": {"preStop": pre_stop()},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    resources = build_resources(spec)
    if resources:
        container["resources"] = resources
    if spec.engine.env_from:
        container["envFrom"] = _plain(spec.engine.env_from)
    return container


def build_resources(spec: SpecDecDeploymentSpec) -> dict[str, Any]:
    """Return the container's resources: the user's, with the accelerator in requests and limits."""
    resources = dict(spec.resources or {})
    count = accelerator_count(spec)
    if count == 0:
        return resources
    for kind in ("requests", "limits"):
        resources[kind] = {**(resources.get(kind) or {}), accelerator_name(spec): str(count)}
    return resources


def _plain(items: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [dict(item) for item in items]
