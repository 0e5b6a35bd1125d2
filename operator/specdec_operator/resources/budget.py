"""The PodDisruptionBudget: others may take one serving pod at a time, and none while the operator has one out."""

from typing import Any

from specdec_operator.api.objects import SpecDecDeployment
from specdec_operator.resources.ownership import child_metadata, serving_selector


def build_budget(deployment: SpecDecDeployment) -> dict[str, Any]:
    """Build the budget: all pods but one must serve; a single replica may be evicted.

    It counts pods with the serving label, so a pod that the operator has taken out for a switch uses up the one that
    may be missing. Pods that are broken anyway never block a node's drain.
    """
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": child_metadata(deployment),
        "spec": {
            "minAvailable": max(deployment.spec.replicas - 1, 0),
            "selector": {"matchLabels": serving_selector(deployment.metadata.name)},
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        },
    }
