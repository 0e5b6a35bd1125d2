"""The operator process: `python -m specdec_operator [--config FILE]`. Reads the configuration and wires the parts."""

import argparse
import asyncio
import logging
import sys
from pathlib import Path

from specdec_operator.__about__ import __version__
from specdec_operator.adapters.clock import SystemClock
from specdec_operator.adapters.cluster import ClusterConfigError, KubernetesCluster
from specdec_operator.adapters.engine import HttpEngineProbe
from specdec_operator.adapters.prometheus import PrometheusSource
from specdec_operator.controller.configuration import (
    ConfigurationError,
    LogFormat,
    OperatorConfiguration,
    load_configuration,
)
from specdec_operator.controller.runtime import Operator, Ports
from specdec_operator.controller.ticker import NoMetricsSource
from specdec_operator.ports import MetricsSource
from specdec_operator.telemetry.logs import set_up

logger = logging.getLogger(__name__)


def main(arguments: list[str] | None = None) -> int:
    """Run the operator until SIGTERM; return 0, 2 for a configuration that cannot be used, 1 if a loop died."""
    options = _parser().parse_args(arguments)
    try:
        configuration = load_configuration(options.config)
    except ConfigurationError as error:
        print(f"specdec-operator: {error}", file=sys.stderr)
        return 2
    set_up(configuration.log_level, json_lines=configuration.log_format is LogFormat.JSON)
    return asyncio.run(_run(configuration))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="specdec-operator", description=__doc__)
    parser.add_argument("--config", type=Path, help="configuration file (YAML); without it the defaults hold")
    parser.add_argument("--version", action="version", version=__version__)
    return parser


async def _run(configuration: OperatorConfiguration) -> int:
    try:
        cluster = await KubernetesCluster.connect(namespaces=configuration.namespaces)
    except ClusterConfigError as error:
        logger.error("%s", error)  # noqa: TRY400 - the message says it all
        return 2
    where = ", ".join(configuration.namespaces) or "all namespaces"
    logger.info("specdec-operator %s serves %s", __version__, where)
    probe = HttpEngineProbe()
    ports = Ports(cluster=cluster, source=_source(configuration), probe=probe, clock=SystemClock())
    try:
        await Operator(configuration, ports).run()
    except Exception:
        logger.exception("a loop died; the process ends so that it is started anew")
        return 1
    finally:
        await probe.close()
        await cluster.close()
    return 0


def _source(configuration: OperatorConfiguration) -> MetricsSource:
    if configuration.prometheus is None:
        return NoMetricsSource()
    return PrometheusSource(configuration.prometheus)


if __name__ == "__main__":
    sys.exit(main())
