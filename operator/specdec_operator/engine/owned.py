"""What in a pod belongs to the operator: names and paths that objects are built with and that no user may take."""

from collections.abc import Mapping
from typing import Final

from specdec_operator.api.names import CONFIG_ENVIRONMENT

INFO_DIRECTORY: Final = "/etc/specdec"
CACHE_DIRECTORY: Final = "/var/cache/specdec"
COMPILE_DIRECTORY: Final = "/var/cache/specdec-compile"
TEMPORARY_DIRECTORY: Final = "/var/tmp/specdec"  # noqa: S108 - a volume of the pod's own
DIRECTORIES: Final = (INFO_DIRECTORY, CACHE_DIRECTORY, COMPILE_DIRECTORY, TEMPORARY_DIRECTORY)

ENGINE_FIELDS: Final[Mapping[str, str]] = {
    "image": "use engine.image",
    "command": "use engine.command",
    "args": "use engine.extraArgs",
    "env": "use engine.env",
    "envFrom": "use engine.envFrom",
    "resources": "use resources",
    "volumeMounts": "use pod.volumeMounts",
    "ports": "clients use service.port; inside the pod it is always 8000",
    "lifecycle": "use pod.terminationGracePeriodSeconds",
    "startupProbe": "use rollout.startupTimeout",
    "restartPolicy": "leave it out: the kubelet restarts the engine for each switch",
}
"""Fields of the engine container that `pod.overrides` may not touch, and what to do instead."""

LIVENESS_FIELDS: Final = frozenset({"timeoutSeconds", "periodSeconds", "failureThreshold"})
"""The fields of the liveness probe that it may: the rest compares the method and restarts the engine."""

POD_FIELDS: Final[Mapping[str, str]] = {
    "enableServiceLinks": "leave it out: links of other Services would set VLLM_* variables",
    "terminationGracePeriodSeconds": "use pod.terminationGracePeriodSeconds",
    "restartPolicy": "leave it out: the kubelet restarts the engine for each switch",
    "hostname": "leave it out: the StatefulSet names its pods",
    "subdomain": "leave it out: the StatefulSet names its pods",
    "nodeName": "use pod.nodeSelector or pod.affinity",
}
"""Fields of the pod that `pod.overrides` may not touch, and what to do instead."""

ENVIRONMENT: Final[Mapping[str, str]] = {CONFIG_ENVIRONMENT: "use speculation.methods"}
"""Variables that `engine.env` may not set, and what to do instead."""
