"""The command line of the simulator."""

import pytest
from packaging.version import Version

from vllm_simulator.launch import Launch, LaunchError, make_launch, parse_arguments
from vllm_simulator.settings import read_settings
from vllm_simulator.speculation import ConfigError

CONFIG = '{"method":"ngram","num_speculative_tokens":4}'


def launch(*arguments: str, **environment: str) -> Launch:
    """What an engine with these arguments is."""
    settings = read_settings({f"SIMULATOR_{name}": value for name, value in environment.items()})
    return make_launch(parse_arguments(["tiny", *arguments], settings.release), settings, {})


@pytest.mark.parametrize(
    "arguments",
    [
        ["--speculative-config", CONFIG],
        [f"--speculative-config={CONFIG}"],
        ["--speculative_config", CONFIG],
        [f"--speculative_config={CONFIG}"],
        ["-sc", CONFIG],
        ["--speculative-config.method", "ngram", "--speculative-config.num_speculative_tokens", "4"],
        ["--speculative-config.method=ngram", "--speculative_config.num_speculative_tokens=4"],
        ["--spec-method", "ngram", "--spec-tokens", "4"],
    ],
)
def test_all_spellings_of_a_speculative_config_mean_the_same(arguments: list[str]) -> None:
    """Dashes, underscores, equals signs, the short flag, dotted keys and single flags."""
    found = launch(*arguments)

    assert found.method == "ngram"
    assert found.drafting is not None
    assert found.drafting.drafts == 4


@pytest.mark.parametrize("text", ["null", "", "None"])
def test_three_ways_to_say_no_speculation(text: str) -> None:
    """All of them leave plain decoding."""
    found = launch("--speculative-config", text)

    assert (found.method, found.speculation, found.drafting) == ("none", None, None)


def test_flags_that_matter_are_read() -> None:
    """Also with numbers as vLLM abbreviates them."""
    found = launch(
        *("--host", "127.0.0.1", "--port=9000", "--served-model-name", "a", "b", "--max-num-seqs", "8"),
        *("--max-model-len", "4k", "--shutdown-timeout", "20", "--disable-log-stats", "-dp", "2"),
    )

    assert (found.host, found.port, found.served_names) == ("127.0.0.1", 9000, ("a", "b"))
    assert (found.limits.sequences, found.max_model_len, found.shutdown_timeout) == (8, 4000, 20)
    assert (found.log_stats, found.engines) == (False, 2)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--enforce-eager"],
        ["--no-enable-prefix-caching"],
        ["-tp", "2", "-ep", "--gpu-memory-utilization", "0.9", "--kv-cache-dtype", "fp8"],
        ["--trust-remote-code", "--revision=main", "--download-dir", "/models", "--tokenizer_mode=auto"],
        ["--enable-auto-tool-choice", "--tool-call-parser", "hermes", "--chat-template", "x.jinja"],
        ["--lora-modules", "a=b", "c=d", "--enable-lora"],
        ["--swap-space", "4", "--disable-log-requests"],
    ],
)
def test_other_flags_of_vllm_are_accepted(arguments: list[str]) -> None:
    """They mean nothing here, and a user's arguments must start."""
    assert launch(*arguments).model == "tiny"


@pytest.mark.parametrize(
    ("release", "flag"), [("0.17.1", "--shutdown-timeout"), ("0.18.1", "-sc"), ("0.21.0", "--spec-method")]
)
def test_flags_are_unknown_before_their_release(release: str, flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    """An older engine refuses what came later, with code 2."""
    with pytest.raises(SystemExit, match="2"):
        parse_arguments(["tiny", flag, "1"], Version(release))
    assert f"unrecognized arguments: {flag}" in capsys.readouterr().err


def test_a_key_given_twice_is_refused() -> None:
    """As a flag and in the JSON."""
    with pytest.raises(ConfigError, match="method is given twice"):
        launch("-sc", CONFIG, "--spec-method", "ngram")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--max-num-seqs", "0"], "max_num_seqs must be at least 1, not 0"),
        (["--shutdown-timeout", "-1"], "shutdown_timeout must be at least 0, not -1"),
        (["--max-model-len", "300000"], "SIMULATOR_KV_TOKENS=262144"),
    ],
)
def test_numbers_that_an_engine_refuses(arguments: list[str], message: str) -> None:
    """With field and value."""
    with pytest.raises(LaunchError, match=message):
        launch(*arguments)


def test_data_parallel_engines_drop_the_schedule() -> None:
    """They must draft alike, so a static K is used, as in vLLM."""
    config = CONFIG.replace("}", ',"num_speculative_tokens_per_batch_size":[[1,8,4],[9,64,1]]}')
    alone, parallel = launch("-sc", config), launch("-sc", config, "-dp", "2")

    assert alone.drafting is not None
    assert alone.drafting.count(20) == 1
    assert parallel.drafting is not None
    assert parallel.drafting.count(20) == 4


def test_a_method_brings_its_own_physics() -> None:
    """`SIMULATOR_METHODS` overrides per method, also for plain decoding."""
    methods = '{"ngram": {"draft_cost": 0.01, "acceptance": [0.9, 0.5]}, "none": {"step_seconds": 0.02}}'
    ngram, plain = launch("-sc", CONFIG, METHODS=methods), launch(METHODS=methods)

    assert ngram.drafting is not None
    assert ngram.drafting.acceptance.chances == (0.9, 0.5)
    assert (ngram.settings.physics.draft_cost, ngram.settings.physics.step_seconds) == (0.01, 0.015)
    assert (plain.settings.physics.draft_cost, plain.settings.physics.step_seconds) == (0.12, 0.02)


def test_an_acceptance_length_becomes_a_chance() -> None:
    """And cannot be more than K + 1."""
    found = launch("-sc", CONFIG, ACCEPTANCE_LENGTH="9")

    assert found.drafting is not None
    assert found.drafting.acceptance.at(0) == 1.0
