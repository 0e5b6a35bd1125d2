"""A real Kubernetes cluster in private namespaces of this machine: `python -m hack.testbed --help`."""
