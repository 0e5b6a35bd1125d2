"""Keys, certificates and kubeconfigs of one bed, made with openssl (P-256, valid for 30 days)."""

import base64
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from hack.testbed import net
from hack.testbed.errors import TestbedError

_NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
_API_NAMES = ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")


@dataclass(frozen=True, slots=True)
class _Leaf:
    name: str
    subject: str
    usage: str = "clientAuth"
    names: str = ""
    authority: str = "ca"


def _leaves() -> tuple[_Leaf, ...]:
    api_dns = ",".join(f"DNS:{name}" for name in (*_API_NAMES, f"kubernetes.default.svc.{net.CLUSTER_DOMAIN}"))
    api_ips = f"IP:127.0.0.1,IP:{net.KUBERNETES_SERVICE},IP:{net.GATEWAY}"
    node = f"/O=system:nodes/CN=system:node:{net.NODE_NAME}"
    node_names = f"IP:127.0.0.1,IP:{net.GATEWAY},DNS:{net.NODE_NAME}"
    return (
        _Leaf("apiserver", "/CN=kube-apiserver", "serverAuth", f"{api_ips},{api_dns}"),
        _Leaf("apiserver-kubelet", "/O=system:masters/CN=kube-apiserver-kubelet-client"),
        _Leaf("front-client", "/CN=front-proxy-client", authority="front-ca"),
        _Leaf("kubelet-serving", node, "serverAuth", node_names),
        *(_Leaf(name, subject) for name, subject in _users(node).items()),
    )


def _users(node: str) -> dict[str, str]:
    return {
        "admin": "/O=system:masters/CN=bed-admin",
        "controller-manager": "/CN=system:kube-controller-manager",
        "scheduler": "/CN=system:kube-scheduler",
        "kubelet": node,
        "proxy": "/CN=system:kube-proxy",
        "dns": "/CN=bed:coredns",
        "prometheus": "/CN=bed:prometheus",
    }


def make(pki: Path, kubeconfigs: Path) -> None:
    """Write all keys and certificates to `pki`, and `<user>.kubeconfig` for each user to `kubeconfigs`."""
    pki.mkdir(mode=0o700, parents=True)
    for name, common_name in (("ca", "bed-ca"), ("front-ca", "bed-front-proxy-ca")):
        _authority(pki, name, common_name)
    for leaf in _leaves():
        _certificate(pki, leaf)
    _openssl(pki, "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "service-account.key")
    _openssl(pki, "ec", "-in", "service-account.key", "-pubout", "-out", "service-account.pub")
    for user in _users(""):
        _kubeconfig(pki, user, kubeconfigs / f"{user}.kubeconfig")


def _authority(pki: Path, name: str, common_name: str) -> None:
    extensions = ("basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign,digitalSignature")
    arguments = [part for extension in extensions for part in ("-addext", extension)]
    files = ("-keyout", f"{name}.key", "-out", f"{name}.crt")
    _openssl(pki, "req", "-x509", *_NEW_KEY, "-days", "30", "-subj", f"/CN={common_name}", *arguments, *files)


def _certificate(pki: Path, leaf: _Leaf) -> None:
    extensions = ["basicConstraints=critical,CA:FALSE", "keyUsage=critical,digitalSignature,keyEncipherment"]
    extensions += [f"extendedKeyUsage={leaf.usage}"] + ([f"subjectAltName={leaf.names}"] if leaf.names else [])
    request, settings = pki / f"{leaf.name}.csr", pki / f"{leaf.name}.ext"
    settings.write_text("\n".join(extensions) + "\n")
    _openssl(pki, "req", *_NEW_KEY, "-subj", leaf.subject, "-keyout", f"{leaf.name}.key", "-out", request.name)
    authority = ("-CA", f"{leaf.authority}.crt", "-CAkey", f"{leaf.authority}.key", "-days", "30")
    files = ("-in", request.name, "-extfile", settings.name, "-out", f"{leaf.name}.crt")
    _openssl(pki, "x509", "-req", *files, *authority)
    request.unlink()
    settings.unlink()


def _kubeconfig(pki: Path, user: str, path: Path) -> None:
    def encoded(name: str) -> str:
        return base64.b64encode((pki / name).read_bytes()).decode()

    cluster = {"server": net.API_URL, "certificate-authority-data": encoded("ca.crt")}
    credentials = {"client-certificate-data": encoded(f"{user}.crt"), "client-key-data": encoded(f"{user}.key")}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "bed", "cluster": cluster}],
        "users": [{"name": user, "user": credentials}],
        "contexts": [{"name": "bed", "context": {"cluster": "bed", "user": user}}],
        "current-context": "bed",
    }
    path.touch(mode=0o600)
    path.write_text(json.dumps(document, indent=1))


def _openssl(folder: Path, *arguments: str) -> None:
    done = subprocess.run(("openssl", *arguments), cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise TestbedError(f"openssl {arguments[0]} failed: {done.stderr.strip()}")
