"""Every name that is part of the contract with the cluster: group, kinds, labels, annotations."""

from typing import Final

GROUP: Final = "specdec.dev"
VERSION: Final = "v1alpha1"
API_VERSION: Final = f"{GROUP}/{VERSION}"

DEPLOYMENT_KIND: Final = "SpecDecDeployment"
DEPLOYMENT_PLURAL: Final = "specdecdeployments"
PROFILE_KIND: Final = "SpecDecProfile"
PROFILE_PLURAL: Final = "specdecprofiles"

FIELD_MANAGER: Final = "specdec-operator"
"""The one server-side apply field manager of all our writes."""

MANAGED_BY_LABEL: Final = "app.kubernetes.io/managed-by"
MANAGED_BY: Final = "specdec-operator"
DEPLOYMENT_LABEL: Final = f"{GROUP}/deployment"
"""On every child: the name of its SpecDecDeployment."""
SERVING_LABEL: Final = f"{GROUP}/serving"
"""On a pod that its Service may send requests to; the value is always "true"."""

CONFIG_ANNOTATION: Final = f"{GROUP}/speculative-config"
"""On a pod: the JSON of `--speculative-config`, or "null" for plain decoding."""
METHOD_ANNOTATION: Final = f"{GROUP}/method"
"""On a pod: the name in `spec.speculation.methods` that CONFIG_ANNOTATION belongs to, or "none"."""
DRAIN_ANNOTATION: Final = f"{GROUP}/drain-started-at"
"""On a pod that has left its Service: when, in RFC 3339."""
REPLACES_ANNOTATION: Final = f"{GROUP}/replaces-container"
"""On a pod whose method was set: the id of the container that still ran the old one."""
SWITCHED_ANNOTATION: Final = f"{GROUP}/method-set-at"
"""On a pod whose method was set: when, in RFC 3339."""
RESTARTS_ANNOTATION: Final = f"{GROUP}/restarts-when-set"
"""On a pod whose method was set: how often its engine had restarted by then."""
SPEC_HASH_ANNOTATION: Final = f"{GROUP}/spec-hash"
"""On the pod template: digest of the fields of `spec` that only a new pod can take up."""
REQUESTED_AT_ANNOTATION: Final = f"{GROUP}/requestedAt"
"""On a SpecDecDeployment, set by a user: retry now."""
RESTARTED_AT_ANNOTATION: Final = f"{GROUP}/restartedAt"
"""On a SpecDecDeployment, set by a user: restart every engine, one by one."""

NONE_METHOD: Final = "none"
"""The built-in method: plain decoding. No entry of `spec.speculation.methods` may take this name."""

ENGINE_CONTAINER: Final = "engine"
OWN_VOLUME_PREFIX: Final = "specdec-"
"""Names of the operator's own volumes in a pod begin with it."""
CONFIG_ENVIRONMENT: Final = "SPECULATIVE_CONFIG"
