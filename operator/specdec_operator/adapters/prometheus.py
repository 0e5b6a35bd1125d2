"""Prometheus as the metrics source."""
