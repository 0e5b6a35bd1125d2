"""specdec-operator: runs vLLM with the speculative decoding that pays right now."""

from specdec_operator.__about__ import __version__

__all__ = ["__version__"]
