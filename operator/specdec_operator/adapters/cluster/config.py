"""Where the API server is and who we are: a kubeconfig or the pod's service account."""

import os
from pathlib import Path
from typing import Final

from kubernetes.aio.client.configuration import Configuration
from kubernetes.aio.config import ConfigException, load_kube_config
from kubernetes.aio.config.incluster_config import (
    SERVICE_CERT_FILENAME,
    SERVICE_HOST_ENV_NAME,
    SERVICE_TOKEN_FILENAME,
    InClusterConfigLoader,
)

_HOME_CONFIG: Final = "~/.kube/config"


class ClusterConfigError(Exception):
    """No usable way to the API server; the message names the file and the remedy."""


async def load_configuration(kubeconfig: str | None = None) -> Configuration:
    """Return a client configuration, freshly read.

    In this order: the argument, the environment variable KUBECONFIG, the pod's service account, ~/.kube/config.
    A service account's token is read again every minute by the client itself.

    Raises:
        ClusterConfigError: nothing usable was found.
    """
    configuration = Configuration()
    path = kubeconfig or os.environ.get("KUBECONFIG")
    try:
        if not path and _in_cluster():
            InClusterConfigLoader(SERVICE_TOKEN_FILENAME, SERVICE_CERT_FILENAME).load_and_set(configuration)
        else:
            await _load_file(path or _HOME_CONFIG, configuration)
    except (ConfigException, OSError, ValueError, KeyError, TypeError) as error:
        source = path or _HOME_CONFIG
        message = f"no way to the API server: {source}: {error}; set KUBECONFIG to a file that kubectl can use"
        raise ClusterConfigError(message) from error
    _adjust(configuration)
    return configuration


def _in_cluster() -> bool:
    return bool(os.environ.get(SERVICE_HOST_ENV_NAME)) and Path(SERVICE_TOKEN_FILENAME).is_file()


async def _load_file(path: str, configuration: Configuration) -> None:
    await load_kube_config(config_file=path, client_configuration=configuration, persist_config=False)
    token = configuration.api_key.get("BearerToken")
    if token:
        # A token file usually ends with a line feed, which no header may hold.
        configuration.api_key["BearerToken"] = token.strip()


def _adjust(configuration: Configuration) -> None:
    configuration.retries = None
    # Python 3.13 began to refuse certificates without key identifiers, which many clusters have and kubectl accepts.
    configuration.disable_strict_ssl_verification = True
