"""Builds the decisions about one input: what they share, and the words they end with."""

from typing import Final

from specdec_operator.api.conditions import Reason
from specdec_operator.api.names import NONE_METHOD
from specdec_operator.api.spec import SpeculationMode
from specdec_operator.api.status import DecisionAction
from specdec_operator.policy.decision import BreakEven, Decision, PolicyInput, PolicyMemory
from specdec_operator.policy.limits import budget_frees
from specdec_operator.policy.messages import clock
from specdec_operator.policy.smoothing import forget_crossing
from specdec_operator.policy.speculating import speculation_active

LONGEST_MESSAGE: Final = 1024
"""What `status.decision.message` holds; what an engine's refusal says can be long."""


class Answer:
    """Builds decisions that share their input. Where no memory is given, the window starts anew."""

    def __init__(self, view: PolicyInput, known: dict[str, BreakEven], memory: PolicyMemory | None = None) -> None:
        self._view = view
        self._known = known
        self._memory = memory if memory is not None else forget_crossing(view.memory)

    def _of(self, action: DecisionAction, target: str, reason: Reason, message: str) -> Decision:
        condition = speculation_active(self._view, self._known, self._memory)
        return Decision(action, target, reason, _clipped(message), self._known, self._memory, condition)

    def keep(self, reason: Reason, message: str) -> Decision:
        """Stay with the active method."""
        return self._of(DecisionAction.KEEP, self._view.active, reason, message)

    def hold(self, reason: Reason, message: str) -> Decision:
        """Stay with the active method because nothing can be decided."""
        return self._of(DecisionAction.HOLD, self._view.active, reason, message)

    def go(self, target: str, reason: Reason, message: str) -> Decision:
        """Switch, or recommend it in mode Recommend."""
        if self._view.speculation.mode is SpeculationMode.RECOMMEND:
            text = f"{message}; {target} is recommended (mode Recommend, nothing is switched)."
            return self._of(DecisionAction.RECOMMEND, target, Reason.RECOMMENDED, text)
        return self._of(DecisionAction.SWITCH, target, reason, f"{message}; switching to {target}.")

    def recommend(self, target: str, message: str) -> Decision:
        """Say what would be right without doing it."""
        return self._of(DecisionAction.RECOMMEND, target, Reason.RECOMMENDED, message)

    def ordered(self, target: str, reason: Reason, cause: str) -> Decision:
        """Do what the user said."""
        if target == self._view.active:
            return self.keep(reason, f"{cause}; {target} runs.")
        return self.go(target, reason, cause)

    def out_of_budget(self, target: str, because: str) -> Decision:
        """Stay although the other one is better: the daily budget does not pay for the switch."""
        return self.keep(Reason.BUDGET_SPENT, f"{because}. {_budget_sentence(self._view, target)}")


def _clipped(message: str) -> str:
    return message if len(message) <= LONGEST_MESSAGE else message[: LONGEST_MESSAGE - 1] + "…"


def _budget_sentence(view: PolicyInput, target: str) -> str:
    budget = view.speculation.policy.maximum_switches_per_day
    frees = budget_frees(view, target)
    reserve = "" if target == NONE_METHOD else " (the last of a day is kept for the way to none)"
    if frees is None:
        return f"maximumSwitchesPerDay is {budget}, which allows no switch to {target}{reserve}."
    return f"The {budget} switches of a day are spent{reserve}; the next one to {target} is possible at {clock(frees)}."
