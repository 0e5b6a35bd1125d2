"""What the user has decided: modes Off and Pinned, and an active method that may not stay whatever the load."""

from math import isfinite

from specdec_operator.api.conditions import Reason
from specdec_operator.api.names import NONE_METHOD
from specdec_operator.api.spec import SpeculationMode
from specdec_operator.policy.answer import Answer
from specdec_operator.policy.decision import BreakEven, Decision, MethodView, PolicyInput
from specdec_operator.policy.ladder import eligible
from specdec_operator.policy.limits import budget_allows
from specdec_operator.policy.messages import clock
from specdec_operator.policy.signals import Load


def ordered(view: PolicyInput, known: dict[str, BreakEven]) -> Decision | None:
    """Return the decision that does not depend on the load, None when the load is to decide."""
    mode = view.speculation.mode
    if mode is SpeculationMode.OFF:
        return Answer(view, known).ordered(NONE_METHOD, Reason.MODE_OFF, "spec.speculation.mode is Off")
    if mode is SpeculationMode.PINNED:
        return _pinned(view, known)
    displaced = _displaced(view)
    return None if displaced is None else _replace_active(view, known, *displaced)


def _pinned(view: PolicyInput, known: dict[str, BreakEven]) -> Decision:
    pinned = view.speculation.pinned or view.active
    method = _view_of(view, pinned)
    answer = Answer(view, known)
    if method is None or eligible(method, view.now):
        return answer.ordered(pinned, Reason.PINNED, f"{pinned} is pinned")
    reason, cause = _why_not(method)
    displaced = _displaced(view)
    if displaced is not None and displaced[0] is not Reason.QUARANTINED:
        return answer.go(_successor(view, known), reason, f"{pinned} is pinned but {cause}")
    stays = "nothing is switched to it" if pinned == view.active else f"{view.active} keeps running"
    return answer.keep(reason, f"{pinned} is pinned but {cause}; {stays}.")


def _view_of(view: PolicyInput, name: str) -> MethodView | None:
    return next((method for method in view.methods if method.name == name), None)


def _why_not(method: MethodView) -> tuple[Reason, str]:
    if not method.supported:
        cause = method.unsupported_message.rstrip(".") or "not supported by this engine"
        return Reason.UNSUPPORTED_BY_ENGINE_VERSION, f"cannot run: {cause}"
    until = f" until {clock(method.quarantined_until)}" if method.quarantined_until is not None else ""
    return Reason.QUARANTINED, f"is in quarantine{until}"


def _displaced(view: PolicyInput) -> tuple[Reason, str] | None:
    """Return why the active method may not stay whatever the load, None when it may."""
    if view.active == NONE_METHOD:
        return None
    method = _view_of(view, view.active)
    if method is None:
        return Reason.METHOD_REMOVED, "is no longer in spec.speculation.methods"
    return None if eligible(method, view.now) else _why_not(method)


def _replace_active(view: PolicyInput, known: dict[str, BreakEven], reason: Reason, cause: str) -> Decision:
    answer = Answer(view, known)
    target = _successor(view, known)
    message = f"{view.active} {cause}"
    if reason is Reason.QUARANTINED:
        if view.frozen is not None:
            return answer.hold(Reason.NOT_DECIDED_YET, f"{view.frozen}; nothing is decided until that is done.")
        if not budget_allows(view, target):
            return answer.out_of_budget(target, message)
    return answer.go(target, reason, message)


def _successor(view: PolicyInput, known: dict[str, BreakEven]) -> str:
    """Return the first eligible method that pays at the present load; without metrics the first eligible one."""
    if isinstance(view.load, Load) and isfinite(view.load.concurrency):
        fitting = (
            method.name
            for method in view.methods
            if eligible(method, view.now)
            and (method.name not in known or view.load.concurrency < known[method.name].concurrency)
        )
        return next(fitting, NONE_METHOD)
    return next((method.name for method in view.methods if eligible(method, view.now)), NONE_METHOD)
