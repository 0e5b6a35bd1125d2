"""Keys and methods of `--speculative-config` by release, 0.11 to 0.33."""

from packaging.version import Version

_KEYS: dict[str, tuple[str, str]] = {
    "code_revision": ("0.11.0", ""),
    "disable_by_batch_size": ("0.11.0", "0.16.0"),
    "disable_logprobs": ("0.11.0", "0.11.0"),
    "disable_padded_drafter_batch": ("0.11.0", ""),
    "draft_tensor_parallel_size": ("0.11.0", ""),
    "enforce_eager": ("0.11.0", ""),
    "max_model_len": ("0.11.0", ""),
    "method": ("0.11.0", ""),
    "model": ("0.11.0", ""),
    "num_speculative_tokens": ("0.11.0", ""),
    "prompt_lookup_max": ("0.11.0", ""),
    "prompt_lookup_min": ("0.11.0", ""),
    "quantization": ("0.11.0", ""),
    "revision": ("0.11.0", ""),
    "speculative_token_tree": ("0.11.0", "0.20.2"),
    "suffix_decoding_max_cached_requests": ("0.11.1", ""),
    "suffix_decoding_max_spec_factor": ("0.11.1", ""),
    "suffix_decoding_max_tree_depth": ("0.11.1", ""),
    "suffix_decoding_min_token_prob": ("0.11.1", ""),
    "parallel_drafting": ("0.16.0", ""),
    "draft_load_config": ("0.17.0", ""),
    "use_local_argmax_reduction": ("0.17.0", ""),
    "rejection_sample_method": ("0.18.0", ""),
    "moe_backend": ("0.19.0", ""),
    "synthetic_acceptance_rate": ("0.19.0", "0.19.1"),
    "synthetic_acceptance_length": ("0.20.0", ""),
    "synthetic_acceptance_rates": ("0.20.0", ""),
    "attention_backend": ("0.21.0", ""),
    "draft_sample_method": ("0.21.0", ""),
    "num_speculative_tokens_per_batch_size": ("0.24.0", ""),
    "use_heterogeneous_vocab": ("0.25.0", ""),
    "kv_cache_dtype": ("0.26.0", ""),
    "dspark_draft_topk": ("0.28.0", ""),
    "enable_adaptive_verification": ("0.28.0", ""),
    "index_share_for_mtp_iteration": ("0.29.0", ""),
    "disable_eagle_block_drop": ("0.30.0", ""),
    "disable_lookahead_block_hashes": ("0.33.0", ""),
    "draft_lm_head_quantization": ("0.33.0", ""),
    "fly_entropy_threshold": ("0.33.0", ""),
    "fly_entropy_top_k": ("0.33.0", ""),
    "fly_window_size": ("0.33.0", ""),
    "xpress_topc": ("0.33.0", ""),
}

METHODS: dict[str, tuple[str, str]] = {
    "ngram": ("0.11.0", ""),
    "medusa": ("0.11.0", "0.32.0"),
    "mlp_speculator": ("0.11.0", "0.32.0"),
    "draft_model": ("0.15.0", ""),
    "suffix": ("0.11.1", ""),
    "custom_class": ("0.22.0", ""),
    "eagle": ("0.11.0", ""),
    "eagle3": ("0.11.0", ""),
    "extract_hidden_states": ("0.17.0", ""),
    "dflash": ("0.20.0", ""),
    "ngram_gpu": ("0.18.0", ""),
    "dspark": ("0.25.0", ""),
    "mtp": ("0.11.0", ""),
}
"""Methods with the first and the last release that runs them; an empty last is the newest."""

MODEL_NEEDED = frozenset(
    {"eagle", "eagle3", "dflash", "dspark", "draft_model", "medusa", "mlp_speculator", "custom_class"}
)
"""Methods that are refused without a draft model."""


def _there(span: tuple[str, str], release: Version) -> bool:
    first, last = span
    return Version(first) <= release and (not last or release <= Version(last))


def keys_of(release: Version) -> frozenset[str]:
    """Keys that a release knows."""
    return frozenset(key for key, span in _KEYS.items() if _there(span, release))


def methods_of(release: Version) -> tuple[str, ...]:
    """Methods that a release knows."""
    return tuple(method for method, span in METHODS.items() if _there(span, release))
