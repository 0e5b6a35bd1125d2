"""A real vLLM on CPU for the demo and for the end-to-end tests: installed once into the cache, no GPU, no hub."""
