"""What the engines say about themselves in Prometheus' text format: one registry a process, one recorder an engine."""

from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.gc_collector import GCCollector
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

from vllm_simulator.families import Family, Kind, families, token_buckets
from vllm_simulator.launch import Launch
from vllm_simulator.scheduler import Outcome, Scheduler
from vllm_simulator.sequence import Finish, Sequence

Metric = Counter | Gauge | Histogram


class MetricSet:
    """All families of the process, registered in vLLM's order."""

    def __init__(self, launch: Launch) -> None:
        """Register the families that the simulated release exports under this launch."""
        self.registry = CollectorRegistry()
        self._launch = launch
        GCCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        ProcessCollector(registry=self.registry)
        chosen = families(launch.release, speculating=launch.speculation is not None) if launch.log_stats else ()
        self._families = {family: self._register(family) for family in chosen}
        if launch.log_stats:
            self._cache_config()

    def recorder(self, engine: int) -> "Recorder":
        """The recorder of one engine; all its series exist from now on."""
        series: dict[str, Metric] = {}
        for family, metric in self._families.items():
            for value in self._values(family):
                labels = {"model_name": self._launch.served_names[0]}
                if family.per_engine:
                    labels["engine"] = str(engine)
                if family.label:
                    labels[family.label] = value
                series[f"{family.name.removeprefix('vllm:')}/{value}".removesuffix("/")] = metric.labels(**labels)
        return Recorder(series, kv_tokens=self._launch.limits.kv_tokens)

    def _register(self, family: Family) -> Metric:
        labels = ["model_name", *(["engine"] if family.per_engine else []), *([family.label] if family.label else [])]
        if family.kind is Kind.HISTOGRAM:
            buckets = token_buckets(self._launch.max_model_len) if family.token_buckets else family.buckets
            return Histogram(family.name, family.help, labels, buckets=buckets, registry=self.registry)
        kind = Counter if family.kind is Kind.COUNTER else Gauge
        return kind(family.name, family.help, labels, registry=self.registry)

    def _values(self, family: Family) -> tuple[str, ...]:
        if family.label == "position":
            drafts = self._launch.speculation.drafts if self._launch.speculation else 0
            return tuple(str(position) for position in range(drafts))
        return family.values or ("",)

    def _cache_config(self) -> None:
        values = cache_config(self._launch)
        gauge = Gauge(
            "vllm:cache_config_info",
            "Information of the LLMEngine CacheConfig",
            [*values, "engine"],
            registry=self.registry,
        )
        for engine in range(self._launch.engines):
            gauge.labels(**values, engine=str(engine)).set(1)


class Recorder:
    """Turns what one engine does into its series. A family that the release lacks is passed over."""

    def __init__(self, series: Mapping[str, Metric], *, kv_tokens: int) -> None:
        """`series` by family, or family and label value, joined by a slash."""
        self._series = series
        self._kv_tokens = kv_tokens
        self._set("engine_sleep_state/awake", 1)

    def step(self, outcome: Outcome) -> None:
        """One engine step was done."""
        generated = 0
        for emission in outcome.emitted:
            generated += emission.tokens
            if emission.gap is None:
                self._observe("time_to_first_token_seconds", emission.sequence.last_token - emission.sequence.arrived)
            else:
                self._observe("inter_token_latency_seconds", emission.gap)
                self._observe("time_per_output_token_seconds", emission.gap)
        self._add("generation_tokens", generated)
        self._add("prompt_tokens", outcome.prompt_tokens)
        self._add("prompt_tokens_by_source/local_compute", outcome.prompt_tokens)
        self._add("prefix_cache_queries", outcome.prompt_tokens)
        self._add("num_preemptions", outcome.preempted)
        self._observe("iteration_tokens_total", generated + outcome.prompt_tokens)
        self._drafts(outcome)

    def queue(self, scheduler: Scheduler) -> None:
        """The batch or the queue changed."""
        self._set("num_requests_running", len(scheduler.running))
        self._set("num_requests_waiting", len(scheduler.waiting))
        self._set("num_requests_waiting_by_reason/capacity", len(scheduler.waiting))
        self._set("kv_cache_usage_perc", scheduler.kv_used / self._kv_tokens)

    def finished(self, sequence: Sequence, reason: Finish, now: float) -> None:
        """A sequence ended, also one that was aborted."""
        self._add(f"request_success/{reason.value}", 1)
        self._observe("request_prompt_tokens", sequence.prompt_tokens)
        self._observe("request_generation_tokens", sequence.generated)
        self._observe("request_max_num_generation_tokens", sequence.generated)
        self._observe("request_params_n", sequence.choices)
        if sequence.requested_tokens is not None:
            self._observe("request_params_max_tokens", sequence.requested_tokens)
        self._observe("request_num_preemptions", sequence.preemptions)
        self._observe("request_prefill_kv_computed_tokens", sequence.prompt_tokens)
        self._times(sequence, now)

    def _times(self, sequence: Sequence, now: float) -> None:
        admitted = now if sequence.admitted is None else sequence.admitted
        first = now if sequence.first_token is None else sequence.first_token
        last = max(sequence.last_token, first)
        self._observe("e2e_request_latency_seconds", now - sequence.arrived)
        self._observe("request_queue_time_seconds", admitted - sequence.arrived)
        self._observe("request_inference_time_seconds", last - admitted)
        self._observe("request_prefill_time_seconds", first - admitted)
        self._observe("request_decode_time_seconds", last - first)
        self._observe("request_time_per_output_token_seconds", (last - first) / max(sequence.generated - 1, 1))

    def _drafts(self, outcome: Outcome) -> None:
        self._add("spec_decode_num_drafts", outcome.drafts)
        self._add("spec_decode_num_draft_tokens", outcome.drafted)
        self._add("spec_decode_num_accepted_tokens", sum(outcome.accepted))
        for position, accepted in enumerate(outcome.accepted):
            self._add(f"spec_decode_num_accepted_tokens_per_pos/{position}", accepted)

    def _add(self, key: str, amount: float) -> None:
        series = self._series.get(key)
        if isinstance(series, Counter) and amount:
            series.inc(amount)

    def _set(self, key: str, value: float) -> None:
        series = self._series.get(key)
        if isinstance(series, Gauge):
            series.set(value)

    def _observe(self, key: str, value: float) -> None:
        series = self._series.get(key)
        if isinstance(series, Histogram):
            series.observe(value)


def cache_config(launch: Launch) -> dict[str, str]:
    """The labels of `vllm:cache_config_info`; what the simulator has no idea of says None like an unset field."""
    block = 16
    tokens = launch.limits.kv_tokens
    unset = (
        *("cache_hit_alignment_tokens", "hash_block_size", "kv_cache_layout", "kv_offloading_size", "mamba_block_size"),
        *("mamba_page_size_padded", "num_cpu_blocks", "num_gpu_blocks_override", "prefix_match_unit"),
        *("skip_page_size_padded", "sliding_window"),
    )
    no = ("enable_mamba_shared_prefix_checkpoint", "is_attention_free", "kv_sharing_fast_prefill", "use_kda_recoverssm")
    return {
        **dict.fromkeys(unset, "None"),
        **dict.fromkeys((*no, "use_replayssm", "user_specified_block_size"), "False"),
        **dict.fromkeys(("_block_size_resolved", "enable_prefix_caching", "swa_bounded_replay"), "True"),
        **dict.fromkeys(("block_size", "effective_attention_block_size"), str(block)),
        "cache_dtype": "auto",
        "gpu_memory_utilization": "0.92",
        "kv_cache_dtype_skip_layers": "[]",
        "kv_cache_max_concurrency": str(tokens / launch.max_model_len),
        "kv_cache_memory_bytes": "None",
        "kv_cache_size_tokens": str(tokens),
        "kv_offloading_backend": "native",
        "mamba_cache_dtype": "auto",
        "mamba_cache_mode": "none",
        "mamba_ssm_cache_dtype": "float32",
        "num_gpu_blocks": str(tokens // block),
        "prefix_cache_retention_interval": "0",
        "prefix_caching_hash_algo": "sha256",
        "replayssm_buffer_len": "16",
    }
