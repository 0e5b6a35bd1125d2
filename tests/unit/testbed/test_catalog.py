"""Which binaries of a machine may be used."""

import pytest
from hack.testbed.catalog import suits


@pytest.mark.parametrize(
    ("name", "output", "expected"),
    [
        ("kube-apiserver", "Kubernetes v1.36.9", True),
        ("kube-apiserver", "Kubernetes v1.35.3", False),
        ("kubectl", "Client Version: v1.36.3\nKustomize Version: v5.8.1", True),
        ("etcd", "etcd Version: 3.6.16\nGit SHA: abc", True),
        ("etcd", "etcd Version: 3.4.23", False),
        ("coredns", "CoreDNS-1.15.0\nlinux/amd64, go1.26.8", True),
        ("helm", "v4.3.1+gabc", True),
        ("helm", "v3.9.0+gabc", False),
        ("kubelet", "", False),
        ("kubelet", "command not found", False),
    ],
)
def test_only_versions_that_work_together_are_taken(name: str, output: str, expected: bool) -> None:
    """Kubernetes' parts are of one minor version; an old etcd breaks watches."""
    assert suits(name, output) is expected
