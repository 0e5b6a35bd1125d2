"""Where the API server is and who we are: a kubeconfig or the pod's service account."""

import os
from pathlib import Path
from typing import Final

import yaml
from kubernetes.aio.client.configuration import Configuration
from kubernetes.aio.config import ConfigException, load_kube_config
from kubernetes.aio.config.incluster_config import (
    SERVICE_CERT_FILENAME,
    SERVICE_HOST_ENV_NAME,
    SERVICE_TOKEN_FILENAME,
    InClusterConfigLoader,
)

from specdec_operator.adapters.cluster.failures import shorten

_HOME_CONFIG: Final = "~/.kube/config"
_UNUSABLE: Final = (ConfigException, yaml.YAMLError, OSError, ValueError, LookupError, TypeError, AttributeError)
"""What the loader of the client library raises for the various defects of a kubeconfig."""


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
    except _UNUSABLE as error:
        # A parser's message may quote the file, and the file holds secrets.
        reason = "not YAML" if isinstance(error, yaml.YAMLError) else shorten(str(error) or type(error).__name__)
        remedy = "set KUBECONFIG to a file that kubectl can use"
        raise ClusterConfigError(f"no way to the API server: {path or _HOME_CONFIG}: {reason}; {remedy}") from None
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
