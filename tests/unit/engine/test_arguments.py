"""Flags that the operator owns, in every spelling (case G1-03)."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_operator.api.conditions import Reason
from specdec_operator.engine.arguments import OWNED, check_arguments, normalise, owner_of_flag
from specdec_operator.engine.findings import Severity

DATA = Path(__file__).parents[2] / "data" / "vllm"


def owned(argument: str) -> bool:
    """Say whether the argument alone is refused as an owned flag."""
    flag = normalise(argument)
    return flag is not None and owner_of_flag(flag) is not None


@pytest.mark.parametrize(
    ("argument", "flag"),
    [
        ('--speculative_config={"method":"ngram"}', "--speculative-config"),
        ("-sc", "-sc"),
        ("-sc={}", "-sc"),
        ("--speculative-config.method=eagle", "--speculative-config"),
        ("--speculative_config.a.b+=c", "--speculative-config"),
        ("--speculative-config={}", "--speculative-config"),
        ("--no-trust_remote_code", "--trust-remote-code"),
        ("--seed=a.b_c", "--seed"),
        ("value", None),
        ("-1", None),
        ("-0.5", None),
        ("", None),
    ],
)
def test_every_spelling_gives_the_flag(argument: str, flag: str | None) -> None:
    """Underscores, =, dots and --no- are only spellings; values are no flags."""
    assert normalise(argument) == flag


@pytest.mark.parametrize(
    "argument",
    [
        "--speculative-config",
        '--speculative_config={"method":"ngram"}',
        "-sc",
        "-sc={}",
        "--speculative-config.method=eagle",
        "--speculative-conf={}",
        "--spec-method",
        "--spec_model=x",
        "--spec-tokens",
        "--spec",
        "--port=1",
        "--por",
        "--host",
        "--uds=/x",
        "--shutdown-timeout",
        "--served_model_name=x",
        "-tp=2",
        "-tp",
        "-t",
        "--tensor_parallel_size=2",
        "--pipeline-parallel-size",
        "-pp",
        "--data-parallel-size",
        "-dp",
        "--disable-log-stats",
        "--no-disable-log-stats",
        "--ssl-keyfile",
        "--ssl_ca_certs=x",
        "--enable-ssl-refresh",
        "--model=x",
        "--revision",
        "--trust-remote-code",
        "--max-model-len",
        "--max_num_seqs=3",
        "--gpu-memory-utilization=0.5",
        "--hf-token=x",
        "--headless",
    ],
)
def test_owned_flag_is_refused_in_every_spelling(argument: str) -> None:
    """Also the unambiguous beginnings that argparse completes."""
    findings = [finding for finding in check_arguments((argument,)) if finding.severity is Severity.ERROR]

    assert len(findings) == 1
    assert findings[0].reason is Reason.RESERVED_ARGUMENT
    assert findings[0].field == "spec.engine.extraArgs[0]"
    assert argument in findings[0].message
    assert findings[0].remedy
    assert findings[0].method is None


@pytest.mark.parametrize(
    "argument",
    [
        "--port-range",
        "--hostname",
        "--model-impl",
        "--model-loader-extra-config={}",
        "--max-num-batched-tokens=8192",
        "--max-model-length-x",
        "--specialize",
        "--seed",
        "--data-parallel-size-local",
        "--enable-prefix-caching",
        "--no-enable-prefix-caching",
        "--middleware",
        "--api-key",
        "--hf-overrides={}",
        "-O3",
        "-O.level=3",
        "-q",
        "-ac",
    ],
)
def test_unrelated_flag_with_a_similar_beginning_passes(argument: str) -> None:
    """A longer name is another flag."""
    assert not owned(argument)
    assert not list(check_arguments((argument,)))


def test_of_all_real_flags_only_the_owned_ones_are_refused() -> None:
    """Completing beginnings takes no flag of vLLM 0.32 from the user that the operator does not set itself."""
    flags = (DATA / "serve-flags-0.32.0.txt").read_text().split()
    aliases = {"--no-trust-remote-code", "--no-enable-ssl-refresh"}

    refused = {flag for flag in flags if owned(flag)}
    families = {flag for flag in flags if flag.startswith(("--spec-", "--ssl-"))}
    assert len(flags) > 400
    assert refused == {known.flag for known in OWNED if known.flag in flags} | families | aliases


def test_values_are_not_taken_for_flags() -> None:
    """A value may contain anything, also the names of owned flags."""
    arguments = ("--chat-template", "{{ --port }}", "--override-generation-config", '{"speculative-config": 1}')

    assert not list(check_arguments(arguments))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("value",), "without a flag"),
        (("--", "--seed"), "ends the flags"),
        (("--max-num-batched-tokens 8192",), "space"),
        (("--per-request-spec-decode-metrics", "summary"), "without speculation"),
        (("--per-request-spec-decode-metrics=detailed",), "without speculation"),
    ],
)
def test_arguments_that_no_engine_starts_with_are_refused(arguments: tuple[str, ...], said: str) -> None:
    """What vLLM cannot parse, or cannot run without speculation, is an error with a remedy."""
    (finding,) = check_arguments(arguments)

    assert finding.severity is Severity.ERROR
    assert said in finding.message


def test_per_request_metrics_may_be_none() -> None:
    """The flag's harmless value passes."""
    assert not list(check_arguments(("--per-request-spec-decode-metrics", "none")))


def test_config_file_is_warned_about() -> None:
    """Flags in a file cannot be seen."""
    (finding,) = check_arguments(("--config=/etc/vllm.yaml",))

    assert finding.severity is Severity.WARNING


def test_long_argument_is_shortened_in_the_message() -> None:
    """A message stays readable."""
    (finding,) = check_arguments((f"--speculative-config={'x' * 4000}",))

    assert len(finding.message) < 200


@given(
    owned_flag=st.sampled_from([flag.flag for flag in OWNED if flag.flag.startswith("--")]),
    underscores=st.lists(st.booleans(), min_size=40, max_size=40),
    tail=st.sampled_from(["", "=", "=x", ".key", ".key=x", ".a.b+=c", "=--seed"]),
)
def test_no_spelling_of_an_owned_flag_passes(owned_flag: str, underscores: list[bool], tail: str) -> None:
    """Any mix of dashes and underscores, with any kind of value."""
    name = owned_flag[2:]
    mixed = "".join(
        "_" if character == "-" and low else character for character, low in zip(name, underscores, strict=False)
    )

    assert owned(f"--{mixed}{tail}")


@given(st.lists(st.text(max_size=30), max_size=6))
def test_any_arguments_can_be_checked(arguments: list[str]) -> None:
    """No text breaks the check, and every finding points into the list."""
    for finding in check_arguments(tuple(arguments)):
        assert finding.field.startswith("spec.engine.extraArgs[")
