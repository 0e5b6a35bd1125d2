"""One decision: what should run, why, and what comes next. A pure function of its input."""

from math import isfinite

from specdec_operator.api.conditions import Reason
from specdec_operator.api.names import NONE_METHOD
from specdec_operator.api.quantities import format_duration
from specdec_operator.policy.answer import Answer
from specdec_operator.policy.breakeven import GUESSES
from specdec_operator.policy.decision import BreakEven, Decision, PolicyInput
from specdec_operator.policy.ladder import break_evens, first_method, rungs
from specdec_operator.policy.limits import budget_allows, dwell_ends
from specdec_operator.policy.messages import clock, comparison, sourced
from specdec_operator.policy.orders import ordered
from specdec_operator.policy.signals import Load, Unavailable
from specdec_operator.policy.smoothing import miss
from specdec_operator.policy.threshold import Outlook, look

__all__ = ["decide", "first_method"]


def decide(view: PolicyInput) -> Decision:
    """Decide what the engines of one object should run.

    Deterministic; both triggers run the threshold rule so far. In modes Pinned and Off, and when the active method
    left the spec or is no longer supported, the user has decided: windows, dwell, budget, missing metrics and
    `frozen` do not hold that back (the step planner turns a switch round). Everything else waits while `frozen`, and
    nothing measured ever acts on missing data.

    Returns:
        The decision. `target` is the active method unless the action is Switch or Recommend. `memory` belongs in
        the next call.
    """
    acceptance = dict(view.memory.acceptance)
    known = break_evens(view, acceptance)
    order = ordered(view, known)
    if order is not None:
        return order
    answer = Answer(view, known)
    if view.frozen is not None:
        return answer.hold(Reason.NOT_DECIDED_YET, f"{view.frozen}; nothing is decided until that is done.")
    blind = Answer(view, known, miss(view.memory, now=view.now))
    if isinstance(view.load, Unavailable):
        return blind.hold(view.load.reason, f"{view.load.message} {view.active} keeps running.")
    if not isfinite(view.load.concurrency) or view.load.concurrency < 0:
        return blind.hold(Reason.NO_SERIES, f"The concurrency is no usable number. {view.active} keeps running.")
    return _by_load(view, view.load, known, acceptance)


def _by_load(view: PolicyInput, load: Load, known: dict[str, BreakEven], acceptance: dict[str, float]) -> Decision:
    outlook = look(view, load, known, acceptance)
    answer = Answer(view, known, outlook.memory)
    if outlook.method == view.active:
        return answer.keep(*_content(view, load, known, outlook))
    because = comparison(outlook.smoothed, active=view.active, target=outlook.method, limit=outlook.limit, known=known)
    end = dwell_ends(view)
    if view.now < outlook.due:
        earliest = outlook.due if end is None else max(outlook.due, end)
        text = f"{because}; {outlook.method} follows at {clock(earliest)} if that stays so."
        return answer.keep(Reason.NOT_DECIDED_YET, text)
    if end is not None:
        text = f"{because}; {outlook.method} waits for the minimum dwell until {clock(end)}."
        return answer.keep(Reason.MINIMUM_DWELL, text)
    if not budget_allows(view, outlook.method):
        return answer.out_of_budget(outlook.method, because)
    because = f"{because} for {format_duration(outlook.window)}"
    if _needs_consent(view, outlook.method, known):
        return answer.recommend(outlook.method, f"{because}; {outlook.method} is recommended. {_CONSENT}")
    reason = Reason.PAST_BREAK_EVEN if outlook.limit is None else Reason.BELOW_BREAK_EVEN
    return answer.go(outlook.method, reason, because)


_CONSENT = (
    "A single replica does not act on a break-even that nobody measured: give breakEvenConcurrency, "
    "or set spec.speculation.policy.actOnPriors."
)


def _needs_consent(view: PolicyInput, target: str, known: dict[str, BreakEven]) -> bool:
    """One replica has no canary that could turn a guess into a measurement."""
    guessed = any(known[name].source in GUESSES for name in (view.active, target) if name in known)
    return guessed and view.replicas == 1 and not view.speculation.policy.act_on_priors


def _content(view: PolicyInput, load: Load, known: dict[str, BreakEven], outlook: Outlook) -> tuple[Reason, str]:
    """Say why nothing changes."""
    busiest = f"{load.worst_concurrency:.0f}"  # a median hides the one engine that has too much to do
    running = f"{outlook.smoothed:.1f} running requests per engine (smoothed; the busiest has {busiest})"
    if view.active != NONE_METHOD:
        if view.active not in known:
            return Reason.BELOW_BREAK_EVEN, f"{running}; {view.active} limits itself and stays."
        return Reason.BELOW_BREAK_EVEN, f"{running} are below the break-even of {sourced(view.active, known)}."
    ladder = rungs(view, known, dict(outlook.memory.acceptance))
    if not ladder:
        return Reason.NO_ELIGIBLE_METHOD, f"{running}; no method can run, so plain decoding stays."
    best = max(ladder, key=lambda rung: rung.limit)
    text = f"{running}; plain decoding stays until they are below {best.limit:.1f}, then {best.method} follows."
    return Reason.PAST_BREAK_EVEN, text
