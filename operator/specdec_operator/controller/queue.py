"""The keyed work queue."""
