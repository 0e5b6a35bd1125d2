"""A vLLM stand-in: its HTTP API, metrics, flags and physics, without a GPU."""
