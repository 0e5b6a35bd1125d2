"""What one pass has to do, worked out from a snapshot. Pure."""

from dataclasses import dataclass

from specdec_operator.api.conditions import Reason
from specdec_operator.api.status import SpecDecDeploymentStatus
from specdec_operator.controller.children import ChildWrite, child_writes, leftovers, render_children, strangers
from specdec_operator.controller.course import Course, chart
from specdec_operator.controller.gaps import bridged
from specdec_operator.controller.memory import Trouble
from specdec_operator.controller.report import report, report_trouble
from specdec_operator.controller.snapshot import Snapshot
from specdec_operator.controller.validity import describe_all
from specdec_operator.controller.worth import worth_writing
from specdec_operator.engine.render import RenderedMethod, render_method
from specdec_operator.rollout.fleet import GiveUpTarget, Step
from specdec_operator.rollout.plan import keep_running

DRAIN_POLL = 10.0
"""Seconds until a pod that is out of the Service of an object in trouble is looked at again."""


@dataclass(frozen=True, slots=True)
class Work:
    """The work of one pass. Nothing of it is due for an object that is in order."""

    status: SpecDecDeploymentStatus
    """The status as it is to be."""
    status_changed: bool
    trouble: Trouble | None = None
    """Why the children must not be touched."""
    course: Course | None = None
    """None in trouble."""
    target: RenderedMethod | None = None
    """What new pods start with; None where the children are left as they are."""
    children: tuple[ChildWrite, ...] = ()
    """Worked out from a live snapshot only."""
    steps: tuple[Step, ...] = ()
    look_again: float | None = None
    """Seconds until the next pass at the latest; None leaves it to the resync."""

    @property
    def is_due(self) -> bool:
        """Say whether anything is to be written."""
        return self.status_changed or bool(self.children) or bool(self.steps)


def work_out(snapshot: Snapshot) -> Work:
    """Work out what to do.

    Intent comes first: where the target changes, this pass only records it in status and the next one acts on it, so
    that an operator that dies in between loses nothing.
    """
    trouble = find_trouble(snapshot)
    if trouble is not None:
        return _report_only(snapshot, trouble)
    course = chart(snapshot)
    status = bridged(snapshot, report(snapshot, course))
    changed = worth_writing(snapshot.status, status, snapshot.now)
    if snapshot.spec.suspend:
        return Work(status, changed, course=course)
    if _is_news(snapshot, course):
        return Work(status, changed, course=course, look_again=0.0)
    target = render_method(snapshot.spec, course.target)
    return Work(
        status,
        changed,
        course=course,
        target=target,
        children=_children(snapshot, target),
        steps=tuple(step for step in course.plan.steps if not isinstance(step, GiveUpTarget)),
        look_again=course.plan.look_again,
    )


def find_trouble(snapshot: Snapshot) -> Trouble | None:
    """Say why the children must not be touched; None when they may."""
    refusals = snapshot.understanding.refusals
    if refusals:
        return Trouble(Reason.INVALID_SPEC, describe_all(refusals))
    known = snapshot.hindrance.trouble if snapshot.hindrance is not None else None
    if not snapshot.live:
        return known
    foreign = strangers(snapshot.children, snapshot.metadata.uid)
    left = leftovers(snapshot.children, snapshot.metadata.uid)
    if foreign == left != ():
        text = f"{', '.join(left)} of a deleted object of this name is still there; it goes soon."
        return Trouble(Reason.NAME_TAKEN, text)
    if foreign:
        text = f"{', '.join(foreign)} exists and belongs to somebody else. Delete it, or give this object another name."
        return Trouble(Reason.NAME_TAKEN, text)
    return None if known is None or known.reason is Reason.NAME_TAKEN else known


def _report_only(snapshot: Snapshot, trouble: Trouble) -> Work:
    """Write status; what can serve goes back into the Service, unless the API server refuses just such writes."""
    status = report_trouble(snapshot, trouble)
    changed = worth_writing(snapshot.status, status, snapshot.now)
    hindrance = snapshot.hindrance
    if hindrance is not None:
        return Work(status, changed, trouble=trouble, look_again=hindrance.until - snapshot.now)
    spec = snapshot.understanding.spec
    suspended = spec is not None and spec.suspend
    steps = () if suspended else keep_running(snapshot.pods, snapshot.now)
    return Work(status, changed, trouble=trouble, steps=steps, look_again=DRAIN_POLL if snapshot.draining else None)


def _is_news(snapshot: Snapshot, course: Course) -> bool:
    """Say whether status does not know the target yet while there is already something that could be changed."""
    stored = snapshot.status.target
    known = stored is not None and stored.method == course.target
    return snapshot.children.stateful_set is not None and not known


def _children(snapshot: Snapshot, target: RenderedMethod) -> tuple[ChildWrite, ...]:
    if not snapshot.live:
        return ()
    verified = snapshot.memory.verified
    trusted = verified.digests if verified is not None else {}
    return child_writes(render_children(snapshot.deployment, target), snapshot.children, trusted=trusted)
