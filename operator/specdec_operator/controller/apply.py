"""Carry out what was worked out: children first, then the steps, each fenced by what was read."""

from collections.abc import Mapping, Sequence

from specdec_operator.adapters.cluster.trim import digest
from specdec_operator.api.names import (
    CONFIG_ANNOTATION,
    DRAIN_ANNOTATION,
    METHOD_ANNOTATION,
    REPLACES_ANNOTATION,
    RESTARTS_ANNOTATION,
    SERVING_LABEL,
    SWITCHED_ANNOTATION,
    TOUCHED_ANNOTATION,
)
from specdec_operator.controller.children import ChildWrite, Create
from specdec_operator.controller.snapshot import Snapshot
from specdec_operator.controller.times import rfc3339
from specdec_operator.ports import Cluster, ClusterError, Failure, PodPatch
from specdec_operator.rollout.fleet import (
    DeletePod,
    LeaveService,
    PodView,
    Rejoin,
    SetMethod,
    Step,
    TouchBudget,
)


async def write_children(cluster: Cluster, writes: Sequence[ChildWrite]) -> dict[str, str]:
    """Write the children in order; return by kind the digest of what the API server made of each.

    Raises:
        ClusterError: at the first write that fails; those after it are not tried, so that where a Service has a name
            already, no StatefulSet starts pods.
    """
    made: dict[str, str] = {}
    for write in writes:
        body = await (cluster.create(write.body) if isinstance(write, Create) else cluster.apply(write.body))
        made[write.body["kind"]] = digest(body)
    return made


class StepTaker:
    """Takes the steps of one plan. A pod that is patched twice is fenced by what its first patch made of it."""

    def __init__(self, cluster: Cluster, snapshot: Snapshot) -> None:
        self._cluster = cluster
        self._snapshot = snapshot
        self._now = rfc3339(snapshot.now)
        self._versions: dict[str, str] = {}

    async def take(self, steps: Sequence[Step]) -> None:
        """Take the steps in order.

        Raises:
            ClusterError: at the first step that fails; the steps after it are not taken.
        """
        for step in steps:
            await self._take(step)

    async def _take(self, step: Step) -> None:
        match step:
            case LeaveService(pod):
                await self._patch(pod, labels={SERVING_LABEL: None}, annotations={DRAIN_ANNOTATION: self._now})
            case TouchBudget():
                await self._touch_budget()
            case SetMethod():
                await self._patch(step.pod, annotations=self._method_annotations(step))
            case Rejoin(pod):
                await self._patch(pod, labels={SERVING_LABEL: "true"}, annotations={DRAIN_ANNOTATION: None})
            case DeletePod(pod, force):
                await self._cluster.delete_pod(self._snapshot.key.namespace, pod.name, pod.uid, force=force)
            case _:
                raise TypeError(f"{type(step).__name__} changes the target and is no step on a pod")

    def _method_annotations(self, step: SetMethod) -> dict[str, str | None]:
        if step.method.config == step.pod.config:
            return {METHOD_ANNOTATION: step.method.name}
        return {
            METHOD_ANNOTATION: step.method.name,
            CONFIG_ANNOTATION: step.method.config,
            SWITCHED_ANNOTATION: self._now,
            REPLACES_ANNOTATION: step.pod.container_id or "",
            RESTARTS_ANNOTATION: str(step.pod.restarts),
        }

    async def _patch(
        self,
        pod: PodView,
        *,
        labels: Mapping[str, str | None] | None = None,
        annotations: Mapping[str, str | None] | None = None,
    ) -> None:
        patched = await self._cluster.patch_pod(
            PodPatch(
                namespace=self._snapshot.key.namespace,
                name=pod.name,
                uid=pod.uid,
                resource_version=self._versions.get(pod.uid, pod.resource_version),
                labels=labels or {},
                annotations=annotations or {},
            )
        )
        self._versions[pod.uid] = patched["metadata"]["resourceVersion"]

    async def _touch_budget(self) -> None:
        budget = self._snapshot.children.budget
        if budget is None:
            raise ClusterError(Failure.NOT_FOUND, "the PodDisruptionBudget is gone")
        await self._cluster.annotate_budget(budget, {TOUCHED_ANNOTATION: self._now})
