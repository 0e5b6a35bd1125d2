"""What one pass tells the operator's own metrics."""

from specdec_operator.controller.snapshot import Snapshot
from specdec_operator.controller.work import Work
from specdec_operator.policy.signals import Load
from specdec_operator.telemetry.metrics import Metrics, Signals


def tell(metrics: Metrics, snapshot: Snapshot, work: Work) -> None:
    """Show the live numbers of the object and count what has changed."""
    key, load = snapshot.key, snapshot.load
    break_even = work.status.break_even_concurrency
    if isinstance(load, Load):
        signals = Signals(
            concurrency=load.concurrency,
            acceptance_rate=load.acceptance_rate,
            acceptance_length=load.acceptance_length,
            waiting=load.waiting,
            tokens_per_second=load.tokens_per_second,
            break_even=break_even,
        )
    else:
        signals = Signals(break_even=break_even)
    metrics.show(key.namespace, key.name, signals)
    course = work.course
    if course is None or not work.status_changed:
        return
    before = snapshot.status.decision
    decision = course.decision
    if before is None or (before.action, before.reason) != (decision.action, decision.reason):
        metrics.decisions.labels(decision.action, decision.reason).inc()
    if course.switches:
        metrics.switched(key.namespace, key.name, course.standing, course.target, decision.reason)
