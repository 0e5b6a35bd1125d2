"""Which children must be written: missing ones are created, ours are healed, and others' are never touched."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from specdec_operator.adapters.cluster.trim import digest
from specdec_operator.api.names import DEPLOYMENT_KIND, GROUP
from specdec_operator.api.objects import SpecDecDeployment
from specdec_operator.controller.resemblance import holds
from specdec_operator.engine.render import RenderedMethod
from specdec_operator.ports import Children, JsonObject, is_ours
from specdec_operator.resources import build_budget, build_service, build_stateful_set

APPLIED_ANNOTATION = f"{GROUP}/applied-hash"
"""On each child: digest of the rendering that it was written from."""


@dataclass(frozen=True, slots=True)
class Create:
    """An object that is missing."""

    body: JsonObject


@dataclass(frozen=True, slots=True)
class Apply:
    """An object of ours that does not say what was rendered; the body carries the uid it was read with."""

    body: JsonObject


ChildWrite = Create | Apply


def render_children(deployment: SpecDecDeployment, target: RenderedMethod) -> tuple[JsonObject, ...]:
    """Return the children to have, each with the digest of its own rendering."""
    bodies = (build_service(deployment), build_budget(deployment), build_stateful_set(deployment, target))
    return tuple(_stamped(body) for body in bodies)


def _stamped(body: JsonObject) -> JsonObject:
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:16]
    metadata = body["metadata"]
    annotations = {**(metadata.get("annotations") or {}), APPLIED_ANNOTATION: digest}
    return {**body, "metadata": {**metadata, "annotations": annotations}}


def existing(children: Children) -> Iterator[JsonObject]:
    """Iterate over the children that are there, pods left out."""
    for body in (children.service, children.budget, children.stateful_set):
        if body is not None:
            yield body


def strangers(children: Children, uid: str) -> tuple[str, ...]:
    """Return kind and name of the objects that have our names and are not ours."""
    return tuple(
        f"{body.get('kind', 'object')} {body['metadata']['name']}"
        for body in existing(children)
        if not is_ours(body, uid)
    )


def leftovers(children: Children, uid: str) -> tuple[str, ...]:
    """Return kind and name of the objects among them that an earlier object of our name has left behind."""
    return tuple(
        f"{body.get('kind', 'object')} {body['metadata']['name']}"
        for body in existing(children)
        if not is_ours(body, uid)
        and any(
            owner.get("kind") == DEPLOYMENT_KIND and owner.get("name") == body["metadata"]["name"]
            for owner in body["metadata"].get("ownerReferences") or ()
        )
    )


def digests(children: Children) -> dict[str, str]:
    """Return by kind the digest of each child, whether it was read live or comes from the cache."""
    return {body["kind"]: body.get("digest") or digest(body) for body in existing(children)}


def child_writes(
    rendered: tuple[JsonObject, ...], children: Children, *, trusted: Mapping[str, str]
) -> tuple[ChildWrite, ...]:
    """Return the writes that make the children say what was rendered; none when they do already.

    Args:
        rendered: what is to be there.
        children: what is there, read live; all of them ours.
        trusted: digests of what the API server made of our last writes. It may have spelled something in a way that
            `holds` does not know; writing that again and again would change nothing.
    """
    live = {body["kind"]: body for body in existing(children)}
    writes: list[ChildWrite] = []
    for body in rendered:
        there = live.get(body["kind"])
        if there is None:
            writes.append(Create(body))
        elif not _is_current(there, body, trusted.get(body["kind"])):
            metadata = {**body["metadata"], "uid": there["metadata"]["uid"]}
            writes.append(Apply({**body, "metadata": metadata}))
    return tuple(writes)


def _is_current(there: JsonObject, body: JsonObject, trusted: str | None) -> bool:
    """Compare labels and annotations too: a Service is useless without the labels that it selects."""
    wanted = {name: body["metadata"].get(name) for name in ("labels", "annotations")}
    if not holds(there["metadata"], wanted):
        return False
    return digest(there) == trusted or holds(there.get("spec"), body.get("spec"))
