"""Whether a status is worth a write. Pure.

Numbers that move with every tick must not cause one: 1,000 objects would write 67 times a second. So a status is
written when anything but such a number differs, and, when only numbers moved by more than a fifth, at most every five
minutes.
"""

import re
from typing import Any

from specdec_operator.api.status import SignalsStatus, SpecDecDeploymentStatus
from specdec_operator.controller.times import unix

REFRESH_SECONDS = 300.0
MOVED_BY = 0.2
_FLOORS = {
    "concurrency": 1.0,
    "waiting": 1.0,
    "acceptance_rate": 0.05,
    "acceptance_length": 0.1,
    "tokens_per_second": 10.0,
}
"""Below these differences a signal has not moved, however large the part: 0.1 to 0.3 requests is noise."""
_NUMBER = re.compile(r"(?<![\w.-])\d[\w.:%+-]*")
"""A number with its unit, a duration or a time; not the number at the end of a pod's name."""


def worth_writing(before: SpecDecDeploymentStatus, after: SpecDecDeploymentStatus, now: float) -> bool:
    """Say whether `after` is to be written over `before`."""
    if _meaning(before) != _meaning(after):
        return True
    last = unix(before.signals.sampled_at) if before.signals is not None else None
    due = last is None or now - last >= REFRESH_SECONDS
    return due and _moved(before.signals, after.signals)


def wording(message: str) -> str:
    """Return a message without its numbers."""
    return _NUMBER.sub("#", message)


def _meaning(status: SpecDecDeploymentStatus) -> dict[str, Any]:
    """Return the status without what moves by itself."""
    content = status.model_dump(mode="json", by_alias=True, exclude_none=True)
    content["signals"] = status.signals is not None
    content["breakEvenConcurrency"] = status.break_even_concurrency is not None
    for method in content.get("methods", ()):
        for name in ("breakEvenConcurrency", "predictedSpeedup"):
            if name in method:
                method[name] = True
    for told in (*content.get("conditions", ()), *content.get("methods", ()), content.get("decision", {})):
        if "message" in told:
            told["message"] = wording(told["message"])
    return content


def _moved(before: SignalsStatus | None, after: SignalsStatus | None) -> bool:
    if before is None or after is None:
        return before is not after
    return any(_differs(getattr(before, name), getattr(after, name), floor) for name, floor in _FLOORS.items())


def _differs(before: str | None, after: str | None, floor: float) -> bool:
    if before is None or after is None:
        return before is not after
    one, other = float(before), float(after)
    distance = abs(one - other)
    return distance > floor and distance > MOVED_BY * max(one, other)
