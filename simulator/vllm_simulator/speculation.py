"""`--speculative-config` as vLLM reads it: what it means, and what a release refuses.

Only what does not need a model's files is checked. The fuller table of rules is the operator's; this one exists so that
a bad value ends the simulated process the way it ends a real one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from packaging.version import Version

from vllm_simulator.fields import MODEL_NEEDED, keys_of, methods_of

_NO_MODEL = "num_speculative_tokens was provided but without speculative model."


class ConfigError(ValueError):
    """The configuration is refused: `loc` is the key (empty for the whole), `kind` pydantic's name for the error."""

    def __init__(self, message: str, *, loc: str = "", kind: str = "value_error", value: object = None) -> None:
        """Keep the parts of the message."""
        super().__init__(message)
        self.loc, self.kind, self.value = loc, kind, value

    def text(self) -> str:
        """The message as pydantic prints it."""
        where = f"{self.loc}\n" if self.loc else ""
        prefix = "Value error, " if self.kind == "value_error" else ""
        shown = f"[type={self.kind}, input_value={self.value!r}, input_type={type(self.value).__name__}]"
        return f"1 validation error for SpeculativeConfig\n{where}  {prefix}{self} {shown}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Speculation:
    """An accepted configuration."""

    method: str
    drafts: int
    """K, at least 1."""
    schedule: tuple[tuple[int, int, int], ...] = ()
    """The K schedule as given; checked only when the engine starts."""


def read_speculation(config: object, *, release: Version, parallel: int = 1) -> Speculation | None:
    """Check a decoded configuration; None (and nothing else) means no speculation.

    Raises:
        ConfigError: this release refuses it.
    """
    if config is None:
        return None
    if not isinstance(config, Mapping):
        raise ConfigError("Input should be a dictionary or an instance of SpeculativeConfig", value=config)
    values = _known(config, release)
    method = _method(values, release)
    drafts = _drafts(values, method)
    if method in MODEL_NEEDED and not values.get("model"):
        raise ConfigError(_NO_MODEL, value=config)
    _lookup(values, method)
    _draft_parallel(values, parallel)
    return Speculation(method=method, drafts=drafts, schedule=_schedule(values))


def _known(config: Mapping[str, Any], release: Version) -> dict[str, Any]:
    if release >= Version("0.26.0"):
        config = {key.replace("-", "_"): value for key, value in config.items()}
    known = keys_of(release)
    if release >= Version("0.15.0") and "tensor_parallel_size" in config:
        raise ConfigError(
            "'tensor_parallel_size' is not a valid argument in the speculative_config. "
            "Please pass 'draft_tensor_parallel_size' instead.",
            value=config,
        )
    for key, value in config.items():
        if key not in known and release >= Version("0.16.0"):
            raise ConfigError("Unexpected keyword argument", loc=key, kind="unexpected_keyword_argument", value=value)
    return {key: value for key, value in config.items() if key in known}


def _method(values: Mapping[str, Any], release: Version) -> str:
    method, model = values.get("method"), values.get("model")
    known = methods_of(release)
    if method is None:
        return _detected(model, release, values)
    if method not in known and not _is_mtp(method):
        names = ", ".join(repr(name) for name in known)
        raise ConfigError(f"Input should be {names}", loc="method", kind="literal_error", value=method)
    return "mtp" if _is_mtp(method) else str(method)


def _is_mtp(method: object) -> bool:
    return isinstance(method, str) and (method == "mtp" or method.endswith("_mtp"))


def _detected(model: object, release: Version, values: Mapping[str, Any]) -> str:
    if not isinstance(model, str) or not model:
        raise ConfigError(_NO_MODEL, value=dict(values))
    if model in {"ngram", "[ngram]"}:
        return "ngram"
    lowered = model.lower()
    for part, method in (("eagle-", "eagle"), ("eagle3", "eagle3"), ("dflash", "dflash"), ("dspark", "dspark")):
        if part in lowered and method in methods_of(release):
            return method
    if release < Version("0.17.0"):
        raise ConfigError("method cannot be detected from the draft model", value=dict(values))
    return "draft_model"


def _drafts(values: Mapping[str, Any], method: str) -> int:
    given = values.get("num_speculative_tokens")
    if given is None and "num_speculative_tokens" not in values:
        if method == "suffix":
            return _whole(values.get("suffix_decoding_max_tree_depth", 24), "suffix_decoding_max_tree_depth")
        raise ConfigError(
            "num_speculative_tokens must be provided with speculative model unless the draft model "
            "config contains an n_predict parameter.",
            value=dict(values),
        )
    return _whole(given, "num_speculative_tokens")


def _whole(given: object, key: str) -> int:
    number = given
    if isinstance(number, str) and number.strip().isdecimal():
        number = int(number)
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    if isinstance(number, bool) or not isinstance(number, int):
        raise ConfigError("Input should be a valid integer", loc=key, kind="int_type", value=given)
    if number <= 0:
        raise ConfigError("Input should be greater than 0", loc=key, kind="greater_than", value=given)
    return number


def _lookup(values: Mapping[str, Any], method: str) -> None:
    bounds = {key: values[key] for key in ("prompt_lookup_min", "prompt_lookup_max") if values.get(key) is not None}
    for key, bound in bounds.items():
        bounds[key] = _whole(bound, key)
    if not method.startswith("ngram"):
        return
    low, high = bounds.get("prompt_lookup_min"), bounds.get("prompt_lookup_max")
    if low is not None and high is not None and low > high:
        raise ConfigError(f"prompt_lookup_min={low} must be <= prompt_lookup_max={high}", value=dict(values))


def _draft_parallel(values: Mapping[str, Any], parallel: int) -> None:
    size = values.get("draft_tensor_parallel_size")
    if size is not None and _whole(size, "draft_tensor_parallel_size") not in {1, parallel}:
        raise ConfigError(
            f"speculative_draft_tensor_parallel_size={size} cannot be other value than 1 or "
            f"target model tensor_parallel_size",
            value=dict(values),
        )


def _schedule(values: Mapping[str, Any]) -> tuple[tuple[int, int, int], ...]:
    key = "num_speculative_tokens_per_batch_size"
    entries = values.get(key) or ()
    for entry in entries:
        if not isinstance(entry, list | tuple) or len(entry) != 3 or not all(isinstance(n, int) for n in entry):
            raise ConfigError("Input should be a valid tuple of 3 integers", loc=key, kind="tuple_type", value=entry)
    return tuple((entry[0], entry[1], entry[2]) for entry in entries)
