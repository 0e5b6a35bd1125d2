"""The keys of `--speculative-config` as data: which releases know them."""

from collections.abc import Mapping
from typing import Final

from specdec_operator.engine.version import NEWEST, OLDEST, Release

TYPED_KEYS: Final[Mapping[str, str]] = {
    "method": "method",
    "model": "model",
    "revision": "revision",
    "num_speculative_tokens": "numSpeculativeTokens",
    "draft_tensor_parallel_size": "draftTensorParallelSize",
    "tensor_parallel_size": "draftTensorParallelSize",
}
"""Keys that are written in a field of their own beside `options`, and that field."""

STRICT_FROM: Final[Release] = (0, 16, 0)
"""From here on vLLM refuses a key that it does not know; before, it drops the key without a word."""

OPTIONS: Final[Mapping[str, tuple[Release, Release]]] = {
    "attention_backend": ((0, 21, 0), NEWEST),
    "code_revision": (OLDEST, NEWEST),
    "disable_by_batch_size": (OLDEST, (0, 16, 0)),
    "disable_eagle_block_drop": ((0, 30, 0), NEWEST),
    "disable_logprobs": (OLDEST, (0, 11, 0)),
    "disable_lookahead_block_hashes": ((0, 33, 0), NEWEST),
    "disable_padded_drafter_batch": (OLDEST, NEWEST),
    "draft_lm_head_quantization": ((0, 33, 0), NEWEST),
    "draft_load_config": ((0, 17, 0), NEWEST),
    "draft_sample_method": ((0, 21, 0), NEWEST),
    "dspark_draft_topk": ((0, 28, 0), NEWEST),
    "enable_adaptive_verification": ((0, 28, 0), NEWEST),
    "enforce_eager": (OLDEST, NEWEST),
    "fly_entropy_threshold": ((0, 33, 0), NEWEST),
    "fly_entropy_top_k": ((0, 33, 0), NEWEST),
    "fly_window_size": ((0, 33, 0), NEWEST),
    "index_share_for_mtp_iteration": ((0, 29, 0), NEWEST),
    "kv_cache_dtype": ((0, 26, 0), NEWEST),
    "max_model_len": (OLDEST, NEWEST),
    "moe_backend": ((0, 19, 0), NEWEST),
    "num_speculative_tokens_per_batch_size": ((0, 24, 0), NEWEST),
    "parallel_drafting": ((0, 16, 0), NEWEST),
    "prompt_lookup_max": (OLDEST, NEWEST),
    "prompt_lookup_min": (OLDEST, NEWEST),
    "quantization": (OLDEST, NEWEST),
    "rejection_sample_method": ((0, 18, 0), NEWEST),
    "speculative_token_tree": (OLDEST, (0, 20, 2)),
    "suffix_decoding_max_cached_requests": ((0, 11, 1), NEWEST),
    "suffix_decoding_max_spec_factor": ((0, 11, 1), NEWEST),
    "suffix_decoding_max_tree_depth": ((0, 11, 1), NEWEST),
    "suffix_decoding_min_token_prob": ((0, 11, 1), NEWEST),
    "synthetic_acceptance_length": ((0, 20, 0), NEWEST),
    "synthetic_acceptance_rate": ((0, 19, 0), (0, 19, 1)),
    "synthetic_acceptance_rates": ((0, 20, 0), NEWEST),
    "use_heterogeneous_vocab": ((0, 25, 0), NEWEST),
    "use_local_argmax_reduction": ((0, 17, 0), NEWEST),
    "xpress_topc": ((0, 33, 0), NEWEST),
}
"""First and last release that know each of the other keys."""


def known_in(key: str, release: Release) -> bool:
    """Whether this release knows the key; newer releases than known count as the newest."""
    first, last = OPTIONS.get(key, (NEWEST, (0, 0, 0)))
    return first <= min(release, NEWEST) <= last
