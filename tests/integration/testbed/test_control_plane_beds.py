"""Beds without a node: isolation, `run`, and the end of a bed whose caller was killed."""

import json

from hack.testbed import beds
from hack.testbed.paths import bed_paths
from tests.integration.testbed.conftest import (
    ROOT,
    Machine,
    assert_gone,
    bed_command,
    finished,
    processes_of,
    start_command,
)


def test_beds_of_different_names_run_side_by_side_and_leave_nothing(new_name) -> None:
    """Two clusters with the same addresses know nothing of each other; afterwards the machine is as it was."""
    before, names = Machine.look(), (new_name(), new_name())
    for starting in [start_command("up", "--control-plane", "--name", name) for name in names]:
        finished(starting)

    for name in names:
        bed_command("exec", "--name", name, "--", "kubectl", "create", "namespace", f"only-{name}")
    seen = [bed_command("exec", "--name", name, "--", "kubectl", "get", "namespaces", "-o", "name") for name in names]

    assert [f"only-{names[0]}" in text for text in seen] == [True, False]
    assert [f"only-{names[1]}" in text for text in seen] == [False, True]
    for name in names:
        bed_command("down", "--name", name)
        assert_gone(name)
    before.assert_nothing_new()


def test_run_gives_the_command_its_place_and_returns_its_exit_status(new_name) -> None:
    """The working directory stays, kubectl finds the cluster, the bed goes with the command."""
    name = new_name()
    script = "pwd; kubectl get namespace default -o name; cat $SPECDEC_TESTBED; exit 7"

    output = bed_command("run", "--control-plane", "--name", name, "--", "sh", "-c", script, status=7)

    folder, namespace, description = output.split("\n", 2)
    assert folder == str(ROOT)
    assert namespace == "namespace/default"
    assert json.loads(description)["name"] == name
    assert beds.read(name) is None
    assert_gone(name)


def test_a_bed_ends_when_its_caller_is_killed(new_name, wait_until) -> None:
    """SIGKILL of `run` leaves no process; the next `down` removes the files."""
    name = new_name()
    caller = start_command("run", "--control-plane", "--name", name, "--", "sleep", "300")
    wait_until(lambda: beds.read(name) is not None, 60, "the bed")

    caller.kill()
    caller.communicate()

    wait_until(lambda: not processes_of(bed_paths(name)), 20, "the bed's processes to end")
    bed_command("down", "--name", name)
    assert_gone(name)
