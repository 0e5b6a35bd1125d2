"""Addresses inside a bed. Every bed has its own network namespace, so they are the same in all beds."""

BRIDGE = "bedbr0"
GATEWAY = "10.88.0.1"
POD_CIDR = "10.88.0.0/16"
FIRST_POD_ADDRESS = "10.88.1.1"
SERVICE_CIDR = "10.96.0.0/16"
KUBERNETES_SERVICE = "10.96.0.1"
API_PORT = 6443
ETCD_URL = "http://127.0.0.1:2379"
ETCD_PEER_URL = "http://127.0.0.1:2380"
PROMETHEUS_PORT = 9090
NODE_NAME = "bed-node"
CLUSTER_DOMAIN = "cluster.local"
API_URL = f"https://{GATEWAY}:{API_PORT}"
PROMETHEUS_URL = f"http://{GATEWAY}:{PROMETHEUS_PORT}"
