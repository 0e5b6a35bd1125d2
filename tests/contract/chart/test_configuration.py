"""What the chart writes is what the operator reads."""

import json
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from pydantic import BaseModel
from tests.contract.chart.conftest import CHART, Objects

from specdec_operator.adapters.prometheus import PrometheusConfiguration
from specdec_operator.controller.configuration import OperatorConfiguration, parse_configuration

Render = Callable[..., Objects]
SCHEMA = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))["properties"]["config"]


def written(objects: Objects) -> OperatorConfiguration:
    """Return the rendered configuration as the operator reads it."""
    text = objects["ConfigMap", "ops", "sdo-specdec-operator"]["data"]["config.yaml"]
    return parse_configuration(yaml.safe_load(text), source="config.yaml")


def known(model: type[BaseModel]) -> set[str]:
    """Return the names of a model's fields in the file."""
    return {field.alias or name for name, field in model.model_fields.items()}


def test_the_defaults_of_the_chart_are_the_defaults_of_the_operator(render: Render) -> None:
    """A plain install runs with what the operator has when it gets no file."""
    assert written(render()) == OperatorConfiguration()


def test_the_defaults_for_prometheus_are_those_of_the_operator(render: Render) -> None:
    """With nothing but an address, everything else is the operator's default."""
    address = "http://prometheus:9090"

    assert written(render({"config": {"prometheus": {"url": address}}})).prometheus == PrometheusConfiguration(
        url=address
    )


def test_every_value_reaches_the_operator(render: Render) -> None:
    """Each value of the chart is a field of the operator's configuration, and arrives."""
    values: dict[str, Any] = {
        "tickSeconds": 20,
        "resyncSeconds": 600,
        "maximumConcurrentSwitches": 5,
        "httpPort": 9090,
        "logLevel": "debug",
        "logFormat": "text",
        "prometheus": {
            "url": "https://mimir.example.com/prometheus",
            "tokenFile": "/secrets/token",
            "caFile": "/secrets/ca.crt",
            "insecureSkipVerify": True,
            "headers": {"X-Scope-OrgID": "team"},
            "extraMatchers": {"cluster": "east"},
            "labels": {"namespace": "exported_namespace", "pod": "exported_pod", "engine": "e", "cluster": "c"},
            "timeoutSeconds": 5,
            "windowSeconds": 120,
        },
    }

    read = written(render({"namespaces": ["a", "b"], "config": values}))

    assert read.model_dump(mode="json", by_alias=True) == {**values, "namespaces": ["a", "b"]}


def test_chart_and_operator_know_the_same_fields() -> None:
    """A field of the operator's configuration that the chart cannot set would be out of reach."""
    prometheus = SCHEMA["properties"]["prometheus"]["properties"]

    assert set(SCHEMA["properties"]) == known(OperatorConfiguration) - {"namespaces"}
    assert set(prometheus) == known(PrometheusConfiguration)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (f"{prefix}{name}", node[bound])
        for prefix, properties in (
            ("", SCHEMA["properties"]),
            ("prometheus.", SCHEMA["properties"]["prometheus"]["properties"]),
        )
        for name, node in properties.items()
        for bound in ("minimum", "maximum")
        if bound in node
    ],
)
def test_what_the_chart_allows_the_operator_takes(path: str, value: float) -> None:
    """The bounds of the chart's schema are not wider than the operator's own."""
    content: dict[str, Any] = {"prometheus": {"url": "http://p:9090"}}
    *parents, name = path.split(".")
    (content[parents[0]] if parents else content)[name] = value

    parse_configuration(content, source="values")
