"""The metric families that vLLM exports, as data: names, help, labels, buckets and the releases that have them.

Order, names, labels and buckets are those of the recordings of 0.32.0 in tests/data/vllm-recorded; the release ranges
cover 0.11 to 0.33. Counters are named without the `_total` that their text carries.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from packaging.version import Version


class Kind(StrEnum):
    """Type of a family."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


SECONDS_PER_REQUEST = (
    *(0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0),
    *(40.0, 50.0, 60.0, 120.0, 240.0, 480.0, 960.0, 1920.0, 7680.0),
)
SECONDS_TO_FIRST_TOKEN = (
    *(0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75),
    *(1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0, 160.0, 640.0, 2560.0),
)
SECONDS_PER_TOKEN = (
    *(0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5),
    *(0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0),
)
TOKENS_PER_STEP = (1.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0, 8192.0, 16384.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One metric family.

    `labels` lists label values beyond `model_name` and `engine`, each label with the values that exist from the start.
    """

    name: str
    help: str
    kind: Kind
    buckets: tuple[float, ...] = ()
    token_buckets: bool = False
    """Buckets follow the series 1, 2, 5 up to the model's length."""
    label: str = ""
    values: tuple[str, ...] = ()
    per_engine: bool = True
    since: str = "0.11.0"
    until: str = ""
    """Last release that has it; empty when the newest does."""

    def exists_in(self, release: Version) -> bool:
        """True when a release exports this family."""
        return Version(self.since) <= release and (not self.until or release <= Version(self.until))


def token_buckets(longest: int) -> tuple[float, ...]:
    """1, 2, 5, 10, 20, 50, ... up to `longest`."""
    edges: list[float] = []
    scale = 1
    while True:
        for mantissa in (1, 2, 5):
            if mantissa * scale > longest:
                return tuple(edges)
            edges.append(float(mantissa * scale))
        scale *= 10


def _counter(name: str, text: str, **more: object) -> Family:
    return Family(name=f"vllm:{name}", help=text, kind=Kind.COUNTER, **more)  # type: ignore[arg-type]


def _gauge(name: str, text: str, **more: object) -> Family:
    return Family(name=f"vllm:{name}", help=text, kind=Kind.GAUGE, **more)  # type: ignore[arg-type]


def _histogram(name: str, text: str, **more: object) -> Family:
    return Family(name=f"vllm:{name}", help=text, kind=Kind.HISTOGRAM, **more)  # type: ignore[arg-type]


_FINISHED = ("stop", "length", "abort", "error", "repetition")
_PER_GPU = "(for Model Flops Utilization calculations)."
_TIERS = ("device", "host", "p2p", "disk", "external_unspecified")

SPECULATION = (
    _counter("spec_decode_num_drafts", "Number of spec decoding drafts."),
    _counter("spec_decode_num_draft_tokens", "Number of draft tokens."),
    _counter("spec_decode_num_accepted_tokens", "Number of accepted tokens."),
    _counter("spec_decode_num_accepted_tokens_per_pos", "Accepted tokens per draft position.", label="position"),
)
"""Exported exactly when the engine runs with a speculative configuration."""

ENGINE = (
    _counter(
        "estimated_flops_per_gpu", f"Estimated number of floating point operations per GPU {_PER_GPU}", since="0.17.0"
    ),
    _counter(
        "estimated_read_bytes_per_gpu", f"Estimated number of bytes read from memory per GPU {_PER_GPU}", since="0.17.0"
    ),
    _counter(
        "estimated_write_bytes_per_gpu",
        f"Estimated number of bytes written to memory per GPU {_PER_GPU}",
        since="0.17.0",
    ),
    _gauge("num_requests_running", "Number of requests in model execution batches."),
    _gauge("num_requests_waiting", "Number of requests waiting to be processed."),
    _gauge(
        "num_requests_waiting_by_reason",
        "Number of waiting requests by reason. Reason labels: 'capacity' = waiting for scheduling capacity; "
        "'deferred' = deferred by transient constraints (LoRA budget, KV transfer, blocked status). "
        "Sum of all reasons equals vllm:num_requests_waiting.",
        label="reason",
        values=("capacity", "deferred"),
        since="0.20.0",
    ),
    _gauge(
        "engine_sleep_state",
        "Engine sleep state; awake = 0 means engine is sleeping; awake = 1 means engine is awake; "
        "weights_offloaded = 1 means sleep level 1; discard_all = 1 means sleep level 2.",
        label="sleep_state",
        values=("awake", "weights_offloaded", "discard_all"),
        since="0.11.1",
    ),
    _gauge("kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage."),
    _counter("prefix_cache_queries", "Prefix cache queries, in terms of number of queried tokens."),
    _counter("prefix_cache_hits", "Prefix cache hits, in terms of number of cached tokens."),
    _counter(
        "external_prefix_cache_queries",
        "External prefix cache queries from KV connector cross-instance cache sharing, "
        "in terms of number of queried tokens.",
        since="0.11.1",
    ),
    _counter(
        "external_prefix_cache_hits",
        "External prefix cache hits from KV connector cross-instance cache sharing, "
        "in terms of number of cached tokens.",
        since="0.11.1",
    ),
    _counter("mm_cache_queries", "Multi-modal cache queries, in terms of number of queried items.", since="0.11.1"),
    _counter("mm_cache_hits", "Multi-modal cache hits, in terms of number of cached items.", since="0.11.1"),
    _counter("num_preemptions", "Cumulative number of preemption from the engine."),
    _counter("prompt_tokens", "Number of prefill tokens processed."),
    _counter(
        "prompt_tokens_by_source",
        "Number of prompt tokens by source.",
        label="source",
        values=("local_compute", "local_cache_hit", "external_kv_transfer"),
        since="0.16.0",
    ),
    _counter("prompt_tokens_cached", "Number of cached prompt tokens (local + external).", since="0.16.0"),
    _counter(
        "prompt_tokens_cached_by_source",
        "Prefix-cache hit tokens by the cache tier that supplied them: device (local HBM), host (offloaded to DRAM), "
        "disk, p2p (transferred from another vLLM instance) or external_unspecified. Counted at admission; "
        "sums to vllm:prefix_cache_hits + vllm:external_prefix_cache_hits.",
        label="source",
        values=_TIERS,
        since="0.32.0",
    ),
    _counter("generation_tokens", "Number of generation tokens processed."),
    _counter("request_success", "Count of successfully processed requests.", label="finished_reason", values=_FINISHED),
    _counter(
        "admission_rejections",
        "Number of admission attempts rejected by a queue limit, by reason.",
        label="reason",
        values=("max_num_queued_reqs", "max_num_queued_tokens"),
        per_engine=False,
        since="0.32.0",
    ),
    _histogram("request_prompt_tokens", "Number of prefill tokens processed.", token_buckets=True),
    _histogram("request_generation_tokens", "Number of generation tokens processed.", token_buckets=True),
    _histogram("iteration_tokens_total", "Histogram of number of tokens per engine_step.", buckets=TOKENS_PER_STEP),
    _histogram(
        "request_max_num_generation_tokens",
        "Histogram of maximum number of requested generation tokens.",
        token_buckets=True,
    ),
    _histogram("request_params_n", "Histogram of the n request parameter.", buckets=(1.0, 2.0, 5.0, 10.0, 20.0)),
    _histogram("request_params_max_tokens", "Histogram of the max_tokens request parameter.", token_buckets=True),
    _histogram(
        "time_to_first_token_seconds",
        "Histogram of time to first token in seconds.",
        buckets=SECONDS_TO_FIRST_TOKEN,
    ),
    _histogram(
        "time_per_output_token_seconds",
        "Histogram of time per output token in seconds.",
        buckets=SECONDS_PER_TOKEN,
        until="0.11.2",
    ),
    _histogram(
        "inter_token_latency_seconds", "Histogram of inter-token latency in seconds.", buckets=SECONDS_PER_TOKEN
    ),
    _histogram(
        "request_time_per_output_token_seconds",
        "Histogram of time_per_output_token_seconds per request.",
        buckets=SECONDS_PER_TOKEN,
    ),
    _histogram(
        "e2e_request_latency_seconds", "Histogram of e2e request latency in seconds.", buckets=SECONDS_PER_REQUEST
    ),
    _histogram(
        "request_queue_time_seconds",
        "Histogram of time spent in WAITING phase for request.",
        buckets=SECONDS_PER_REQUEST,
    ),
    _histogram(
        "request_inference_time_seconds",
        "Histogram of time spent in RUNNING phase for request.",
        buckets=SECONDS_PER_REQUEST,
    ),
    _histogram(
        "request_prefill_time_seconds",
        "Histogram of time spent in PREFILL phase for request.",
        buckets=SECONDS_PER_REQUEST,
    ),
    _histogram(
        "request_decode_time_seconds",
        "Histogram of time spent in DECODE phase for request.",
        buckets=SECONDS_PER_REQUEST,
    ),
    _histogram(
        "request_num_preemptions",
        "Histogram of the number of times a request was preempted.",
        buckets=(1.0, 2.0, 3.0, 4.0, 5.0, 10.0, 20.0),
        since="0.30.0",
    ),
    _histogram(
        "request_prefill_kv_computed_tokens",
        "Histogram of new KV tokens computed during prefill (excluding cached tokens).",
        token_buckets=True,
        since="0.13.0",
    ),
)
"""Exported always."""


def families(release: Version, *, speculating: bool) -> Iterable[Family]:
    """The families a release exports, in the order of its text."""
    chosen = (*SPECULATION, *ENGINE) if speculating else ENGINE
    return (family for family in chosen if family.exists_in(release))
