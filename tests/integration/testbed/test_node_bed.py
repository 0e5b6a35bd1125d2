"""A bed with a node: pods, accelerators, metrics, the audit log, and a crash."""

import json
import os
import signal
import time
import urllib.parse
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hack.testbed.paths import bed_paths
from tests.integration.testbed.conftest import (
    Machine,
    assert_gone,
    bed_command,
    cgroups_of,
    forget,
    processes_of,
    running,
)

from specdec_operator.__about__ import __version__

NAME = f"test-node-{os.getpid()}"
ENGINE = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "engine", "labels": {"app.kubernetes.io/managed-by": "specdec-operator"}},
    "spec": {
        "terminationGracePeriodSeconds": 1,
        "containers": [
            {
                "name": "engine",
                "image": f"specdec.dev/vllm-simulator:{__version__}",
                "args": ["some/model", "--port", "8000"],
                "ports": [{"name": "http", "containerPort": 8000}],
                "securityContext": {"readOnlyRootFilesystem": True},
            }
        ],
    },
}
UP = ("up", "--name", NAME, "--accelerators", "2", "--scrape-interval", "0.5")
Shell = Callable[[str], str]


@pytest.fixture(scope="module", name="before")
def _before() -> Machine:
    """Return what the machine looked like before the bed."""
    return Machine.look()


@pytest.fixture(scope="module", name="shell")
def _shell(before) -> Iterator[Shell]:
    """Return a function that runs a shell script in a bed that has a node with two accelerators."""

    def shell(script: str) -> str:
        return bed_command("exec", "--name", NAME, "--", "sh", "-ec", script)

    bed_command(*UP)
    yield shell
    bed_command("down", "--name", NAME)
    assert_gone(NAME)
    before.assert_nothing_new()
    forget(NAME)


@pytest.fixture(name="engine")
def _engine(shell, tmp_path) -> Iterator[None]:
    """Run one simulated engine that says it is the operator's."""
    (tmp_path / "pod.json").write_text(json.dumps(ENGINE))
    shell(f"kubectl apply -f {tmp_path}/pod.json; kubectl wait --for=condition=Ready pod/engine --timeout=60s")
    yield
    shell("kubectl delete pod engine --ignore-not-found")


def query(shell: Shell, promql: str) -> list[dict]:
    """Ask the bed's Prometheus; returns its samples."""
    answer = shell(f"wget -qO- '{running(NAME).prometheus_url}/api/v1/query?query={urllib.parse.quote(promql)}'")
    return json.loads(answer)["data"]["result"]


def test_engines_are_scraped_with_the_labels_of_a_pod_monitor(shell, engine, wait_until) -> None:
    """A pod of the operator, on its port named http; its series carry namespace and pod."""
    wait_until(lambda: query(shell, "vllm:num_requests_running"), 40, "the engine's metrics")

    labels = query(shell, "vllm:num_requests_running")[0]["metric"]
    assert (labels["namespace"], labels["pod"]) == ("default", "engine")


def test_prometheus_keeps_its_data_over_a_stop(shell, engine, wait_until) -> None:
    """Stopped and started from outside, it answers with samples from before."""
    wait_until(lambda: query(shell, "up == 1"), 40, "a scrape")
    stopped = time.time()
    bed_command("prometheus", "stop", "--name", NAME)
    assert "prometheus exited (0)" in bed_command("status")

    bed_command("prometheus", "start", "--name", NAME)

    wait_until(lambda: query(shell, f"up @ {stopped}"), 30, "the samples from before")


def test_the_node_has_the_accelerators_that_were_asked_for(shell) -> None:
    """Two fake GPUs can be requested."""
    assert shell("kubectl get node -o jsonpath='{.items[0].status.allocatable.nvidia\\.com/gpu}'") == "2"


def test_the_audit_log_tells_who_wrote_what(shell) -> None:
    """Writes are there with their user as soon as they are answered; reads are not."""
    shell("kubectl create configmap seen; kubectl get configmap seen -o name")

    lines = [json.loads(line) for line in Path(running(NAME).audit_log).read_text().splitlines()]
    about = [(line["verb"], line["user"]["username"]) for line in lines if line["objectRef"].get("name") == "seen"]
    assert about == [("create", "bed-admin")]


def test_the_api_server_can_be_paused_stopped_and_started(shell) -> None:
    """Tests of an outage drive it from outside the namespaces."""
    get = ("exec", "--name", NAME, "--", "kubectl", "get", "--request-timeout=2s", "--raw=/readyz")
    for off, on in (("pause", "resume"), ("stop", "start")):
        bed_command("apiserver", off, "--name", NAME)
        bed_command(*get, status=1)
        bed_command("apiserver", on, "--name", NAME)
        assert bed_command(*get) == "ok"


def test_a_killed_bed_is_cleaned_up_by_the_next_start(shell, engine, before, wait_until) -> None:
    """After SIGKILL of its first process nothing of it runs; the next start makes a new, empty cluster."""
    paths = bed_paths(NAME)
    assert cgroups_of(paths)
    os.kill(running(NAME).init_pid, signal.SIGKILL)
    wait_until(lambda: not processes_of(paths), 20, "the processes to end")
    before.assert_nothing_new()

    bed_command(*UP)

    assert shell("kubectl get pods -o name") == ""
