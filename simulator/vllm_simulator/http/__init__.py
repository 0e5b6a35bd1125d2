"""vLLM's HTTP API in front of the simulated engines."""
