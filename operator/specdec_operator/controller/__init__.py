"""The shell: watch events, keyed queue, reconcile."""
