"""The Kubernetes API: the only package that uses the client library `kubernetes`."""

from specdec_operator.adapters.cluster.client import KubernetesCluster
from specdec_operator.adapters.cluster.config import ClusterConfigError
from specdec_operator.adapters.cluster.reflector import WatchHealth
from specdec_operator.adapters.cluster.timings import Timings
from specdec_operator.ports import is_ours

__all__ = ["ClusterConfigError", "KubernetesCluster", "Timings", "WatchHealth", "is_ours"]
