"""The condition SpeculationActive: whether speculation runs, how it fares, why not."""

from typing import Final

from specdec_operator.api.conditions import Condition, ConditionStatus, ConditionType, Reason
from specdec_operator.api.names import NONE_METHOD
from specdec_operator.api.spec import SpeculationMode
from specdec_operator.policy.decision import BreakEven, PolicyInput
from specdec_operator.policy.ladder import eligible
from specdec_operator.policy.messages import sourced
from specdec_operator.policy.signals import Load

LOW_ACCEPTANCE_RATE: Final = 0.50
"""Below it the message says so; it never switches: 85 % acceptance can lose and 9 % can win."""
COLLAPSED_LENGTH: Final = 1.05
"""With an acceptance length below it practically nothing that is drafted is used."""


def speculation_active(view: PolicyInput, known: dict[str, BreakEven]) -> Condition:
    """Return the condition for what runs now, whatever is decided to come next."""
    if view.active != NONE_METHOD:
        return _condition(ConditionStatus.TRUE, Reason.ACTIVE, _running(view, known))
    mode = view.speculation.mode
    if mode is SpeculationMode.OFF:
        return _condition(ConditionStatus.FALSE, Reason.MODE_OFF, "spec.speculation.mode is Off.")
    if mode is SpeculationMode.PINNED:
        return _condition(ConditionStatus.FALSE, Reason.MODE_OFF, f"Pinned to {view.speculation.pinned}; none runs.")
    if not any(eligible(method, view.now) for method in view.methods):
        return _condition(ConditionStatus.FALSE, Reason.NO_ELIGIBLE_METHOD, _nothing_eligible(view))
    text = "Plain decoding runs; speculation comes back when the load is low enough."
    return _condition(ConditionStatus.FALSE, Reason.PAST_BREAK_EVEN, text)


def _condition(status: ConditionStatus, reason: Reason, message: str) -> Condition:
    return Condition(ConditionType.SPECULATION_ACTIVE, status, reason, message)


def _running(view: PolicyInput, known: dict[str, BreakEven]) -> str:
    text = f"{view.active} runs; it pays below a break-even of {sourced(view.active, known)}."
    if view.active not in known:
        text = f"{view.active} runs; it limits itself and is not left because of the load."
    return f"{text} {_acceptance(view.load)}" if isinstance(view.load, Load) else f"{text} Its acceptance is unknown."


def _acceptance(load: Load) -> str:
    if load.acceptance_length is None or load.acceptance_rate is None:
        return "Too little is drafted to tell its acceptance."
    text = f"Acceptance length {load.acceptance_length:.2f}, acceptance rate {load.acceptance_rate:.2f}"
    if load.acceptance_length < COLLAPSED_LENGTH:
        return f"{text}: {Reason.ACCEPTANCE_COLLAPSED}, drafted tokens are hardly ever accepted."
    if load.acceptance_rate < LOW_ACCEPTANCE_RATE:
        return f"{text}: {Reason.LOW_ACCEPTANCE}, below {LOW_ACCEPTANCE_RATE:.2f}; that alone does not switch."
    return f"{text}."


def _nothing_eligible(view: PolicyInput) -> str:
    if not view.methods:
        return "spec.speculation.methods is empty."
    causes = [
        f"{method.name}: {method.unsupported_message or 'not supported by this engine'}"
        if not method.supported
        else f"{method.name}: in quarantine"
        for method in view.methods
    ]
    return "No method can run. " + "; ".join(causes) + "."
