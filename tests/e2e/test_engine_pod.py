"""A rendered engine pod on a real kubelet, without the operator: arguments, and switches in place at any time."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Kubectl, WaitUntil
from tests.helpers.deployments import NGRAM, make_deployment
from tests.helpers.fleet import simulated

from specdec_operator.api.names import CONFIG_ANNOTATION, SERVING_LABEL
from specdec_operator.engine.render import plain_arguments, render_method
from specdec_operator.resources import build_budget, build_service, build_stateful_set

pytestmark = pytest.mark.e2e

POD = "llama-8b-0"
AWKWARD = "$(HOME) $$ $é é$ `id` \" ' $SPECULATIVE_CONFIG {{ x }}\nnew line"
STAND_IN = Path(__file__).with_name("engine_stand_in.py").read_text()
Start = Callable[..., None]


class Pod:
    """The one pod of a StatefulSet, as kubectl shows it."""

    def __init__(self, kubectl: Kubectl, namespace: str, wait_until: WaitUntil) -> None:
        self._kubectl, self._namespace, self._wait_until = kubectl, namespace, wait_until
        self.arguments: tuple[str, ...] = ()

    def start(self, **environment: str) -> None:
        """Apply what is rendered for an engine that is a stand-in."""
        deployment = make_deployment(
            engine={
                "version": "0.32.0",
                "image": simulated("x", "x")["spec"]["engine"]["image"],
                "command": ["python3", "-c", STAND_IN],
                "accelerator": {"count": 0},
                "extraArgs": ["--chat-template", AWKWARD],
                "env": [{"name": name, "value": value} for name, value in environment.items()],
            },
        )
        self.arguments = plain_arguments(deployment.spec, object_name="llama-8b")
        items = [
            build_stateful_set(deployment, render_method(deployment.spec, "ngram")),
            build_service(deployment),
            build_budget(deployment),
        ]
        for item in items:
            del item["metadata"]["ownerReferences"]
            item["metadata"]["namespace"] = self._namespace
        body = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
        self._kubectl("apply", "--server-side", "-f", "-", input=body)
        self._wait_until(self.running, 60, "a running container")

    def kubectl(self, *arguments: str) -> str:
        """Call kubectl in the namespace."""
        return self._kubectl("-n", self._namespace, *arguments)

    def read(self) -> dict[str, Any]:
        """Return the pod; {} while there is none."""
        items = json.loads(self.kubectl("get", "pods", "-o", "json"))["items"]
        return next((item for item in items if item["metadata"]["name"] == POD), {})

    def container(self) -> dict[str, Any]:
        """Return the status of the engine's container; {} while there is none."""
        return next(iter(self.read().get("status", {}).get("containerStatuses", [])), {})

    def running(self) -> bool:
        """Whether the container runs."""
        return "running" in self.container().get("state", {})

    def ready(self) -> bool:
        """Whether the kubelet calls it ready."""
        return bool(self.container().get("ready"))

    def switch(self, config: str) -> float:
        """Take the pod out of its Service, set another method, and return the seconds until the engine ran again."""
        restarts = self.container()["restartCount"]
        self.kubectl("label", "pod", POD, f"{SERVING_LABEL}-")
        time.sleep(2)  # the kubelet writes the labels into the pod; the operator waits for the drain here
        begin = time.monotonic()
        self.kubectl("annotate", "--overwrite", "pod", POD, f"{CONFIG_ANNOTATION}={config}")
        self._wait_until(lambda: self.container()["restartCount"] > restarts, 60, "a restart")
        return time.monotonic() - begin


@pytest.fixture(name="pod")
def _pod(kubectl: Kubectl, cluster_namespace: str, wait_until: WaitUntil) -> Pod:
    return Pod(kubectl, cluster_namespace, wait_until)


def test_arguments_reach_the_process_unchanged(pod: Pod, wait_until: WaitUntil) -> None:
    """No character of a user's text is expanded on the way, and the method stands in its place."""
    pod.start()
    wait_until(lambda: pod.kubectl("logs", POD), 30, "the engine's first line")

    seen = json.loads(pod.kubectl("logs", POD).splitlines()[0])

    assert tuple(seen[:-2]) == pod.arguments
    assert json.loads(seen[-1]) == {"method": "ngram", "num_speculative_tokens": 4, **NGRAM["options"]}


def test_running_engine_restarts_in_its_pod_with_the_new_method(pod: Pod, wait_until: WaitUntil) -> None:
    """Same pod and address, without the wait that a serving pod has, and the event says why."""
    pod.start()
    wait_until(pod.ready, 60, "a ready engine")
    before = pod.read()

    seconds = pod.switch("null")
    wait_until(pod.ready, 60, "a ready engine with the new method")

    after = pod.read()
    assert seconds < 15
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert after["status"]["podIP"] == before["status"]["podIP"]
    assert json.loads(pod.kubectl("logs", POD).splitlines()[0])[-1] == "null"
    assert "speculative config changed: restarting the engine" in pod.kubectl("get", "events")


def test_loading_engine_restarts_too(pod: Pod) -> None:
    """A load that nobody wants any more is cut short: the startup probe steps aside for liveness."""
    pod.start(DELAY="600")

    assert pod.switch("null") < 30
