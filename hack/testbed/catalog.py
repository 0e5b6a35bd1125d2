"""Every binary of the bed: where it may come from, which versions suit, how it is built."""

import re
from dataclasses import dataclass

from hack.testbed import versions


@dataclass(frozen=True, slots=True)
class Module:
    """A Go module under modules/ and the binaries it gives: file name -> package."""

    folder: str
    label: str
    packages: dict[str, str]
    linker_flags: str = ""
    tags: str = ""


KUBERNETES_BINARIES = (
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubectl",
    "kubelet",
    "kube-proxy",
)
MODULES = (
    Module(
        "kubernetes",
        f"kubernetes-{versions.KUBERNETES}",
        {name: f"k8s.io/kubernetes/cmd/{name}" for name in KUBERNETES_BINARIES},
        f"-X k8s.io/component-base/version.gitVersion=v{versions.KUBERNETES} "
        f"-X k8s.io/client-go/pkg/version.gitVersion=v{versions.KUBERNETES}",
    ),
    Module("etcd", f"etcd-{versions.ETCD}", {"etcd": "go.etcd.io/etcd/server/v3"}),
    # One module, because all three need the same Kubernetes client, which then is compiled once.
    Module(
        "tools",
        f"tools-{versions.COREDNS}-{versions.HELM}-{versions.PROMETHEUS}",
        {
            "coredns": "./coredns",
            "helm": "helm.sh/helm/v4/cmd/helm",
            "prometheus": "github.com/prometheus/prometheus/cmd/prometheus",
        },
        f"-X helm.sh/helm/v4/internal/version.version=v{versions.HELM} "
        f"-X github.com/prometheus/common/version.Version={versions.PROMETHEUS}",
        "remove_all_sd,enable_kubernetes_sd",
    ),
)


def version_command(name: str) -> tuple[str, ...]:
    """Return the arguments that make a binary print its version."""
    special = {"kubectl": ("version", "--client"), "coredns": ("-version",), "helm": ("version", "--short")}
    return special.get(name, ("--version",))


def suits(name: str, output: str) -> bool:
    """Say whether a binary found on the machine, which printed `output` for its version, may be used.

    Kubernetes' parts must all be of one minor version. Before 3.5.13 etcd does not answer progress requests, without
    which watches fail.
    """
    match = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", output)
    if match is None:
        return False
    found = tuple(int(part or 0) for part in match.groups())
    if name in KUBERNETES_BINARIES:
        return found[:2] == tuple(int(part) for part in versions.KUBERNETES.split(".")[:2])
    minimum = {"etcd": (3, 5, 13), "coredns": (1, 11, 0), "helm": (3, 19, 0)}
    return found >= minimum[name]
