"""Prometheus as metrics source: the only user of `prometheus_api_client` and `requests`.

- `configuration`: what the operator's configuration file says about it;
- `queries`: the PromQL of one tick;
- `intervals`: how often engines are scraped, and the window that follows from it;
- `transport`: one blocking round of queries: deadlines, credentials, errors in words;
- `answers`: from rows to a `Reading`;
- `source`: the `MetricsSource` that the controller asks.
"""

from specdec_operator.adapters.prometheus.configuration import LabelNames, PrometheusConfiguration
from specdec_operator.adapters.prometheus.source import PrometheusSource

__all__ = ["LabelNames", "PrometheusConfiguration", "PrometheusSource"]
