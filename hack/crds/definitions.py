"""The two CustomResourceDefinitions: names, columns and subresources around the generated schemas."""

from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel

from hack.crds.structural import Schema, structural
from specdec_operator.__about__ import __version__
from specdec_operator.api import names
from specdec_operator.api.objects import NAME_RULE
from specdec_operator.api.profile import SpecDecProfileSpec, SpecDecProfileStatus
from specdec_operator.api.schema import Rule
from specdec_operator.api.spec import SpecDecDeploymentSpec
from specdec_operator.api.status import SpecDecDeploymentStatus


@dataclass(frozen=True, slots=True)
class Column:
    """One column of `kubectl get`. Priority 1 shows only with `-o wide`."""

    name: str
    path: str
    type: str = "string"
    description: str = ""
    priority: int = 0

    def as_object(self) -> dict[str, Any]:
        """Return the column as the API server takes it."""
        wide = {"priority": self.priority} if self.priority else {}
        return {
            "name": self.name,
            "type": self.type,
            "description": self.description,
            "jsonPath": self.path,
            **wide,
        }


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of the API group."""

    kind: str
    plural: str
    short: str
    description: str
    spec: type[BaseModel]
    status: type[BaseModel]
    columns: tuple[Column, ...]
    rules: tuple[Rule, ...] = ()
    scalable: bool = False


_AGE: Final = Column("Age", ".metadata.creationTimestamp", "date", "Time since the object was created.")

DEPLOYMENT: Final = Kind(
    kind=names.DEPLOYMENT_KIND,
    plural=names.DEPLOYMENT_PLURAL,
    short="sdd",
    description="SpecDecDeployment runs one model on vLLM engines, with the speculative decoding that pays right now.",
    spec=SpecDecDeploymentSpec,
    status=SpecDecDeploymentStatus,
    columns=(
        Column(
            "Ready", '.status.conditions[?(@.type=="Ready")].status', description="The spec is in force and serves."
        ),
        Column("Method", ".status.active.method", description="What the serving pods run."),
        Column("K", ".status.active.numSpeculativeTokens", "integer", "Tokens drafted a step."),
        Column("Replicas", ".status.replicas", "integer", "Pods that exist."),
        Column("BreakEven", ".status.breakEvenConcurrency", "integer", "Concurrency from which it no longer pays."),
        Column("Switched", ".status.active.since", "date", "Time since the last switch, or the first start."),
        _AGE,
        Column("Running", ".status.signals.concurrency", description="Running requests per engine.", priority=1),
        Column("AcceptLen", ".status.signals.acceptanceLength", description="Tokens per step.", priority=1),
        Column("Reason", ".status.decision.reason", description="Why this method.", priority=1),
        Column("Engine", ".status.engineVersion", description="The vLLM release in force.", priority=1),
    ),
    rules=(NAME_RULE,),
    scalable=True,
)
PROFILE: Final = Kind(
    kind=names.PROFILE_KIND,
    plural=names.PROFILE_PLURAL,
    short="sdp",
    description="SpecDecProfile holds measured speed curves of one model on one kind of hardware.",
    spec=SpecDecProfileSpec,
    status=SpecDecProfileStatus,
    columns=(
        Column("Model", ".spec.model", description="The model that was served."),
        Column("Engine", ".spec.engineVersion", description="vLLM release."),
        Column("Accelerator", ".spec.accelerator", description="Kind of hardware."),
        Column("TP", ".spec.tensorParallelSize", "integer", "Tensor parallel size."),
        Column("Measured", ".spec.measuredAt", "date", "Time since the measurement."),
        _AGE,
    ),
)
KINDS: Final = (DEPLOYMENT, PROFILE)


def definition(kind: Kind) -> dict[str, Any]:
    """Return the whole CustomResourceDefinition of a kind."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{kind.plural}.{names.GROUP}",
            "labels": {"app.kubernetes.io/name": names.MANAGED_BY, "app.kubernetes.io/version": __version__},
        },
        "spec": {
            "group": names.GROUP,
            "scope": "Namespaced",
            "names": {
                "kind": kind.kind,
                "listKind": f"{kind.kind}List",
                "plural": kind.plural,
                "singular": kind.kind.lower(),
                "shortNames": [kind.short],
                "categories": ["specdec"],
            },
            "versions": [_version(kind)],
        },
    }


def _version(kind: Kind) -> dict[str, Any]:
    subresources: dict[str, Any] = {"status": {}}
    if kind.scalable:
        subresources["scale"] = {
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.selector",
        }
    return {
        "name": names.VERSION,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": _root(kind)},
        "subresources": subresources,
        "additionalPrinterColumns": [column.as_object() for column in kind.columns],
    }


def _root(kind: Kind) -> Schema:
    spec = structural(kind.spec, closed_enums=True)
    if kind.scalable:
        spec["properties"]["replicas"]["default"] = 1  # without it an HPA cannot read the scale subresource
    rules = {"x-kubernetes-validations": [rule.as_schema() for rule in kind.rules]} if kind.rules else {}
    return {
        "description": kind.description,
        "type": "object",
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string", "description": "Version of the schema of this object."},
            "kind": {"type": "string", "description": "Kind of this object."},
            "metadata": {"type": "object"},
            "spec": spec,
            "status": structural(kind.status, closed_enums=False),
        },
        **rules,
    }
