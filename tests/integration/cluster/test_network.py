"""Every call ends: a server that hangs, resets, refuses or is not the right one."""

import asyncio
import time
from dataclasses import replace

import pytest
from tests.integration.cluster.bodies import service
from tests.integration.cluster.conftest import FAST, Connect
from tests.integration.cluster.kubeconfig import Kubeconfigs
from tests.integration.cluster.proxy import Proxy

from specdec_operator.api.conditions import Reason
from specdec_operator.ports import ClusterError, ClusterEvent, EventType, Failure, Key

HASTY = replace(FAST, connect=1.0, read=0.5, write=0.5, emit=0.5)


async def test_a_server_that_hangs_is_a_timeout(
    connect: Connect, kubeconfigs: Kubeconfigs, proxy: Proxy, key: Key
) -> None:
    """Reads and writes end at their deadline, on a connection that was fine before."""
    cluster = await connect(HASTY, kubeconfig=kubeconfigs.through(proxy.port))
    await cluster.read_deployment(key)
    proxy.hang()
    started = time.monotonic()

    for call in (cluster.read_deployment(key), cluster.create(service(key.namespace, "u"))):
        with pytest.raises(ClusterError, match="no answer in time") as caught:
            await call
        assert caught.value.failure is Failure.TIMEOUT

    assert 1.0 <= time.monotonic() - started < 3.0


async def test_after_a_timeout_the_next_call_is_answered(
    connect: Connect, kubeconfigs: Kubeconfigs, proxy: Proxy, key: Key
) -> None:
    """A call that was given up leaves no connection behind on which the next one would get its answer."""
    cluster = await connect(HASTY, kubeconfig=kubeconfigs.through(proxy.port))
    proxy.hang()
    with pytest.raises(ClusterError):
        await cluster.read_deployment(key)
    proxy.flow()

    assert await cluster.read_deployment(key) is None


async def test_a_connection_reset_in_a_call_is_a_lost_connection(
    connect: Connect, kubeconfigs: Kubeconfigs, proxy: Proxy, key: Key
) -> None:
    """A reset while waiting for the answer is Connection, at once and not at the deadline."""
    cluster = await connect(kubeconfig=kubeconfigs.through(proxy.port))
    await cluster.read_deployment(key)
    proxy.hang()
    call = asyncio.create_task(cluster.create(service(key.namespace, "u")))
    await asyncio.sleep(0.2)
    proxy.cut()

    with pytest.raises(ClusterError, match="connection failed") as caught:
        await asyncio.wait_for(call, 2)

    assert caught.value.failure is Failure.CONNECTION


async def test_nobody_there_is_a_lost_connection(
    connect: Connect, kubeconfigs: Kubeconfigs, proxy: Proxy, key: Key
) -> None:
    """A refused connection is Connection, and the same adapter works again when the server is back."""
    cluster = await connect(kubeconfig=kubeconfigs.through(proxy.port))
    await proxy.close()

    with pytest.raises(ClusterError) as caught:
        await cluster.read_deployment(key)
    await proxy.open()

    assert caught.value.failure is Failure.CONNECTION
    assert await cluster.read_deployment(key) is None


async def test_a_server_with_another_authority_is_not_trusted(
    connect: Connect, kubeconfigs: Kubeconfigs, key: Key
) -> None:
    """Without its authority the server is refused, and the message says that the certificate is the trouble."""
    host, port = kubeconfigs.server
    path = kubeconfigs.write("untrusted", cluster={"server": f"https://{host}:{port}"})
    cluster = await connect(kubeconfig=path)

    with pytest.raises(ClusterError, match=r"(?i)certificate") as caught:
        await cluster.read_deployment(key)

    assert caught.value.failure is Failure.CONNECTION


async def test_an_event_never_holds_up_its_sender(
    connect: Connect, kubeconfigs: Kubeconfigs, proxy: Proxy, key: Key
) -> None:
    """Recording an event on a server that hangs ends at its deadline without an error."""
    cluster = await connect(HASTY, kubeconfig=kubeconfigs.through(proxy.port))
    proxy.hang()

    await asyncio.wait_for(cluster.emit(ClusterEvent(key, "u", EventType.NORMAL, Reason.SWITCHED, "m")), 2)


async def test_a_burst_queues_here(connect: Connect, kubeconfigs: Kubeconfigs, proxy: Proxy, key: Key) -> None:
    """Two hundred reads at once use at most 32 connections."""
    cluster = await connect(kubeconfig=kubeconfigs.through(proxy.port))

    await asyncio.gather(*(cluster.read_deployment(key) for _ in range(200)))

    assert proxy.connections <= 32
