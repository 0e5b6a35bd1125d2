"""What the bed is made of: one place for every version."""

KUBERNETES = "1.36.3"
ETCD = "3.6.16"
COREDNS = "1.15.0"
HELM = "4.3.1"
PROMETHEUS = "3.16.0"  # the Go module counts 0.316.0
GO_MINIMUM = (1, 26)
GO_WHEEL = "1.27.3"
