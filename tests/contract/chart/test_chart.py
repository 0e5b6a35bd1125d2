"""What the chart installs."""

import json
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from tests.contract.chart.conftest import CHART, Helm, Objects
from tests.contract.crds.cases import ROOT

from specdec_operator.__about__ import __version__

Render = Callable[..., Objects]
NAME = "sdo-specdec-operator"
TEXTS = {
    "quotes": "\"double\" and 'single'",
    "colon": "a: b # c",
    "template": "{{ not a template }}",
    "dash": "- leading",
    "empty": "",
    "unicode": "naïve ✓ 東京",
    "json": '{"temperature": 0.6}',
    "lines": "one\ntwo\n",
    "number": "007",
    "bool": "yes",
    "dollar": "$(HOME) $$ ${x}",
}


def kinds(objects: Objects) -> set[str]:
    """Return the kinds of rendered objects."""
    return {kind for kind, _, _ in objects}


def container(objects: Objects) -> dict[str, Any]:
    """Return the operator's container."""
    return objects["Deployment", "ops", NAME]["spec"]["template"]["spec"]["containers"][0]


def configuration(objects: Objects) -> dict[str, Any]:
    """Return the operator's configuration file."""
    return yaml.safe_load(objects["ConfigMap", "ops", NAME]["data"]["config.yaml"])


def test_versions_are_those_of_the_package() -> None:
    """Chart, application and package have one version number."""
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))

    assert (chart["version"], chart["appVersion"]) == (__version__, __version__)


@pytest.mark.parametrize("values", [{}, {"namespaces": ["a", "b"]}, {"podMonitor": {"enabled": True}}])
def test_lint_has_nothing_to_say(helm: Helm, values: dict[str, Any]) -> None:
    """`helm lint --strict` passes."""
    done = helm("lint", "--strict", str(CHART), values=values)

    assert done.returncode == 0, done.stdout + done.stderr


def test_every_value_is_in_the_schema_and_described() -> None:
    """The schema names exactly the values of values.yaml, at every level that it closes."""
    schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))

    def compare(node: dict[str, Any], value: dict[str, Any], path: str) -> None:
        assert node["additionalProperties"] is False, path
        assert set(node["properties"]) - {"global"} == set(value), path
        for name, child in node["properties"].items():
            if "properties" in child:
                compare(child, value[name], f"{path}.{name}")
            else:
                assert child["description"].endswith("."), f"{path}.{name}"

    compare(schema, values, "")


def test_by_default_it_works_in_the_whole_cluster(render: Render) -> None:
    """Without namespaces there is one ClusterRole, and no Role."""
    assert set(render()) == {
        ("ClusterRole", "", NAME),
        ("ClusterRoleBinding", "", NAME),
        ("ConfigMap", "ops", NAME),
        ("CustomResourceDefinition", "", "specdecdeployments.specdec.dev"),
        ("CustomResourceDefinition", "", "specdecprofiles.specdec.dev"),
        ("Deployment", "ops", NAME),
        ("ServiceAccount", "ops", NAME),
    }


def test_with_namespaces_nothing_is_cluster_wide_but_the_crds(render: Render) -> None:
    """Each namespace gets a Role and a binding; the operator has no right elsewhere."""
    objects = render({"namespaces": ["team-a", "team-b"]})
    cluster_wide = {kind for kind, namespace, _ in objects if not namespace}
    roles = {namespace for kind, namespace, _ in objects if kind == "Role"}
    bindings = {namespace for kind, namespace, _ in objects if kind == "RoleBinding"}

    assert cluster_wide == {"CustomResourceDefinition"}
    assert roles == bindings == {"team-a", "team-b"}
    assert configuration(objects)["namespaces"] == ["team-a", "team-b"]


@pytest.mark.parametrize("values", [{}, {"namespaces": ["ops"]}])
def test_bindings_name_the_role_and_the_service_account(render: Render, values: dict[str, Any]) -> None:
    """The account of the pod is the one that has the rights."""
    objects = render(values)
    binding = next(body for (kind, _, _), body in objects.items() if kind.endswith("RoleBinding"))
    role = next(body for (kind, _, _), body in objects.items() if kind in {"Role", "ClusterRole"})
    pod = objects["Deployment", "ops", NAME]["spec"]["template"]["spec"]

    assert (binding["roleRef"]["kind"], binding["roleRef"]["name"]) == (role["kind"], role["metadata"]["name"])
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": pod["serviceAccountName"], "namespace": "ops"}]


RIGHTS = {
    ("", "pods"): {"get", "list", "watch", "patch", "delete"},
    ("", "services"): {"get", "list", "watch", "create", "patch"},
    ("apps", "statefulsets"): {"get", "list", "watch", "create", "patch"},
    ("events.k8s.io", "events"): {"create"},
    ("policy", "poddisruptionbudgets"): {"get", "list", "watch", "create", "patch"},
    ("specdec.dev", "specdecdeployments"): {"get", "list", "watch"},
    ("specdec.dev", "specdecdeployments/status"): {"update"},
}


def rights(role: dict[str, Any]) -> dict[tuple[str, str], set[str]]:
    """Return the verbs of a role by (group, resource)."""
    return {
        (group, resource): set(rule["verbs"])
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }


def test_rights_are_exactly_the_needed_ones(render: Render) -> None:
    """No wildcard, no Secret, no write to a spec of ours; a new right is a decision."""
    in_namespace = rights(render({"namespaces": ["a"]})["Role", "a", NAME])
    in_cluster = rights(render()["ClusterRole", "", NAME])

    assert in_namespace == in_cluster == RIGHTS


def test_roles_can_be_left_to_others(render: Render) -> None:
    """rbac.create=false and serviceAccount.create=false render neither, and use the account that is named."""
    objects = render({"rbac": {"create": False}, "serviceAccount": {"create": False, "name": "mine"}})

    assert kinds(objects) == {"ConfigMap", "CustomResourceDefinition", "Deployment"}
    assert objects["Deployment", "ops", NAME]["spec"]["template"]["spec"]["serviceAccountName"] == "mine"


def test_crds_are_the_committed_ones(render: Render) -> None:
    """Helm installs what `kubectl apply -f crds` does, and keeps it on uninstall."""
    objects = render()
    for path in sorted((ROOT / "crds").glob("*.yaml")):
        committed = yaml.safe_load(path.read_text(encoding="utf-8"))
        rendered = objects["CustomResourceDefinition", "", committed["metadata"]["name"]]

        assert rendered["metadata"].pop("annotations") == {"helm.sh/resource-policy": "keep"}
        assert rendered == committed


def test_crds_can_go_with_the_chart(render: Render) -> None:
    """crds.keep=false lets an uninstall remove them."""
    objects = render({"crds": {"keep": False}})

    assert "annotations" not in objects["CustomResourceDefinition", "", "specdecdeployments.specdec.dev"]["metadata"]


def test_crds_can_be_left_out(render: Render) -> None:
    """crds.install=false renders no CRD."""
    assert "CustomResourceDefinition" not in kinds(render({"crds": {"install": False}}))


def test_the_pod_is_restricted(render: Render) -> None:
    """The pod meets the restricted Pod Security Standard and cannot write to its image."""
    pod = render()["Deployment", "ops", NAME]["spec"]["template"]["spec"]
    container_context = pod["containers"][0]["securityContext"]

    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] == 65532
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container_context["allowPrivilegeEscalation"] is False
    assert container_context["readOnlyRootFilesystem"] is True
    assert container_context["capabilities"] == {"drop": ["ALL"]}


def test_there_is_one_operator_at_a_time(render: Render) -> None:
    """The old pod ends before the new one starts."""
    spec = render()["Deployment", "ops", NAME]["spec"]

    assert (spec["replicas"], spec["strategy"]) == (1, {"type": "Recreate"})


def test_the_command_reads_the_mounted_configuration(render: Render) -> None:
    """Command, mount, probes and port fit each other, also on another port."""
    objects = render({"config": {"httpPort": 9090}})
    operator = container(objects)

    assert operator["command"] == ["python3", "-m", "specdec_operator"]
    assert operator["args"] == ["--config", "/etc/specdec-operator/config.yaml"]
    assert {"name": "config", "mountPath": "/etc/specdec-operator", "readOnly": True} in operator["volumeMounts"]
    assert operator["ports"] == [{"name": "http", "containerPort": 9090, "protocol": "TCP"}]
    assert configuration(objects)["httpPort"] == 9090
    assert operator["livenessProbe"]["httpGet"] == {"path": "/healthz", "port": "http"}
    assert operator["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "http"}


def test_a_changed_configuration_restarts_the_operator(render: Render) -> None:
    """The pod's annotation is a digest of the configuration."""

    def digest(values: dict[str, Any]) -> str:
        template = render(values)["Deployment", "ops", NAME]["spec"]["template"]
        return template["metadata"]["annotations"]["checksum/config"]

    assert digest({}) == digest({"podLabels": {"a": "b"}})
    assert digest({}) != digest({"config": {"tickSeconds": 30}})


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ({}, f"specdec.dev/specdec-operator:{__version__}"),
        ({"repository": "r.example.com:5000/x", "tag": "dev"}, "r.example.com:5000/x:dev"),
        ({"tag": "dev", "digest": f"sha256:{'0' * 64}"}, f"specdec.dev/specdec-operator@sha256:{'0' * 64}"),
    ],
)
def test_the_image_is_the_release_unless_named(render: Render, image: dict[str, Any], expected: str) -> None:
    """The tag is the application's version; a digest wins."""
    assert container(render({"image": image}))["image"] == expected


def test_texts_arrive_as_they_were_written(render: Render) -> None:
    """G7-01: quotes, braces, colons, dashes, digits and line breaks survive, and nothing is taken for a template."""
    one_line = {name: text for name, text in TEXTS.items() if "\n" not in text}
    prometheus = {"url": "http://prometheus:9090", "headers": one_line, "extraMatchers": TEXTS}
    environment = [{"name": name, "value": text} for name, text in TEXTS.items()]
    values = {"podAnnotations": TEXTS, "extraEnv": environment, "config": {"prometheus": prometheus}}

    objects = render(values)

    annotations = objects["Deployment", "ops", NAME]["spec"]["template"]["metadata"]["annotations"]
    assert {name: annotations[name] for name in TEXTS} == TEXTS
    assert container(objects)["env"] == environment
    assert configuration(objects)["prometheus"]["headers"] == one_line
    assert configuration(objects)["prometheus"]["extraMatchers"] == TEXTS


def test_the_users_labels_never_replace_the_selectors(render: Render) -> None:
    """Labels of the pod that its Deployment selects by stay as they are."""
    name = "app.kubernetes.io/name"
    spec = render({"podLabels": {name: "other", "team": "serving"}})["Deployment", "ops", NAME]["spec"]

    assert spec["template"]["metadata"]["labels"] == {**spec["selector"]["matchLabels"], "team": "serving"}


def test_without_an_address_there_is_no_prometheus(render: Render) -> None:
    """An empty address leaves the whole part out, instead of an address that is none."""
    assert "prometheus" not in configuration(render())


def test_empty_texts_and_nulls_are_left_out_of_the_configuration(render: Render) -> None:
    """What is not set is absent, and what is set stays, zero and false included."""
    prometheus = configuration(render({"config": {"prometheus": {"url": "http://p:9090"}}}))["prometheus"]

    assert prometheus == {
        "url": "http://p:9090",
        "insecureSkipVerify": False,
        "headers": {},
        "extraMatchers": {},
        "labels": {
            "namespace": "namespace",
            "pod": "pod",
            "engine": "engine",
            "cluster": "cluster",
        },
        "timeoutSeconds": 10,
    }


def test_metrics_service_and_pod_monitor_are_off_until_asked_for(render: Render) -> None:
    """Both are optional; the monitor selects engines by our labels, in the namespaces we work in."""
    everywhere = render({"metricsService": {"enabled": True}, "podMonitor": {"enabled": True}})
    somewhere = render({"namespaces": ["a"], "podMonitor": {"enabled": True}})
    service = everywhere["Service", "ops", f"{NAME}-metrics"]
    monitor = everywhere["PodMonitor", "ops", f"{NAME}-engines"]

    assert {"Service", "PodMonitor"}.isdisjoint(kinds(render()))
    assert service["spec"]["selector"] == everywhere["Deployment", "ops", NAME]["spec"]["selector"]["matchLabels"]
    assert monitor["spec"]["namespaceSelector"] == {"any": True}
    assert somewhere["PodMonitor", "ops", f"{NAME}-engines"]["spec"]["namespaceSelector"] == {"matchNames": ["a"]}


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"replicas": 2}, "replicas"),
        ({"config": {"tickSecond": 15}}, "tickSecond"),
        ({"config": {"tickSeconds": "15"}}, "tickSeconds"),
        ({"config": {"tickSeconds": 0}}, "tickSeconds"),
        ({"config": {"httpPort": 80}}, "httpPort"),
        ({"config": {"logLevel": "verbose"}}, "logLevel"),
        ({"config": {"namespaces": ["a"]}}, "namespaces"),
        ({"config": {"prometheus": {"url": "prometheus:9090"}}}, "url"),
        ({"config": {"prometheus": {"tokenFile": "token"}}}, "tokenFile"),
        ({"config": {"prometheus": {"headers": {"A": "a\r\nB: b"}}}}, "headers"),
        ({"config": {"prometheus": {"extraMatchers": {'a="b",x': "c"}}}}, "propertyName"),
        ({"config": {"prometheus": {"labels": {"pod": "my-pod"}}}}, "pod"),
        ({"namespaces": "team-a"}, "namespaces"),
        ({"namespaces": ["a", "a"]}, "namespaces"),
        ({"namespaces": ["Team_A"]}, "namespaces"),
        ({"serviceAccount": {"create": False}}, "name"),
        ({"image": {"digest": "0123"}}, "digest"),
        ({"image": {"pullPolicy": "Sometimes"}}, "pullPolicy"),
        ({"crds": {"install": "no"}}, "install"),
    ],
)
def test_bad_values_are_refused(helm: Helm, values: dict[str, Any], field: str) -> None:
    """The schema names the value that does not fit."""
    done = helm("template", "sdo", str(CHART), values=values)

    assert done.returncode != 0
    assert field in done.stderr


@pytest.mark.parametrize(
    ("release", "values", "name"),
    [
        ("specdec-operator", {}, "specdec-operator"),
        ("123", {"nameOverride": "x"}, "123-x"),
        ("sdo", {"fullnameOverride": "true"}, "true"),
        ("a" * 53, {}, f"{'a' * 53}-specdec-o"),
    ],
)
def test_names_follow_the_release(helm: Helm, release: str, values: dict[str, Any], name: str) -> None:
    """Names are those users of Helm expect, at most 63 characters long, and stay texts."""
    done = helm("template", release, str(CHART), values=values)

    deployment = next(body for body in yaml.safe_load_all(done.stdout) if body["kind"] == "Deployment")
    assert deployment["metadata"]["name"] == name
    assert deployment["metadata"]["labels"]["app.kubernetes.io/instance"] == release
