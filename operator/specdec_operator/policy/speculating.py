"""The condition SpeculationActive: whether speculation runs, how it fares, why not."""

from typing import Final

from specdec_operator.api.conditions import Condition, ConditionStatus, ConditionType, Reason
from specdec_operator.api.names import NONE_METHOD
from specdec_operator.api.spec import SpeculationMode
from specdec_operator.policy.acceptance import LOW_RATE
from specdec_operator.policy.decision import BreakEven, PolicyInput, PolicyMemory
from specdec_operator.policy.ladder import eligible
from specdec_operator.policy.messages import clock, sourced

COLLAPSE_SHOWS_AFTER: Final = 180.0
"""Seconds that a collapse has to last before it is told: several windows."""


def speculation_active(view: PolicyInput, known: dict[str, BreakEven], memory: PolicyMemory) -> Condition:
    """Return the condition for what runs now, whatever is decided to come next.

    `memory` is that after this tick: the acceptance in the message is the mean, so that it does not come and go
    with the requests.
    """
    if view.active != NONE_METHOD:
        return _condition(ConditionStatus.TRUE, Reason.ACTIVE, _running(view, known, memory))
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


def _running(view: PolicyInput, known: dict[str, BreakEven], memory: PolicyMemory) -> str:
    text = f"{view.active} runs; it pays below a break-even of {sourced(view.active, known)}."
    if view.active not in known:
        text = f"{view.active} runs; it limits itself and is not left because of the load."
    return f"{text} {_acceptance(view, memory)}"


def _acceptance(view: PolicyInput, memory: PolicyMemory) -> str:
    length = dict(memory.acceptance).get(view.active)
    if length is None or memory.method != view.active:
        return "Its acceptance is not known yet."
    rate = "" if memory.acceptance_rate is None else f", acceptance rate {memory.acceptance_rate:.2f}"
    text = f"Acceptance length {length:.2f}{rate} (means)"
    since = memory.collapsed_since
    if since is not None and view.now - since >= COLLAPSE_SHOWS_AFTER:
        return f"{text}; {Reason.ACCEPTANCE_COLLAPSED}: hardly any drafted token is accepted since {clock(since)}."
    if memory.low_acceptance:
        return f"{text}; {Reason.LOW_ACCEPTANCE}: below {LOW_RATE:.2f}, which alone does not switch."
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
