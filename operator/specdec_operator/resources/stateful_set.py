"""The StatefulSet: at most one pod for each ordinal, and no pod restarted by a change of the template."""

from typing import Any

from specdec_operator.api.objects import SpecDecDeployment
from specdec_operator.engine.render import RenderedMethod
from specdec_operator.resources.ownership import child_metadata, selector
from specdec_operator.resources.pod import build_pod_template
from specdec_operator.resources.volumes import build_volumes


def build_stateful_set(deployment: SpecDecDeployment, target: RenderedMethod) -> dict[str, Any]:
    """Build the StatefulSet whose new pods start with `target`.

    The spec must have passed `check_spec` without an error for the whole spec.

    Raises:
        ValueError: if the engine version is unknown.
    """
    name = deployment.metadata.name
    volumes = build_volumes(deployment.spec)
    spec: dict[str, Any] = {
        "replicas": deployment.spec.replicas,
        "serviceName": name,
        "podManagementPolicy": "Parallel",
        "updateStrategy": {"type": "OnDelete"},
        "revisionHistoryLimit": 2,
        "selector": {"matchLabels": selector(name)},
        "template": build_pod_template(deployment, target, volumes),
    }
    if volumes.claim_templates:
        spec["volumeClaimTemplates"] = list(volumes.claim_templates)
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": child_metadata(deployment), "spec": spec}
