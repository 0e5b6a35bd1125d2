"""Who we are: rights, tokens, and where the configuration comes from."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.integration.cluster.bodies import service
from tests.integration.cluster.conftest import Connect
from tests.integration.cluster.kubeconfig import Kubeconfigs

from specdec_operator.adapters.cluster import ClusterConfigError, KubernetesCluster, config, transport
from specdec_operator.adapters.cluster.kinds import SERVICE
from specdec_operator.ports import ClusterError, Failure, Key

Kubectl = Callable[..., str]
WRONG = "wrong-token"


@pytest.fixture(name="token")
def _token(kubectl: Kubectl, cluster_namespace: str) -> str:
    """Return the token of a service account that may read Services of its namespace and nothing else."""
    kubectl("-n", cluster_namespace, "create", "serviceaccount", "reader")
    kubectl("-n", cluster_namespace, "create", "role", "reader", "--verb=get", "--resource=services")
    account = f"--serviceaccount={cluster_namespace}:reader"
    kubectl("-n", cluster_namespace, "create", "rolebinding", "reader", "--role=reader", account)
    return kubectl("-n", cluster_namespace, "create", "token", "reader").strip()


async def _read(cluster: KubernetesCluster, key: Key) -> ClusterError | None:
    """Read a Service that is not there; return why that was refused."""
    try:
        await cluster._objects.read(SERVICE, key.namespace, key.name)
    except ClusterError as error:
        return error
    return None


async def test_a_missing_right_is_forbidden(connect: Connect, kubeconfigs: Kubeconfigs, key: Key, token: str) -> None:
    """RBAC's refusal says which right is missing."""
    cluster = await connect(kubeconfig=kubeconfigs.with_user("reader", token=token))

    with pytest.raises(ClusterError) as caught:
        await cluster.create(service(key.namespace, "u"))

    assert (caught.value.failure, caught.value.status) == (Failure.FORBIDDEN, 403)
    assert 'cannot create resource "services"' in str(caught.value)
    assert await _read(cluster, key) is None


async def test_a_wrong_token_is_forbidden_and_not_shown(connect: Connect, kubeconfigs: Kubeconfigs, key: Key) -> None:
    """A token that is not accepted is Forbidden, and the message does not hold it."""
    cluster = await connect(kubeconfig=kubeconfigs.with_user("wrong", token=WRONG))

    error = await _read(cluster, key)

    assert error is not None
    assert (error.failure, error.status) == (Failure.FORBIDDEN, 401)
    assert WRONG not in str(error)


async def test_a_renewed_token_needs_no_restart(
    connect: Connect, kubeconfigs: Kubeconfigs, key: Key, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a 401 the kubeconfig is read again and the call repeated; not more often than the interval allows."""
    path = kubeconfigs.with_user("renewed", token=WRONG)
    cluster = await connect(kubeconfig=path)
    assert await _read(cluster, key) is not None

    kubeconfigs.with_user("renewed", token=token)
    too_soon = await _read(cluster, key)
    monkeypatch.setattr(transport, "RELOAD_INTERVAL", 0.0)

    assert too_soon is not None
    assert await _read(cluster, key) is None


async def test_a_kubeconfig_that_vanished_keeps_the_error(
    connect: Connect, kubeconfigs: Kubeconfigs, key: Key, caplog: pytest.LogCaptureFixture
) -> None:
    """When there is nothing to read again, the refusal stands and the log says why."""
    cluster = await connect(kubeconfig=kubeconfigs.with_user("gone", token=WRONG))
    kubeconfigs.remove("gone")

    error = await _read(cluster, key)

    assert error is not None
    assert error.status == 401
    assert "credentials were refused and cannot be read again" in caplog.text


async def test_a_token_file_may_end_with_a_line_feed(
    connect: Connect, kubeconfigs: Kubeconfigs, key: Key, token: str, tmp_path: Path
) -> None:
    """A token file made with echo works."""
    (tmp_path / "token").write_text(f"{token}\n", encoding="utf-8")

    cluster = await connect(kubeconfig=kubeconfigs.with_user("file", tokenFile=str(tmp_path / "token")))

    assert await _read(cluster, key) is None


@pytest.fixture(name="mount")
def _mount(kubeconfigs: Kubeconfigs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], object]:
    """Pretend to be in a pod; return a function that puts a token where it is mounted."""
    host, port = kubeconfigs.server
    monkeypatch.delenv("KUBECONFIG")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", host)
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(port))
    monkeypatch.setattr(config, "SERVICE_TOKEN_FILENAME", str(tmp_path / "mounted-token"))
    monkeypatch.setattr(config, "SERVICE_CERT_FILENAME", str(kubeconfigs.authority()))
    return (tmp_path / "mounted-token").write_text


async def test_the_service_account_of_a_pod(
    connect: Connect, key: Key, token: str, mount: Callable[[str], object]
) -> None:
    """Without KUBECONFIG the mounted token and authority are used; a rotated token is read again after a 401."""
    mount(token)
    cluster = await connect()
    assert await _read(cluster, key) is None

    mount(WRONG)
    late = await connect()
    mount(token)
    assert await _read(late, key) is None


@pytest.mark.parametrize(
    "content", [None, "", "clusters: 1", "- a", "{"], ids=["absent", "empty", "odd", "list", "broken"]
)
async def test_no_usable_kubeconfig_names_the_file(connect: Connect, tmp_path: Path, content: str | None) -> None:
    """A kubeconfig that cannot be used is named together with the remedy."""
    path = tmp_path / "config"
    if content is not None:
        path.write_text(content, encoding="utf-8")

    with pytest.raises(ClusterConfigError, match=rf"{path}: .*set KUBECONFIG"):
        await connect(kubeconfig=str(path))


async def test_an_overloaded_server_says_when_to_come_back(
    connect: Connect, kubectl: Kubectl, kubeconfigs: Kubeconfigs, key: Key, token: str
) -> None:
    """A request that the server's priority and fairness refuse is TooManyRequests with the server's Retry-After."""
    name = f"refuse-{key.namespace}"
    kubectl("apply", "-f", "-", input=json.dumps(_refuse_most(name, key.namespace)))
    try:
        cluster = await connect(kubeconfig=kubeconfigs.with_user("reader", token=token))

        error = await _until_refused(cluster, key)
    finally:
        kubectl("delete", "flowschema,prioritylevelconfiguration", name)

    assert (error.status, error.retry_after) == (429, 1.0)


async def _until_refused(cluster: KubernetesCluster, key: Key) -> ClusterError:
    async with asyncio.timeout(60):
        while True:
            for error in await asyncio.gather(*(_read(cluster, key) for _ in range(40))):
                if error is not None and error.failure is Failure.TOO_MANY_REQUESTS:
                    return error


def _refuse_most(name: str, namespace: str) -> dict[str, object]:
    """Return objects that let the service account have one request at a time."""
    api = "flowcontrol.apiserver.k8s.io/v1"
    limited = {"nominalConcurrencyShares": 0, "lendablePercent": 0, "borrowingLimitPercent": 0}
    level = {"type": "Limited", "limited": {**limited, "limitResponse": {"type": "Reject"}}}
    subject = {"kind": "ServiceAccount", "serviceAccount": {"name": "reader", "namespace": namespace}}
    resources = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"], "clusterScope": True}
    schema = {
        "matchingPrecedence": 2,
        "priorityLevelConfiguration": {"name": name},
        "rules": [{"subjects": [subject], "resourceRules": [resources]}],
    }
    items = [
        {"apiVersion": api, "kind": "PriorityLevelConfiguration", "metadata": {"name": name}, "spec": level},
        {"apiVersion": api, "kind": "FlowSchema", "metadata": {"name": name}, "spec": schema},
    ]
    return {"apiVersion": "v1", "kind": "List", "items": items}
