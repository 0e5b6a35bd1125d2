"""PURE: what each vLLM release accepts, and the arguments for it."""
