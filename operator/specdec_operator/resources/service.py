"""The Service in front of the engines."""

from typing import Any

from specdec_operator.api.objects import SpecDecDeployment
from specdec_operator.resources.ownership import child_metadata, serving_selector
from specdec_operator.resources.probes import PORT_NAME


def build_service(deployment: SpecDecDeployment) -> dict[str, Any]:
    """Build the Service: it sends requests to pods that carry the serving label and are ready."""
    service = deployment.spec.service
    metadata = child_metadata(deployment)
    if service.annotations:
        metadata["annotations"] = dict(service.annotations)
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata,
        "spec": {
            "type": service.type.value,
            "selector": serving_selector(deployment.metadata.name),
            "publishNotReadyAddresses": False,
            "ports": [{"name": PORT_NAME, "port": service.port, "targetPort": PORT_NAME, "protocol": "TCP"}],
        },
    }
