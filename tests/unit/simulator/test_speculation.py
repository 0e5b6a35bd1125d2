"""`--speculative-config` as the releases read it."""

from typing import Any

import pytest
from packaging.version import Version

from vllm_simulator.speculation import ConfigError, Speculation, read_speculation

NEWEST = Version("0.33.0")


def read(config: object, release: str = "0.32.0", parallel: int = 1) -> Speculation | None:
    """Read for a release."""
    return read_speculation(config, release=Version(release), parallel=parallel)


def test_none_means_no_speculation() -> None:
    """And nothing else does."""
    assert read(None) is None
    with pytest.raises(ConfigError, match="num_speculative_tokens was provided but without"):
        read({})


@pytest.mark.parametrize(
    ("config", "release", "method", "drafts"),
    [
        ({"method": "ngram", "num_speculative_tokens": 4}, "0.11.0", "ngram", 4),
        ({"method": "ngram", "num_speculative_tokens": "4"}, "0.32.0", "ngram", 4),
        ({"method": "ngram", "num-speculative-tokens": 4}, "0.26.0", "ngram", 4),
        ({"method": "suffix"}, "0.32.0", "suffix", 24),
        ({"method": "deepseek_mtp", "num_speculative_tokens": 1}, "0.32.0", "mtp", 1),
        ({"model": "org/EAGLE3-Llama", "num_speculative_tokens": 3}, "0.32.0", "eagle3", 3),
        ({"model": "org/tiny", "num_speculative_tokens": 3}, "0.17.0", "draft_model", 3),
        ({"model": "ngram", "num_speculative_tokens": 3}, "0.11.0", "ngram", 3),
        ({"method": "ngram", "num_speculative_tokens": 3, "new_key": 1}, "0.15.1", "ngram", 3),
    ],
)
def test_accepted(config: dict[str, Any], release: str, method: str, drafts: int) -> None:
    """Method and K as the engine will use them."""
    found = read(config, release)

    assert found is not None
    assert (found.method, found.drafts) == (method, drafts)


@pytest.mark.parametrize(
    ("config", "release", "message"),
    [
        ({"method": "NGRAM", "num_speculative_tokens": 4}, "0.32.0", "Input should be 'ngram'"),
        ({"method": "suffix", "num_speculative_tokens": 4}, "0.11.0", "Input should be"),
        ({"method": "medusa", "model": "m", "num_speculative_tokens": 4}, "0.33.0", "Input should be"),
        ({"method": "draft_model", "model": "m", "num_speculative_tokens": 4}, "0.14.1", "Input should be"),
        ({"model": "org/tiny", "num_speculative_tokens": 3}, "0.16.0", "cannot be detected"),
        ({"method": "ngram"}, "0.32.0", "must be provided"),
        ({"method": "ngram", "num_speculative_tokens": None}, "0.32.0", "valid integer"),
        ({"method": "ngram", "num_speculative_tokens": 0}, "0.32.0", "greater than 0"),
        ({"method": "ngram", "num_speculative_tokens": True}, "0.32.0", "valid integer"),
        ({"method": "ngram", "num-speculative-tokens": 4}, "0.25.1", "Unexpected keyword argument"),
        ({"method": "ngram", "num_speculative_tokens": 3, "new_key": 1}, "0.16.0", "Unexpected keyword argument"),
        ({"method": "eagle3", "num_speculative_tokens": 3}, "0.32.0", "without speculative model"),
        (
            {"method": "ngram", "num_speculative_tokens": 3, "prompt_lookup_min": 5, "prompt_lookup_max": 2},
            "0.32.0",
            "prompt_lookup_min=5 must be <= prompt_lookup_max=2",
        ),
        ({"method": "ngram", "num_speculative_tokens": 3, "tensor_parallel_size": 1}, "0.15.0", "draft_tensor"),
        ("ngram", "0.32.0", "Input should be a dictionary"),
    ],
)
def test_refused(config: object, release: str, message: str) -> None:
    """With the words of vLLM, so that a log of the simulator reads like one of vLLM."""
    with pytest.raises(ConfigError, match=message):
        read(config, release)


def test_the_draft_runs_on_one_or_on_all_devices() -> None:
    """`draft_tensor_parallel_size` is 1 or that of the target."""
    config = {"method": "ngram", "num_speculative_tokens": 3, "draft_tensor_parallel_size": 2}

    assert read(config, parallel=2) is not None
    with pytest.raises(ConfigError, match="cannot be other value than 1"):
        read(config, parallel=4)


def test_the_message_has_the_shape_of_pydantic() -> None:
    """Kind, value and type in brackets."""
    with pytest.raises(ConfigError) as caught:
        read({"method": "ngram", "num_speculative_tokens": 0})

    assert caught.value.text() == (
        "1 validation error for SpeculativeConfig\nnum_speculative_tokens\n"
        "  Input should be greater than 0 [type=greater_than, input_value=0, input_type=int]"
    )


def test_a_schedule_is_kept_as_given() -> None:
    """Only its shape is checked here."""
    config = {"method": "ngram", "num_speculative_tokens": 3}
    found = read({**config, "num_speculative_tokens_per_batch_size": [[5, 1, 9]]})

    assert found is not None
    assert found.schedule == ((5, 1, 9),)
    with pytest.raises(ConfigError, match="tuple of 3 integers"):
        read({**config, "num_speculative_tokens_per_batch_size": [[1, 2]]})
