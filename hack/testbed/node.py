"""Configuration and arguments of the node: containerd, kubelet, kube-proxy, cluster DNS."""

import json
from pathlib import Path
from typing import Any

from hack.testbed import net
from hack.testbed.plan import Plan
from hack.testbed.supervisor import Component

# The bed mounts its own tmpfs over /run, so this short path is private.
CONTAINERD_SOCKET = "/run/bed/containerd.sock"
_SYSTEM_PATH = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}


def containerd(plan: Plan) -> Component:
    """Container runtime with its own socket, root and state: a distribution's containerd is not touched.

    Its root is in memory (some 350 MB): on a disk, loading the images takes three times as long, mostly for syncing.
    """
    data = plan.paths.data
    config = data / "containerd.toml"
    config.write_text(_containerd_config(plan))
    (data / "cni").mkdir()
    (data / "cni" / "10-bed.conflist").write_text(json.dumps(_network(data), indent=1))
    return Component("containerd", (plan.binaries["containerd"], "--config", str(config)), _SYSTEM_PATH)


def kubelet(plan: Plan) -> Component:
    """The real kubelet, under the bed's own cgroup."""
    data = plan.paths.data
    (data / "resolv.conf").write_text("nameserver 127.0.0.1\n")
    config = data / "kubelet.json"
    config.write_text(json.dumps(_kubelet_config(plan), indent=1))
    arguments = (
        plan.binaries["kubelet"],
        f"--config={config}",
        f"--kubeconfig={data / 'kubelet.kubeconfig'}",
        f"--root-dir={data / 'kubelet'}",
        f"--cert-dir={plan.paths.pki}",
        f"--hostname-override={net.NODE_NAME}",
        f"--node-ip={net.GATEWAY}",
    )
    return Component("kubelet", arguments, _SYSTEM_PATH)


def kube_proxy(plan: Plan) -> Component:
    """Services, by nftables inside the bed's own network namespace."""
    config = plan.paths.data / "kube-proxy.json"
    config.write_text(json.dumps(_proxy_config(plan.paths.data), indent=1))
    return Component("kube-proxy", (plan.binaries["kube-proxy"], f"--config={config}"), _SYSTEM_PATH)


def coredns(plan: Plan) -> Component:
    """Cluster DNS as a process on the bridge address."""
    corefile = plan.paths.data / "Corefile"
    corefile.write_text(_COREFILE.format(address=net.GATEWAY, domain=net.CLUSTER_DOMAIN, data=plan.paths.data))
    return Component("coredns", (plan.binaries["coredns"], "-conf", str(corefile)))


def _containerd_config(plan: Plan) -> str:
    data, plugins = plan.paths.data, Path(plan.binaries["bridge"]).parent
    return _CONTAINERD.format(data=data, socket=CONTAINERD_SOCKET, runc=plan.binaries["runc"], plugins=plugins)


def _network(data: Path) -> dict[str, Any]:
    addresses = {
        "type": "host-local",
        "dataDir": str(data / "cni-addresses"),
        "ranges": [[{"subnet": net.POD_CIDR, "rangeStart": net.FIRST_POD_ADDRESS}]],
        "routes": [{"dst": "0.0.0.0/0"}],
    }
    bridge = {"type": "bridge", "bridge": net.BRIDGE, "isGateway": True, "ipMasq": False, "hairpinMode": True}
    ports = {"type": "portmap", "capabilities": {"portMappings": True}}
    return {"cniVersion": "0.4.0", "name": "bed", "plugins": [{**bridge, "ipam": addresses}, ports]}


def _kubelet_config(plan: Plan) -> dict[str, Any]:
    data, pki = plan.paths.data, plan.paths.pki
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": net.GATEWAY,
        "port": 10250,
        "readOnlyPort": 0,
        "healthzBindAddress": "127.0.0.1",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": f"{pki}/ca.crt"},
        },
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": f"{pki}/kubelet-serving.crt",
        "tlsPrivateKeyFile": f"{pki}/kubelet-serving.key",
        "containerRuntimeEndpoint": f"unix://{CONTAINERD_SOCKET}",
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{plan.paths.cgroup}",
        "failCgroupV1": False,
        "failSwapOn": False,
        "oomScoreAdj": 0,  # lowering it needs CAP_SYS_RESOURCE, which containers and CI machines often lack
        "makeIPTablesUtilChains": False,
        "resolvConf": str(data / "resolv.conf"),
        "clusterDNS": [net.GATEWAY],
        "clusterDomain": net.CLUSTER_DOMAIN,
        "podLogsDir": str(plan.paths.logs / "pods"),
        "volumePluginDir": str(data / "flex"),
        # Images come from archives: collecting them as garbage would lose them for good.
        "imageGCHighThresholdPercent": 100,
        "imageGCLowThresholdPercent": 99,
        "evictionHard": {
            "memory.available": "100Mi",
            "nodefs.available": "1%",
            "nodefs.inodesFree": "1%",
            "imagefs.available": "1%",
        },
        "nodeStatusUpdateFrequency": "5s",
        "syncFrequency": "10s",
        "shutdownGracePeriod": "0s",
    }


def _proxy_config(data: Path) -> dict[str, Any]:
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "mode": "nftables",
        "clientConnection": {"kubeconfig": str(data / "proxy.kubeconfig")},
        "bindAddress": "127.0.0.1",
        "healthzBindAddress": "",
        "metricsBindAddress": "127.0.0.1:10249",
        "hostnameOverride": net.NODE_NAME,
        "detectLocalMode": "BridgeInterface",
        "detectLocal": {"bridgeInterface": net.BRIDGE},
        # Zero leaves the machine's own connection tracking limits alone.
        "conntrack": {"maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"},
        "nftables": {"minSyncPeriod": "100ms", "syncPeriod": "30s"},
        "nodePortAddresses": [net.POD_CIDR],
    }


_COREFILE = """\
.:53 {{
    bind {address}
    errors
    cache 5
    kubernetes {domain} in-addr.arpa {{
        kubeconfig "{data}/dns.kubeconfig"
        ttl 1
    }}
}}
"""

_CONTAINERD = """\
version = 2
root = "/run/bed/images"
state = "/run/bed/containerd"
disabled_plugins = ["io.containerd.internal.v1.opt", "io.containerd.snapshotter.v1.aufs", \
"io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"]
[grpc]
  address = "{socket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "bed.local/pause:1"
  restrict_oom_score_adj = true
  disable_apparmor = true
  stream_server_address = "127.0.0.1"
  tolerate_missing_hugetlb_controller = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        BinaryName = "{runc}"
        SystemdCgroup = false
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{plugins}"
    conf_dir = "{data}/cni"
"""
