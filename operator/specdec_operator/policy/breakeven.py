"""The break-even concurrency of a method: explicit, from the closed form, or from the prior table."""

from typing import Final

from specdec_operator.api.spec import MethodSpec, SpeculationSpec
from specdec_operator.api.status import BreakEvenSource
from specdec_operator.policy.decision import BreakEven, MethodView
from specdec_operator.policy.knees import (
    ACCEPTANCE,
    DRAFT_COST,
    PRIORS,
    Drafter,
    Hardware,
    Knee,
    drafter_of,
    knee_of,
)

GUESSES: Final = frozenset({BreakEvenSource.CLOSED_FORM, BreakEvenSource.PRIOR})
"""Sources that nobody measured on this deployment; right within 40 % at best."""


def iid_acceptance_length(tokens: int, chance: float) -> float:
    """Return the mean tokens per step if each drafted token is accepted with the same chance.

    `AL(k, a) = (1 - a^(k+1)) / (1 - a)` (Leviathan et al., arXiv 2211.17192).
    """
    return float(tokens + 1) if chance >= 1 else (1 - chance ** (tokens + 1)) / (1 - chance)


def expected_acceptance_length(view: MethodView, spec: MethodSpec | None, learned: float | None) -> float | None:
    """Return the acceptance length to reckon with: the user's, else the one seen, else the method's prior."""
    if view.acceptance_length is not None:
        return view.acceptance_length
    if learned is not None:
        return min(learned, view.num_speculative_tokens + 1.0)
    chance = ACCEPTANCE.get(drafter_of(spec.method)) if spec is not None else None
    return None if chance is None else iid_acceptance_length(view.num_speculative_tokens, chance.value)


def draft_cost(view: MethodView, spec: MethodSpec | None) -> float:
    """Return the time of all draft steps of one round over one plain decode step: k c, or c for a block drafter."""
    drafter = drafter_of(spec.method) if spec is not None else Drafter.OTHER
    figure = DRAFT_COST.get(drafter)
    if figure is None:
        return 0.0
    return figure.value if drafter is Drafter.BLOCK else figure.value * view.num_speculative_tokens


def break_even(view: MethodView, speculation: SpeculationSpec, learned: float | None) -> BreakEven | None:
    """Return the concurrency per engine below which a method pays, best source first.

    Args:
        view: the method.
        speculation: `spec.speculation`, for the vLLM method and the accelerator.
        learned: its acceptance length as seen on this deployment, None when it has not run.

    Returns:
        None for a method that limits itself (suffix decoding): it is never left because of the load.

    The closed form is `B* = n* (AL - k c) / (k + 1)`: the verify step computes (k + 1) B tokens and becomes
    compute-bound at the knee n*; there one step with its k drafts of relative cost c takes AL plain steps.
    It holds below the knee, so B* is capped there.
    """
    if view.break_even_concurrency is not None:
        text = f"{view.break_even_concurrency} given in breakEvenConcurrency"
        return BreakEven(view.break_even_concurrency, BreakEvenSource.EXPLICIT, text)
    spec = next((method for method in speculation.methods if method.name == view.name), None)
    drafter = drafter_of(spec.method) if spec is not None else Drafter.OTHER
    if drafter is Drafter.SUFFIX:
        return None
    knee = knee_of(speculation.break_even.accelerator if speculation.break_even is not None else None)
    length = expected_acceptance_length(view, spec, learned)
    if knee is not None and length is not None and drafter is not Drafter.OTHER:
        return _closed_form(knee, length=length, cost=draft_cost(view, spec), tokens=view.num_speculative_tokens)
    return _prior(drafter, knee)


def _closed_form(knee: Knee, *, length: float, cost: float, tokens: int) -> BreakEven:
    n = knee.tokens.value
    concurrency = min(n, n * max(length - cost, 0.0) / (tokens + 1))
    text = f"{n:g} x ({length:.2f} - {cost:.2f}) / {tokens + 1}: knee of the accelerator, acceptance length, draft cost"
    return BreakEven(max(1, round(concurrency)), BreakEvenSource.CLOSED_FORM, text)


def _prior(drafter: Drafter, knee: Knee | None) -> BreakEven:
    hardware = knee.hardware if knee is not None else Hardware.DATA_CENTRE
    figure = PRIORS[drafter, hardware]
    text = f"{drafter.value} on {hardware.value}: {figure.source}"
    return BreakEven(round(figure.value), BreakEvenSource.PRIOR, text)
