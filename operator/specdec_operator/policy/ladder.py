"""The ladder: methods in order of preference, then `none`, each with its limit in the active mode's coordinate."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

from specdec_operator.api.names import NONE_METHOD
from specdec_operator.policy.breakeven import break_even, draft_cost, expected_acceptance_length
from specdec_operator.policy.curves import DOUBLING_OVER_BREAK_EVEN, MethodCurve, PlainCurve, return_concurrency
from specdec_operator.policy.decision import BreakEven, MethodView, PolicyInput


@dataclass(frozen=True, slots=True)
class Rung:
    """A method that may run, and the smoothed concurrency of the active mode below which it is the right one."""

    method: str
    limit: float


def eligible(view: MethodView, now: float) -> bool:
    """Return whether a method may run now: the engine takes it and it is not in quarantine."""
    return view.supported and (view.quarantined_until is None or view.quarantined_until <= now)


def first_method(methods: tuple[MethodView, ...]) -> str:
    """Return what a new object starts with: the first method that is supported and not in quarantine, else none."""
    return next((view.name for view in methods if view.supported and view.quarantined_until is None), NONE_METHOD)


def break_evens(view: PolicyInput, acceptance: Mapping[str, float]) -> dict[str, BreakEven]:
    """Return the break-even of every method that has one; `acceptance` holds the lengths seen so far."""
    found = {method.name: break_even(method, view.speculation, acceptance.get(method.name)) for method in view.methods}
    return {name: value for name, value in found.items() if value is not None}


def rungs(view: PolicyInput, known: Mapping[str, BreakEven], acceptance: Mapping[str, float]) -> tuple[Rung, ...]:
    """Return the methods that may run, best first, each with its limit for the concurrency of the active mode.

    - the active method: its break-even, as measured in its own mode;
    - one before it in the order (every one, when `none` is active): `return_concurrency`, 0.70 of its break-even
      load in the coordinate of the active mode;
    - one after it: its break-even if that lies above the active one's, else 0: it is asked for only when the
      concurrency is past the active break-even, where both coordinates are taken as the plain one.
    """
    plain = _plain(view, known)
    active = _curve(view, known, acceptance)
    names = [method.name for method in view.methods]
    place = names.index(view.active) if view.active in names else len(names)
    ladder = []
    for index, method in enumerate(view.methods):
        if not eligible(method, view.now):
            continue
        own = known.get(method.name)
        if own is None:
            limit = inf
        elif index == place:
            limit = float(own.concurrency)
        elif index < place:
            limit = return_concurrency(own.concurrency, plain, active)
        else:
            limit = float(own.concurrency) if active is None or own.concurrency > active.break_even else 0.0
        ladder.append(Rung(method.name, limit))
    return tuple(ladder)


def _plain(view: PolicyInput, known: Mapping[str, BreakEven]) -> PlainCurve:
    """Return the curve of plain decoding: one for all methods, because it belongs to the engine and its accelerator.

    The highest break-even of the methods that the engine takes is the nearest to where it becomes compute-bound.
    """
    usable = (method.name for method in view.methods if method.supported or method.name == view.active)
    highest = max((known[name].concurrency for name in usable if name in known), default=1)
    return PlainCurve(DOUBLING_OVER_BREAK_EVEN * highest)


def choose(ladder: tuple[Rung, ...], concurrency: float) -> str:
    """Return the first method whose limit lies above the concurrency, else none."""
    return next((rung.method for rung in ladder if concurrency < rung.limit), NONE_METHOD)


def _curve(view: PolicyInput, known: Mapping[str, BreakEven], acceptance: Mapping[str, float]) -> MethodCurve | None:
    method = next((method for method in view.methods if method.name == view.active), None)
    own = known.get(view.active)
    if method is None or own is None:
        return None
    spec = next((entry for entry in view.speculation.methods if entry.name == view.active), None)
    length = expected_acceptance_length(method, spec, acceptance.get(view.active))
    return MethodCurve.of(own.concurrency, length, draft_cost(method, spec))
