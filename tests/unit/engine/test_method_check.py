"""What is wrong with a method for a release."""

from typing import Any

import pytest
from tests.helpers.deployments import EAGLE, NGRAM, with_methods

from specdec_operator.api.conditions import Reason
from specdec_operator.engine.check import check_spec, unsupported
from specdec_operator.engine.findings import Finding, Severity
from specdec_operator.engine.methods import METHODS, MTP_NAMES, find_method
from specdec_operator.engine.options import OPTIONS, TYPED_KEYS, known_in

NEWEST = "0.33.0"


def findings(method: dict[str, Any], version: str = NEWEST, **engine: Any) -> list[Finding]:
    """Check one method alone and return what is said about it."""
    deployment = with_methods({"name": "m", **method}, engine={"version": version, **engine})
    return [finding for finding in check_spec(deployment.spec) if finding.method == "m"]


def the_error(method: dict[str, Any], version: str = NEWEST, **engine: Any) -> Finding:
    """Return the one error about a method."""
    (error,) = (item for item in findings(method, version, **engine) if item.severity is Severity.ERROR)
    return error


@pytest.mark.parametrize("name", sorted(set(METHODS) - {"mlp_speculator", "medusa"}))
def test_method_of_the_newest_release_is_accepted(name: str) -> None:
    """With a drafter where one is needed, and one token, every method of the newest release passes."""
    assert findings({"method": name, "model": "org/draft", "numSpeculativeTokens": 1}) == []


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("suffix", "0.11.0"),
        ("draft_model", "0.14.1"),
        ("extract_hidden_states", "0.16.0"),
        ("ngram_gpu", "0.17.1"),
        ("dflash", "0.19.1"),
        ("custom_class", "0.21.0"),
        ("dspark", "0.24.0"),
        ("medusa", "0.33.0"),
        ("medusa", "0.40.0"),
        ("mlp_speculator", "0.30.0"),
        ("qwen4_exp_mtp", "0.28.0"),
    ],
)
def test_method_outside_its_releases_is_unsupported(name: str, version: str) -> None:
    """The finding names the release and when the method runs."""
    error = the_error({"method": name, "model": "org/draft", "numSpeculativeTokens": 1}, version)

    assert error.reason is Reason.UNSUPPORTED_BY_ENGINE_VERSION
    assert error.field == "spec.speculation.methods[0].method"
    assert name in error.message
    assert version in error.message


def test_unknown_method_gets_the_list() -> None:
    """A misspelt method is answered with the methods that this release runs."""
    error = the_error({"method": "Eagle3", "model": "org/draft", "numSpeculativeTokens": 1}, NEWEST)

    assert error.rule == "unknown-method"
    assert "eagle3" in error.remedy
    assert "medusa" not in error.remedy


@pytest.mark.parametrize("name", ["eagle", "eagle3", "dflash", "draft_model", "custom_class"])
def test_methods_with_a_drafter_need_a_model(name: str) -> None:
    """VLLM would not start without one."""
    assert the_error({"method": name, "numSpeculativeTokens": 1}).field == "spec.speculation.methods[0].model"


@pytest.mark.parametrize("name", sorted(set(METHODS) - {"mlp_speculator", "medusa", "suffix"}))
def test_number_of_tokens_must_be_given(name: str) -> None:
    """Every method but suffix refuses to start without it, mtp too."""
    assert the_error({"method": name, "model": "org/draft"}).rule == "needs-tokens"


def test_suffix_has_a_default_number_of_tokens() -> None:
    """Suffix decoding takes its tree depth."""
    assert findings({"method": "suffix"}) == []


@pytest.mark.parametrize(
    ("name", "tokens", "valid"), [("ngram", 128, True), ("ngram", 129, False), ("extract_hidden_states", 2, False)]
)
def test_number_of_tokens_is_bounded(name: str, tokens: int, *, valid: bool) -> None:
    """More than the verifier can take is an error."""
    assert (findings({"method": name, "numSpeculativeTokens": tokens}) == []) is valid


@pytest.mark.parametrize(("draft", "target", "valid"), [(1, 4, True), (4, 4, True), (2, 4, False), (2, 1, False)])
def test_drafter_runs_on_one_or_all_accelerators(draft: int, target: int, *, valid: bool) -> None:
    """Any other size is refused by every release."""
    problems = findings({**EAGLE, "name": "m", "draftTensorParallelSize": draft}, tensorParallelSize=target)

    assert (problems == []) is valid


def test_older_names_of_mtp_are_accepted_with_a_warning() -> None:
    """VLLM turns them into mtp."""
    (warning,) = findings({"method": "deepseek_mtp", "numSpeculativeTokens": 1})

    assert warning.severity is Severity.WARNING
    assert warning.remedy == "write mtp"


def test_speculation_below_the_security_fix_warns() -> None:
    """Engines below 0.24.0 can be brought down by one request."""
    (warning,) = findings({**NGRAM, "name": "m"}, "0.23.0")

    assert warning.rule == "security-floor"
    assert findings({**NGRAM, "name": "m"}, "0.24.0") == []


@pytest.mark.parametrize("key", sorted(TYPED_KEYS))
def test_option_with_a_field_of_its_own_is_refused(key: str) -> None:
    """Said twice it is a conflict, said only in options it is in the wrong place."""
    error = the_error({**NGRAM, "name": "m", "options": {key: "x"}})
    twice = key in {"method", "num_speculative_tokens"}

    assert error.reason is (Reason.CONFLICTING_OPTIONS if twice else Reason.RESERVED_ARGUMENT)
    assert error.field == f"spec.speculation.methods[0].options.{key}"
    assert TYPED_KEYS[key] in error.remedy


@pytest.mark.parametrize(
    ("key", "version", "effect", "remedy"),
    [
        ("prompt_lookup_maximum", NEWEST, "refuses", "prompt_lookup_max"),
        ("prompt-lookup-max", NEWEST, "refuses", "write prompt_lookup_max"),
        ("kv_cache_dtype", "0.25.1", "refuses", "leave it out"),
        ("kv_cache_dtype", "0.15.1", "drops", "leave it out"),
        ("disable_by_batch_size", "0.17.0", "refuses", "leave it out"),
        ("zzz", NEWEST, "refuses", "leave it out"),
    ],
)
def test_unknown_option_is_refused(key: str, version: str, effect: str, remedy: str) -> None:
    """VLLM refuses it, or before 0.16.0 drops it in silence; both are an error here."""
    error = the_error({**NGRAM, "name": "m", "options": {key: 1}}, version)

    assert error.reason is Reason.UNKNOWN_OPTION
    assert effect in error.message
    assert remedy in error.remedy


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("-inf")], {"a": {1, 2}}])
def test_option_that_is_no_json_is_refused(value: Any) -> None:
    """What cannot be written as JSON never reaches an engine."""
    assert the_error({**NGRAM, "name": "m", "options": {"prompt_lookup_max": value}}).rule == "option-value"


def test_error_of_one_method_leaves_the_others() -> None:
    """An unsupported method is told from a supported one."""
    checked = check_spec(with_methods(NGRAM, {"name": "bad", "method": "eagle3"}).spec)

    assert unsupported(checked, "ngram") is None
    assert unsupported(checked, "bad") is not None


def test_tables_are_consistent() -> None:
    """No key is typed and free at once, ranges are ordered, and names of mtp are no methods of their own."""
    assert not set(TYPED_KEYS) & set(OPTIONS)
    assert all(first <= last for first, last in OPTIONS.values())
    assert not set(MTP_NAMES) & set(METHODS)
    assert all(find_method(name) is not None for name in (*METHODS, *MTP_NAMES))
    assert not known_in("zzz", (0, 30, 0))
