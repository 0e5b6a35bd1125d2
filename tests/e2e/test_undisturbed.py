"""Nothing to do means nothing is written."""

import time

import pytest
from tests.helpers.audit import operator_writes

QUIET_SECONDS = 300


@pytest.mark.timeout(600)
def test_an_idle_object_costs_no_write_for_five_minutes(quiet, bed) -> None:
    """With nothing changing the operator writes nothing: counted in the API server's audit log.

    The object was there before the other tests ran, so most of the five minutes have usually passed by now.
    """
    time.sleep(max(0.0, quiet.settled_at + QUIET_SECONDS - time.time()))

    assert quiet.fleet.condition("MetricsAvailable")["status"] == "True"
    assert operator_writes(bed["audit_log"], namespace=quiet.fleet.namespace, since=quiet.settled_at) == []
