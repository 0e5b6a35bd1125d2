"""Metrics, health and logs of the operator itself."""
