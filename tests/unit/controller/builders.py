"""Objects, children and pods as the API server gives them, and snapshots made from them."""

from dataclasses import replace
from typing import Any

from tests.helpers.deployments import EAGLE, MODEL, NGRAM

from specdec_operator.api.conditions import Reason
from specdec_operator.api.names import (
    CONFIG_ANNOTATION,
    DRAIN_ANNOTATION,
    ENGINE_CONTAINER,
    METHOD_ANNOTATION,
    SERVING_LABEL,
    SPEC_HASH_ANNOTATION,
)
from specdec_operator.controller.children import render_children
from specdec_operator.controller.memory import Memory
from specdec_operator.controller.snapshot import Sight, Snapshot, build_snapshot
from specdec_operator.controller.times import rfc3339
from specdec_operator.controller.understanding import deployment_of, stored_status, understand
from specdec_operator.controller.work import Work, work_out
from specdec_operator.engine.render import render_method
from specdec_operator.policy.signals import EngineSample, Reading, Unavailable
from specdec_operator.ports import Children
from specdec_operator.resources import spec_hash

NOW = 1_796_000_000.0
NO_METRICS = Unavailable(Reason.SOURCE_UNREACHABLE, "Prometheus cannot be reached.")
Body = dict[str, Any]


def make_body(*, generation: int = 1, status: Body | None = None, annotations: Body | None = None, **spec: Any) -> Body:
    """Return a SpecDecDeployment; `spec` replaces top-level fields of a valid one."""
    return {
        "metadata": {
            "name": "llama",
            "namespace": "serving",
            "uid": "uid-1",
            "generation": generation,
            "resourceVersion": "7",
            "annotations": annotations or {},
        },
        "spec": {
            "model": {"name": MODEL},
            "engine": {"version": "0.32.0"},
            "replicas": 2,
            "speculation": {"methods": [EAGLE, NGRAM]},
            **spec,
        },
        "status": status or {},
    }


def make_pod(body: Body, index: int = 0, *, method: str = "eagle3", ready: bool = True, **changed: Any) -> Body:
    """Return a pod that runs a method of this body for an hour; `changed` gives `serving`, `drained`, `hash`, `age`."""
    understanding = understand(body)
    assert understanding.spec is not None
    rendered = render_method(understanding.spec, method)
    started = rfc3339(NOW - changed.get("age", 3600.0))
    annotations = {
        METHOD_ANNOTATION: method,
        CONFIG_ANNOTATION: rendered.config,
        SPEC_HASH_ANNOTATION: changed.get("hash", spec_hash(deployment_of(body, understanding.spec))),
    }
    if changed.get("drained"):
        annotations[DRAIN_ANNOTATION] = rfc3339(NOW - 10)
    labels = {SERVING_LABEL: "true"} if changed.get("serving", True) and not changed.get("drained") else {}
    word = "True" if ready else "False"
    return {
        "metadata": {
            "name": f"llama-{index}",
            "uid": f"pod-{index}",
            "resourceVersion": "1",
            "creationTimestamp": started,
            "labels": labels,
            "annotations": annotations,
        },
        "spec": {"nodeName": "node"},
        "status": {
            "podIP": f"10.0.0.{index + 1}",
            "conditions": [
                {"type": "PodScheduled", "status": "True"},
                {"type": "Ready", "status": word, "lastTransitionTime": started},
            ],
            "containerStatuses": [
                {
                    "name": ENGINE_CONTAINER,
                    "containerID": f"id-{index}",
                    "restartCount": 0,
                    "state": {"running": {"startedAt": started}},
                }
            ],
        },
    }


def make_children(body: Body, *pods: Body, method: str = "eagle3") -> Children:
    """Return the children as they are when everything was applied."""
    understanding = understand(body)
    assert understanding.spec is not None
    target = render_method(understanding.spec, method)
    rendered = render_children(deployment_of(body, understanding.spec), target)
    service, budget, stateful_set = (_stored(child) for child in rendered)
    budget["status"] = {"observedGeneration": 1, "currentHealthy": len(pods)}
    return Children(stateful_set=stateful_set, service=service, budget=budget, pods=pods)


def _stored(child: Body) -> Body:
    name = child["kind"]
    return {**child, "metadata": {**child["metadata"], "uid": f"uid-{name}", "generation": 1, "resourceVersion": "3"}}


def make_reading(concurrency: float, *pods: str, at: float = NOW, speculating: bool = True) -> Reading:
    """Return fresh metrics of pods of the namespace."""
    drafts = 100.0 if speculating else None
    return Reading(
        taken_at=at,
        scrape_interval=5.0,
        window=30.0,
        engines={
            ("serving", pod): (
                EngineSample(
                    pod=pod,
                    engine="0",
                    sampled_at=at,
                    running=concurrency,
                    waiting=0.0,
                    generation_tokens=1000.0,
                    drafts=drafts,
                    drafted=drafts and 300.0,
                    accepted=drafts and 150.0,
                ),
            )
            for pod in pods
        },
    )


def make_snapshot(
    body: Body,
    children: Children | None = None,
    *,
    reading: Reading | Unavailable = NO_METRICS,
    memory: Memory | None = None,
    live: bool = True,
    **sight: Any,
) -> Snapshot:
    """Return a snapshot; `sight` gives `now`, `switching_elsewhere`, `requests`."""
    return build_snapshot(
        body,
        children if children is not None else Children(),
        memory=memory or Memory("uid-1"),
        sight=Sight(
            **{
                "now": NOW,
                "understanding": understand(body),
                "status": stored_status(body),
                "live": live,
                "reading": reading,
                **sight,
            },
        ),
    )


def with_status(body: Body, work: Work) -> Body:
    """Return the object after the status was written."""
    return {**body, "status": work.status.model_dump(mode="json", by_alias=True, exclude_none=True)}


def settled(body: Body, children: Children, **options: Any) -> Body:
    """Return the object after as many passes as it takes until there is nothing to report."""
    for _ in range(5):
        work = work_out(make_snapshot(body, children, **options))
        if not work.status_changed:
            return body
        body = with_status(body, work)
    raise AssertionError("the status is never at rest")


def running(body: Body, *, method: str = "eagle3", **options: Any) -> tuple[Body, Children]:
    """Return an object with two pods that serve, and a status at rest."""
    children = make_children(body, make_pod(body, 0, method=method), make_pod(body, 1, method=method), method=method)
    return settled(body, children, **options), children


def condition(work: Work, kind: str) -> tuple[str, str]:
    """Return status and reason of a condition."""
    found = next(record for record in work.status.conditions if record.type == kind)
    return found.status.value, found.reason


def message(work: Work, kind: str) -> str:
    """Return the message of a condition."""
    return next(record for record in work.status.conditions if record.type == kind).message


def remembering(snapshot: Snapshot, work: Work) -> Memory:
    """Return what the next pass remembers of the policy."""
    assert work.course is not None
    return replace(snapshot.memory, policy=work.course.decision.memory)
