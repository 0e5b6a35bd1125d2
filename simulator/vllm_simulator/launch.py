"""The command line of `vllm serve`, and what it makes of the engine together with the environment."""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from packaging.version import Version

from vllm_simulator.schedule import read_schedule
from vllm_simulator.scheduler import Drafting, Limits
from vllm_simulator.settings import Settings
from vllm_simulator.speculation import ConfigError, Speculation, read_speculation

_AT_LEAST_ONE = (
    *("max_model_len", "max_num_seqs", "max_num_batched_tokens"),
    *("data_parallel_size", "tensor_parallel_size"),
)


_SINCE = {
    "--shutdown-timeout": "0.18.0",
    "-sc": "0.19.0",
    "--spec-method": "0.22.0",
    "--spec-model": "0.22.0",
    "--spec-tokens": "0.22.0",
}
"""Flags with the first release that knows them."""


class LaunchError(ValueError):
    """The engine refuses to start with these arguments: exit code 1, message on stderr."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """One start of the simulated engine: everything that stays the same while it runs."""

    model: str
    served_names: tuple[str, ...]
    host: str
    port: int
    max_model_len: int
    limits: Limits
    engines: int
    """Data-parallel engines behind the one HTTP server."""
    speculation: Speculation | None
    drafting: Drafting | None
    shutdown_timeout: float
    log_stats: bool
    """False with `--disable-log-stats`: no engine metrics at all."""
    api_keys: tuple[str, ...]
    middleware: tuple[str, ...]
    settings: Settings

    @property
    def release(self) -> Version:
        """The simulated vLLM release."""
        return self.settings.release

    @property
    def method(self) -> str:
        """The active method, `none` for plain decoding."""
        return self.speculation.method if self.speculation else "none"


def parse_arguments(arguments: Sequence[str], release: Version) -> argparse.Namespace:
    """Parse the arguments after `serve`; where they are wrong, print usage and exit with code 2 like vLLM."""
    parser = _parser(release)
    dotted, plain = _split_dotted(_dashed(arguments))
    options = parser.parse_args(plain)
    for key, text in dotted:
        options.speculative_config = {**(options.speculative_config or {}), key: _value(text)}
    options.model = options.model_tag or options.model or "Qwen/Qwen3-0.6B"
    return options


def make_launch(options: argparse.Namespace, settings: Settings, environment: Mapping[str, str]) -> Launch:
    """Check the options as the engine does at its start.

    Raises:
        LaunchError: the engine would end with exit code 1.
        ConfigError: so it would because of the speculative configuration.
        ScheduleError: so it would because of the K schedule, later.
    """
    speculation = read_speculation(
        _speculative(options), release=settings.release, parallel=options.tensor_parallel_size
    )
    settings_of_method = settings.under(speculation.method if speculation else "none")
    _check(options, settings)
    return Launch(
        model=options.model,
        served_names=tuple(options.served_model_name or [options.model]),
        host=options.host or "0.0.0.0",  # noqa: S104 - as vLLM does; the test bed binds it to a pod's own address
        port=options.port,
        max_model_len=options.max_model_len,
        limits=Limits(
            sequences=options.max_num_seqs,
            kv_tokens=settings.kv_tokens,
            batched_tokens=options.max_num_batched_tokens,
        ),
        engines=options.data_parallel_size,
        speculation=speculation,
        drafting=_drafting(speculation, settings_of_method, options.data_parallel_size),
        shutdown_timeout=options.shutdown_timeout,
        log_stats=not options.disable_log_stats,
        api_keys=tuple(options.api_key or filter(None, [environment.get("VLLM_API_KEY")])),
        middleware=tuple(options.middleware),
        settings=settings_of_method,
    )


def _drafting(speculation: Speculation | None, settings: Settings, engines: int) -> Drafting | None:
    if speculation is None:
        return None
    # Several data-parallel engines must draft alike, so vLLM drops the schedule there.
    ranges = speculation.schedule if engines == 1 else ()
    return Drafting(
        drafts=speculation.drafts,
        acceptance=settings.chances(speculation.drafts),
        schedule=read_schedule(ranges, speculation.drafts),
    )


def _check(options: argparse.Namespace, settings: Settings) -> None:
    for name in (
        "max_model_len",
        "max_num_seqs",
        "max_num_batched_tokens",
        "data_parallel_size",
        "tensor_parallel_size",
    ):
        if getattr(options, name) < 1:
            raise LaunchError(f"{name} must be at least 1, not {getattr(options, name)}")
    if options.shutdown_timeout < 0:
        raise LaunchError(f"shutdown_timeout must be at least 0, not {options.shutdown_timeout}")
    if options.max_model_len > settings.kv_tokens:
        raise LaunchError(
            f"To serve at least one request with the model's max seq len ({options.max_model_len}), more KV cache "
            f"memory is needed than is available (SIMULATOR_KV_TOKENS={settings.kv_tokens}). "
            "Try increasing it or decreasing `max_model_len`."
        )


def _speculative(options: argparse.Namespace) -> object:
    parts = {"method": options.spec_method, "model": options.spec_model, "num_speculative_tokens": options.spec_tokens}
    given = {key: value for key, value in parts.items() if value is not None}
    if not given:
        return options.speculative_config
    config = dict(options.speculative_config or {})
    for key in given:
        if key in config:
            raise ConfigError(f"{key} is given twice, as a flag and in --speculative-config", value=config)
    return {**config, **given}


def _dashed(arguments: Sequence[str]) -> list[str]:
    """Flags may be spelled with underscores; values, also after `=`, stay as they are."""
    spelled = []
    for argument in arguments:
        if argument.startswith("--"):
            flag, sign, value = argument.partition("=")
            name, dot, key = flag.partition(".")
            spelled.append(name.replace("_", "-") + dot + key + sign + value)
        else:
            spelled.append(argument)
    return spelled


def _split_dotted(arguments: Sequence[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Take `--speculative-config.key value` out, in both spellings."""
    dotted: list[tuple[str, str]] = []
    plain: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        flag, sign, value = argument.partition("=")
        name, dot, key = flag.partition(".")
        if dot and name in {"--speculative-config", "-sc"}:
            dotted.append((key, value if sign else next(rest, "")))
        else:
            plain.append(argument)
    return dotted, plain


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _json(text: str) -> object:
    if text in {"", "None"}:
        return None
    try:
        return json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"Value {text} cannot be converted to <function loads>.") from error


def _length(text: str) -> int:
    """A whole number, also as vLLM's `8k` (1000s) and `8K` (1024s)."""
    factors = {"k": 10**3, "m": 10**6, "g": 10**9, "K": 2**10, "M": 2**20, "G": 2**30}
    factor = factors.get(text[-1:], 1)
    try:
        return int(float(text[:-1]) * factor) if factor > 1 else int(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"invalid number: {text!r}") from error


def _parser(release: Version) -> argparse.ArgumentParser:
    since = {flag for flag, first in _SINCE.items() if release >= Version(first)}
    parser = argparse.ArgumentParser(prog="vllm serve", usage="vllm serve [model_tag] [options]")
    add = parser.add_argument
    add("model_tag", nargs="?")
    add("--model")
    add("--host")
    add("--port", type=int, default=8000)
    add("--served-model-name", nargs="+")
    add("--max-num-seqs", type=_length, default=256)
    add("--max-model-len", type=_length, default=8192)
    add("--max-num-batched-tokens", type=_length, default=8192)
    add("--tensor-parallel-size", "-tp", type=int, default=1)
    add("--data-parallel-size", "-dp", type=int, default=1)
    add("--gpu-memory-utilization", type=float, default=0.92)
    add("--speculative-config", *({"-sc"} & since), type=_json)
    add("--disable-log-stats", action="store_true")
    add("--api-key", nargs="+")
    add("--middleware", action="append", default=[])
    for flag, kind in (("--spec-method", str), ("--spec-model", str), ("--spec-tokens", int)):
        _add_or_default(parser, flag, known=flag in since, shape={"type": kind})
    timeout: dict[str, Any] = {"type": int, "default": 0}
    _add_or_default(parser, "--shutdown-timeout", known="--shutdown-timeout" in since, shape=timeout)
    _add_ignored(parser)
    return parser


def _add_or_default(parser: argparse.ArgumentParser, flag: str, *, known: bool, shape: dict[str, Any]) -> None:
    """Add a flag, or only its default where the release does not know the flag."""
    if known:
        parser.add_argument(flag, **shape)
    else:
        parser.set_defaults(**{flag.removeprefix("--").replace("-", "_"): shape.get("default")})


def _add_ignored(parser: argparse.ArgumentParser) -> None:
    shapes: dict[str, dict[str, Any]] = {
        "value": {},
        "values": {"nargs": "+"},
        "optional": {"nargs": "?"},
        "switch": {"action": argparse.BooleanOptionalAction},
        "truth": {"action": "store_true"},
    }
    for line in resources.files("vllm_simulator").joinpath("flags.txt").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            shape, *spellings = line.split()
            parser.add_argument(*spellings, help=argparse.SUPPRESS, **shapes[shape])
