"""Arguments of etcd, kube-apiserver, kube-controller-manager and kube-scheduler, and the audit policy."""

import json
from typing import Any

from hack.testbed import net
from hack.testbed.plan import Plan
from hack.testbed.supervisor import Component

_WRITE_VERBS = ["create", "update", "patch", "delete", "deletecollection"]


def etcd(plan: Plan) -> Component:
    """Etcd on loopback; without fsync, because a bed never outlives a crash of the machine."""
    return Component(
        "etcd",
        (
            plan.binaries["etcd"],
            "--name=bed",
            f"--data-dir={plan.paths.data / 'etcd'}",
            f"--listen-client-urls={net.ETCD_URL}",
            f"--advertise-client-urls={net.ETCD_URL}",
            f"--listen-peer-urls={net.ETCD_PEER_URL}",
            f"--initial-advertise-peer-urls={net.ETCD_PEER_URL}",
            f"--initial-cluster=bed={net.ETCD_PEER_URL}",
            "--unsafe-no-fsync",
            "--log-level=warn",
        ),
    )


def apiserver(plan: Plan) -> Component:
    """kube-apiserver on the bridge address: reachable from the pods and from the commands inside the bed."""
    pki = plan.paths.pki
    return Component(
        "kube-apiserver",
        (
            plan.binaries["kube-apiserver"],
            f"--etcd-servers={net.ETCD_URL}",
            f"--bind-address={net.GATEWAY}",
            f"--advertise-address={net.GATEWAY}",
            f"--secure-port={net.API_PORT}",
            f"--service-cluster-ip-range={net.SERVICE_CIDR}",
            f"--tls-cert-file={pki}/apiserver.crt",
            f"--tls-private-key-file={pki}/apiserver.key",
            f"--client-ca-file={pki}/ca.crt",
            "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction",
            "--allow-privileged=true",
            "--profiling=false",
            f"--service-account-issuer=https://kubernetes.default.svc.{net.CLUSTER_DOMAIN}",
            f"--service-account-signing-key-file={pki}/service-account.key",
            f"--service-account-key-file={pki}/service-account.pub",
            f"--kubelet-client-certificate={pki}/apiserver-kubelet.crt",
            f"--kubelet-client-key={pki}/apiserver-kubelet.key",
            f"--kubelet-certificate-authority={pki}/ca.crt",
            "--kubelet-preferred-address-types=InternalIP",
            f"--requestheader-client-ca-file={pki}/front-ca.crt",
            "--requestheader-allowed-names=front-proxy-client",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-username-headers=X-Remote-User",
            f"--proxy-client-cert-file={pki}/front-client.crt",
            f"--proxy-client-key-file={pki}/front-client.key",
            f"--audit-policy-file={plan.paths.data / 'audit-policy.json'}",
            f"--audit-log-path={plan.paths.logs / 'audit.log'}",
        ),
        grace_seconds=2,  # it would wait for open watches, which never end
    )


def controller_manager(plan: Plan) -> Component:
    """kube-controller-manager; the raised client limits save 5 s until the first ServiceAccount exists."""
    pki = plan.paths.pki
    return Component(
        "kube-controller-manager",
        (
            plan.binaries["kube-controller-manager"],
            *_client(plan, "controller-manager"),
            "--secure-port=10257",
            "--use-service-account-credentials=true",
            f"--root-ca-file={pki}/ca.crt",
            f"--service-account-private-key-file={pki}/service-account.key",
            f"--cluster-signing-cert-file={pki}/ca.crt",
            f"--cluster-signing-key-file={pki}/ca.key",
            f"--flex-volume-plugin-dir={plan.paths.data / 'flex'}",
            "--kube-api-qps=500",
            "--kube-api-burst=1000",
        ),
    )


def scheduler(plan: Plan) -> Component:
    """kube-scheduler."""
    return Component(
        "kube-scheduler",
        (plan.binaries["kube-scheduler"], *_client(plan, "scheduler"), "--secure-port=10259"),
    )


def write_audit_policy(plan: Plan) -> None:
    """Log who wrote what (Metadata level), without reads, leases and the node's own status: small, but complete."""
    policy = {
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived"],
        "rules": [
            _rule("None", resources=[{"group": "coordination.k8s.io", "resources": ["leases"]}]),
            _rule("None", userGroups=["system:nodes"], resources=[{"group": "", "resources": ["nodes/status"]}]),
            _rule("Metadata", verbs=_WRITE_VERBS),
            _rule("None"),
        ],
    }
    (plan.paths.data / "audit-policy.json").write_text(json.dumps(policy, indent=1))


def _rule(level: str, **match: list[Any]) -> dict[str, Any]:
    return {"level": level, **match}


def _client(plan: Plan, user: str) -> tuple[str, ...]:
    kubeconfig = plan.paths.data / f"{user}.kubeconfig"
    uses = ("kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig")
    return (
        *(f"--{use}={kubeconfig}" for use in uses),
        "--bind-address=127.0.0.1",
        "--leader-elect=false",
        "--profiling=false",
    )
