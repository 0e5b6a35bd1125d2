"""Where the break-even of a method comes from, and that the closed form gives the published numbers."""

import pytest
from tests.unit.policy.build import method, speculation

from specdec_operator.api.status import BreakEvenSource
from specdec_operator.policy.breakeven import break_even, iid_acceptance_length
from specdec_operator.policy.decision import BreakEven, MethodView
from specdec_operator.policy.knees import KNEES, PRIORS, Drafter, Hardware, drafter_of, knee_of


def known(
    method_name: str, accelerator: str | None, view: MethodView, learned: float | None = None
) -> BreakEven | None:
    """Return the break-even of one method on one accelerator."""
    fields = {} if accelerator is None else {"breakEven": {"accelerator": accelerator}}
    spec = speculation(methods=[{"name": view.name, "method": method_name, "numSpeculativeTokens": 3}], **fields)
    return break_even(view, spec, learned)


def concurrency(value: BreakEven | None, source: BreakEvenSource) -> int:
    """Return the number, having checked where it comes from."""
    assert value is not None
    assert value.source is source
    return value.concurrency


def test_an_explicit_number_wins():
    """Whatever else is known."""
    value = known("eagle3", "H100", method(break_even=59), learned=3.0)
    assert concurrency(value, BreakEvenSource.EXPLICIT) == 59


@pytest.mark.parametrize(
    ("accelerator", "vllm_method", "tokens", "length", "published"),
    [
        ("H100", "eagle3", 3, 2.6, range(158, 215)),  # measured, Llama-3.1-8B, vLLM 0.10.1
        ("RTX 3090", "eagle3", 2, 2.36, range(45, 60)),  # measured: 56
        ("H100", "draft_model", 3, 2.44, range(90, 160)),  # measured, Qwen3-8B with a 0.6B draft: 102 to 155
        ("A100", "eagle3", 3, 2.6, range(80, 85)),  # worked example: 82
        ("H20", "mtp", 3, 2.95, range(24, 26)),  # recipe: speculate with K=3 up to about 25
    ],
)
def test_the_closed_form_agrees_with_what_was_published(accelerator, vllm_method, tokens, length, published):
    """It is a prior, right within 40 %; these are the cases it was made for."""
    view = method(break_even=None, num_speculative_tokens=tokens, acceptance_length=length)
    assert concurrency(known(vllm_method, accelerator, view), BreakEvenSource.CLOSED_FORM) in published


def test_the_closed_form_says_what_went_in():
    """The explanation carries every factor."""
    value = known("eagle3", "H100", method(break_even=None, acceptance_length=2.6))
    assert value is not None
    assert value.explanation.startswith("295 x (2.60 - 0.45) / 4")


def test_the_expected_acceptance_length_comes_before_the_one_seen_and_that_before_the_prior():
    """Better acceptance means a higher break-even."""
    bare = method(break_even=None)
    said = method(break_even=None, acceptance_length=3.5)
    prior, seen = known("eagle3", "H100", bare), known("eagle3", "H100", bare, learned=3.0)
    stated = known("eagle3", "H100", said, learned=3.0)
    assert [value.concurrency for value in (prior, seen, stated) if value] == [154, 188, 225]


def test_an_acceptance_length_above_what_was_drafted_is_cut():
    """K drafts give at most K + 1 tokens a step."""
    bare = method(break_even=None)
    assert known("eagle3", "H100", bare, learned=9.0) == known("eagle3", "H100", bare, learned=4.0)


def test_a_drafter_that_costs_more_than_it_brings_keeps_a_break_even_of_one():
    """The number stays a concurrency."""
    value = known("draft_model", "H100", method(break_even=None, acceptance_length=1.0))
    assert concurrency(value, BreakEvenSource.CLOSED_FORM) == 1


def test_the_break_even_never_lies_above_the_knee():
    """Above it the form does not hold."""
    value = known("ngram", "H100", method(break_even=None, acceptance_length=4.0, num_speculative_tokens=1))
    assert concurrency(value, BreakEvenSource.CLOSED_FORM) == 295


@pytest.mark.parametrize("accelerator", [None, "some accelerator of next year"])
def test_without_a_known_accelerator_the_prior_table_speaks(accelerator):
    """With the column of current data-centre accelerators."""
    assert concurrency(known("eagle3", accelerator, method(break_even=None)), BreakEvenSource.PRIOR) == 130


def test_an_unknown_method_is_given_the_earliest_break_even():
    """Also on a known accelerator: the form needs its cost."""
    assert concurrency(known("novel", "H100", method(break_even=None)), BreakEvenSource.PRIOR) == 16
    assert concurrency(known("novel", "A100", method(break_even=None)), BreakEvenSource.PRIOR) == 8


def test_suffix_decoding_has_no_break_even():
    """It drafts as much as pays by itself."""
    assert known("suffix", "H100", method(break_even=None)) is None
    assert known("suffix", "H100", method(break_even=10)) is not None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("h100", "H100"),
        ("NVIDIA H100 80GB HBM3", "H100"),
        ("NVIDIA-H100-SXM5-80GB", "H100"),
        ("NVIDIA L40S", "L40S"),
        ("NVIDIA L4", "L4"),
        ("AMD-Instinct-MI300X-OAM", "MI300X"),
        ("NVIDIA GeForce RTX 3090", "RTX3090"),
        ("NVIDIA H20", "H20"),
        ("H2000", None),
        ("", None),
    ],
)
def test_accelerators_are_found_by_their_product_names(text, name):
    """As node labels spell them; H20 is not H200."""
    assert knee_of(text) == (None if name is None else KNEES[name])


def test_every_kind_of_drafter_with_a_cost_has_a_prior_on_every_hardware():
    """So that a lookup never fails."""
    kinds = set(Drafter) - {Drafter.SUFFIX}
    assert set(PRIORS) == {(kind, hardware) for kind in kinds for hardware in Hardware}


def test_every_figure_names_its_source():
    """A number without origin cannot be argued with."""
    figures = [*PRIORS.values(), *(knee.tokens for knee in KNEES.values())]
    assert all(figure.source and figure.value > 0 for figure in figures)


@pytest.mark.parametrize(
    ("tokens", "chance", "length"), [(1, 0.7, 1.70), (3, 0.6, 2.18), (5, 0.8, 3.69), (2, 1.0, 3.0)]
)
def test_acceptance_length_of_equal_chances(tokens, chance, length):
    """(1 - a^(k+1)) / (1 - a)."""
    assert iid_acceptance_length(tokens, chance) == pytest.approx(length, abs=0.005)


def test_model_specific_mtp_names_are_mtp():
    """deepseek_mtp, ernie_mtp and what comes."""
    assert drafter_of("deepseek_mtp") is Drafter.MTP
