"""The CRDs keep to the Kubernetes API conventions, as kube-api-linter checks them for Go types.

The documented exceptions: durations and decimals are texts (the conventions know no floats), and some objects of
Kubernetes' own or of vLLM's are schema-free.
"""

import json
import re
from typing import Any

import pytest
import yaml
from hack.crds.structural import walk
from tests.contract.crds.cases import ROOT

CRDS: dict[str, dict[str, Any]] = {
    path.stem.partition("_")[2]: yaml.safe_load(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "crds").glob("*.yaml"))
}
VERSIONS = {name: crd["spec"]["versions"][0] for name, crd in CRDS.items()}
SCHEMAS = {name: version["schema"]["openAPIV3Schema"] for name, version in VERSIONS.items()}
NODES = {
    name: [(path, node) for path, node in walk(schema) if path.startswith(("spec", "status"))]
    for name, schema in SCHEMAS.items()
}
FREE = {
    "spec.engine.env[]",
    "spec.engine.envFrom[]",
    "spec.pod.affinity",
    "spec.pod.imagePullSecrets[]",
    "spec.pod.initContainers[]",
    "spec.pod.overrides",
    "spec.pod.securityContext",
    "spec.pod.tolerations[]",
    "spec.pod.topologySpreadConstraints[]",
    "spec.pod.volumeMounts[]",
    "spec.pod.volumes[]",
    "spec.resources",
    "spec.speculation.methods[].options",
}
BOOLEANS = {
    "spec.model.hub.offline",
    "spec.model.trustRemoteCode",
    "spec.rollout.drain.middleware",
    "spec.speculation.policy.actOnPriors",
    "spec.suspend",
}
STRUCTURAL = {
    "description", "type", "format", "enum", "pattern", "minLength", "maxLength", "minimum", "maximum", "minItems",
    "maxItems", "maxProperties", "properties", "additionalProperties", "items", "required", "default",
    "x-kubernetes-preserve-unknown-fields", "x-kubernetes-list-type", "x-kubernetes-list-map-keys",
    "x-kubernetes-validations",
}  # fmt: skip

Node = dict[str, Any]

each_crd = pytest.mark.parametrize("name", CRDS)


@each_crd
def test_only_keywords_of_a_structural_schema(name: str) -> None:
    """No reference, alternative, null, closed object or other keyword that a CRD does not take."""
    assert {keyword for _, node in NODES[name] for keyword in node} <= STRUCTURAL
    assert {node["type"] for _, node in NODES[name]} <= {"object", "array", "string", "integer", "boolean"}


@each_crd
def test_every_field_says_what_it_means(name: str) -> None:
    """`kubectl explain` has a sentence for each field."""
    fields = {path: node for path, node in NODES[name] if not path.endswith(("[]", "{}"))}

    assert [path for path, node in fields.items() if not node.get("description", "").endswith(".")] == []


@each_crd
def test_names_are_camel_case(name: str) -> None:
    """Fields begin with a lower-case letter, and none is called phase."""
    fields = {field for _, node in NODES[name] for field in node.get("properties", {})}

    assert [field for field in fields if not re.fullmatch(r"[a-z][a-zA-Z0-9]*", field)] == []
    assert "phase" not in fields


def is_bounded(node: Node) -> bool:
    """Say whether a text, list, map or number has limits."""
    match node["type"]:
        case "string":
            return "maxLength" in node or "enum" in node
        case "array":
            return "maxItems" in node
        case "integer":
            fits = node["maximum"] <= 2**31 - 1 if node["format"] == "int32" else node["format"] == "int64"
            return fits and "minimum" in node
        case _:
            return "additionalProperties" not in node or "maxProperties" in node


@each_crd
def test_everything_has_bounds(name: str) -> None:
    """Limits on everything also bound the cost of the rules."""
    assert [path for path, node in NODES[name] if not is_bounded(node)] == []


@each_crd
def test_lists_say_how_they_merge(name: str) -> None:
    """Every list is atomic or merged by a required key, for server-side apply."""
    lists = {path: node for path, node in NODES[name] if node["type"] == "array"}
    keyed = {path: node for path, node in lists.items() if node["x-kubernetes-list-type"] == "map"}

    assert {node["x-kubernetes-list-type"] for node in lists.values()} <= {"atomic", "map"}
    for node in keyed.values():
        assert set(node["x-kubernetes-list-map-keys"]) <= set(node["items"]["required"])


@each_crd
def test_rules_have_static_messages(name: str) -> None:
    """A rule says what to do instead; a computed message would cost more than the limit."""
    rules = [rule for _, node in walk(SCHEMAS[name]) for rule in node.get("x-kubernetes-validations", ())]

    assert [rule for rule in rules if "messageExpression" in rule or len(rule.get("message", "")) < 20] == []


@each_crd
def test_only_replicas_has_a_default(name: str) -> None:
    """A default that the API server persists would make GitOps tools show the object as out of sync."""
    defaults = {path: node["default"] for path, node in walk(SCHEMAS[name]) if "default" in node}

    assert defaults == ({"spec.replicas": 1} if name == "specdecdeployments" else {})


@each_crd
def test_enums_are_pascal_case(name: str) -> None:
    """Values of enums begin with a capital letter."""
    values = {value for _, node in NODES[name] for value in node.get("enum", ())}

    assert [value for value in values if not re.fullmatch(r"[A-Z][a-zA-Z]*", value)] == []


def test_schema_free_objects_are_the_documented_ones() -> None:
    """Objects of Kubernetes' own and of vLLM's are schema-free, and nothing else."""
    free = {
        path
        for schema in SCHEMAS.values()
        for path, node in walk(schema)
        if "x-kubernetes-preserve-unknown-fields" in node
    }

    assert free == FREE


def test_booleans_are_few_and_known() -> None:
    """A choice between two things that may become three is an enum; a new boolean is a decision."""
    found = {path for schema in SCHEMAS.values() for path, node in walk(schema) if node.get("type") == "boolean"}

    assert found == BOOLEANS


@each_crd
def test_conditions_are_merged_by_type(name: str) -> None:
    """Conditions are metav1.Condition: one for each type, with five required fields."""
    conditions = SCHEMAS[name]["properties"]["status"]["properties"]["conditions"]

    assert conditions["x-kubernetes-list-map-keys"] == ["type"]
    assert {"type", "status", "reason", "message", "lastTransitionTime"} == set(conditions["items"]["required"])
    assert conditions["items"]["properties"]["status"]["enum"] == ["True", "False", "Unknown"]


@each_crd
def test_nothing_in_a_status_is_a_closed_enum(name: str) -> None:
    """A newer operator's word must not make an older CRD refuse all that is written with it."""
    status = SCHEMAS[name]["properties"]["status"]
    closed = {path for path, node in walk(status, "status") if "enum" in node}

    assert closed == {"status.conditions[].status"}


@each_crd
def test_status_is_a_subresource(name: str) -> None:
    """Only the status endpoint writes `status`, and it changes no generation."""
    assert VERSIONS[name]["subresources"]["status"] == {}


@each_crd
def test_columns_and_scale_read_fields_that_exist(name: str) -> None:
    """Each column of `kubectl get` and each path of the scale subresource leads to a field of the schema."""
    paths = [column["jsonPath"] for column in VERSIONS[name]["additionalPrinterColumns"]]
    paths += VERSIONS[name]["subresources"].get("scale", {}).values()
    known = {path for path, _ in walk(SCHEMAS[name])} | {"metadata.creationTimestamp"}

    assert {re.sub(r"\[\?\(.*?\)\]", "[]", path).removeprefix(".") for path in paths} <= known


@each_crd
def test_the_definition_can_be_applied_by_kubectl(name: str) -> None:
    """Client-side apply keeps a copy in an annotation, which may have 256 KiB."""
    assert len(json.dumps(CRDS[name])) < 200_000


def test_the_columns_are_the_agreed_ones() -> None:
    """`kubectl get sdd` shows seven columns, `-o wide` four more."""
    columns = VERSIONS["specdecdeployments"]["additionalPrinterColumns"]
    plain = [column["name"] for column in columns if not column.get("priority")]
    wide = [column["name"] for column in columns if column.get("priority")]

    assert plain == ["Ready", "Method", "K", "Replicas", "BreakEven", "Switched", "Age"]
    assert wide == ["Running", "AcceptLen", "Reason", "Engine"]
