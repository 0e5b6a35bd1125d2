"""The order in which a bed comes up, and what is waited for."""

import json
import shlex
import socket
import time
import urllib.request
from collections.abc import Callable

from hack.testbed import cgroups, control_plane, isolation, monitoring, net, node, pki
from hack.testbed.api import Api
from hack.testbed.errors import TestbedError
from hack.testbed.plan import Plan
from hack.testbed.supervisor import Supervisor

Say = Callable[[str], None]
_READ = ["get", "list", "watch"]
_RBAC = "/apis/rbac.authorization.k8s.io/v1"
_NODE = f"/api/v1/nodes/{net.NODE_NAME}"


class Bringup:
    """Brings one bed up inside namespaces that were just made."""

    def __init__(self, plan: Plan, supervisor: Supervisor, say: Say) -> None:
        self._plan = plan
        self._supervisor = supervisor
        self._say = say

    def run(self) -> None:
        """Return when everything works; raise TestbedError with the end of the right log otherwise."""
        isolation.mount_private_folders()
        isolation.make_network()
        self._supervisor.start(control_plane.etcd(self._plan))
        images = self._start_runtime()
        self._say("certificates")
        pki.make(self._plan.paths.pki, self._plan.paths.data)
        api = self._start_control_plane()
        if images is not None:
            self._start_node(api, images)
        self._until(
            "default ServiceAccount", lambda: _exists(api, "/api/v1/namespaces/default/serviceaccounts/default")
        )

    def _start_runtime(self) -> Callable[[], bool] | None:
        """Start containerd and the import of the images, which goes on beside the control plane's start."""
        if self._plan.control_plane:
            return None
        cgroups.make(self._plan.paths.cgroup)
        self._supervisor.start(node.containerd(self._plan))
        self._until("containerd", lambda: _accepts(node.CONTAINERD_SOCKET))
        if not self._plan.images:
            return lambda: True
        load = (self._plan.binaries["ctr"], "-a", node.CONTAINERD_SOCKET, "-n", "k8s.io", "images", "import")
        script = " && ".join(shlex.join((*load, image)) for image in self._plan.images)
        return self._supervisor.background(("sh", "-c", script), "images")

    def _start_control_plane(self) -> Api:
        control_plane.write_audit_policy(self._plan)
        self._supervisor.start(control_plane.apiserver(self._plan))
        api = Api(self._plan.paths.pki)
        self._until("API server", api.ready)
        self._supervisor.start(control_plane.controller_manager(self._plan))
        self._supervisor.start(control_plane.scheduler(self._plan))
        return api

    def _start_node(self, api: Api, images: Callable[[], bool]) -> None:
        self._supervisor.start(node.kubelet(self._plan))
        _grant(
            api,
            "bed:coredns",
            _rule("", ["services", "namespaces", "pods"]),
            _rule("discovery.k8s.io", ["endpointslices"]),
        )
        _grant(api, "bed:prometheus", _rule("", ["pods", "namespaces"]))
        for component in (node.kube_proxy, node.coredns, monitoring.prometheus):
            self._supervisor.start(component(self._plan))
        self._until("images", images)
        self._until("node", lambda: _node_ready(api))
        self._until("services", lambda: api.ready(f"https://{net.KUBERNETES_SERVICE}"))
        self._until("cluster DNS", _dns_answers)
        self._until("Prometheus", prometheus_ready)
        if self._plan.accelerators:
            self._claim_accelerators(api)

    def _claim_accelerators(self, api: Api) -> None:
        count = str(self._plan.accelerators)
        path = "/status/capacity/nvidia.com~1gpu"
        api.patch(f"{_NODE}/status", [{"op": "add", "path": path, "value": count}])
        self._until("accelerators", lambda: _allocatable(api) == count)

    def _until(self, what: str, condition: Callable[[], bool], timeout: float = 90) -> None:
        self._say(what)
        deadline = time.monotonic() + timeout
        while not condition():
            self._supervisor.check()
            if time.monotonic() > deadline:
                raise TestbedError(f"{what}: not ready within {timeout:.0f} s; see the logs in {self._plan.paths.logs}")
            time.sleep(0.05)


def prometheus_ready() -> bool:
    """Say whether Prometheus answers."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{net.PROMETHEUS_URL}/-/ready", timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def _exists(api: Api, path: str) -> bool:
    return api.get(path) is not None


def _node_ready(api: Api) -> bool:
    status = (api.get(_NODE) or {}).get("status", {})
    return any(c["type"] == "Ready" and c["status"] == "True" for c in status.get("conditions", ()))


def _allocatable(api: Api) -> str | None:
    allocatable = (api.get(_NODE) or {}).get("status", {}).get("allocatable", {})
    count: str | None = allocatable.get("nvidia.com/gpu")
    return count


def _accepts(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(path) == 0


def _dns_answers() -> bool:
    name = b"".join(
        bytes([len(part)]) + part.encode() for part in f"kubernetes.default.svc.{net.CLUSTER_DOMAIN}".split(".")
    )
    query = b"\x00\x01\x01\x00\x00\x01" + bytes(6) + name + b"\x00\x00\x01\x00\x01"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(0.5)
        try:
            client.sendto(query, (net.GATEWAY, 53))
            answer = client.recv(512)
        except OSError:
            return False
    return answer[3] & 0x0F == 0 and answer[7] > 0


def _rule(group: str, resources: list[str]) -> dict[str, list[str]]:
    return {"apiGroups": [group], "resources": resources, "verbs": _READ}


def _grant(api: Api, name: str, *rules: dict[str, list[str]]) -> None:
    """Let the user `name` read what the rules say, in all namespaces."""
    meta = {"metadata": {"name": name}}
    api.create(f"{_RBAC}/clusterroles", {**meta, "rules": json.loads(json.dumps(rules))})
    group = "rbac.authorization.k8s.io"
    role = {"apiGroup": group, "kind": "ClusterRole", "name": name}
    subject = {"apiGroup": group, "kind": "User", "name": name}
    api.create(f"{_RBAC}/clusterrolebindings", {**meta, "roleRef": role, "subjects": [subject]})
