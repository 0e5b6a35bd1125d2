"""The section `prometheus` of the operator's configuration file."""

from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

LabelName = Annotated[str, Field(pattern=r"^[a-zA-Z_][a-zA-Z0-9_]*$", max_length=128)]
HeaderName = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]+$", max_length=128)]
HeaderValue = Annotated[str, Field(pattern=r"^[^\r\n]*$", max_length=4096)]


def _address(text: str) -> str:
    parts = urlsplit(text)
    if parts.username is not None or parts.password is not None:
        raise ValueError("url must not carry credentials; use tokenFile or headers")
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise ValueError(f"{text!r} is no address; write one such as http://prometheus.monitoring.svc:9090")
    return text.rstrip("/")


class _Section(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,  # headers and addresses can hold secrets, and errors are logged
    )


class LabelNames(_Section):
    """How the series are labelled. All other labels (replica, job, instance, model) are aggregated away."""

    namespace: LabelName = "namespace"
    """For series that carry the target's own label too, this is often "exported_namespace"."""
    pod: LabelName = "pod"
    engine: LabelName = "engine"
    cluster: LabelName = "cluster"
    """Different values for one pod make it ambiguous; `extraMatchers` selects one."""


class PrometheusConfiguration(_Section):
    """How Prometheus is reached and how its series are labelled."""

    url: Annotated[str, AfterValidator(_address)]
    """Address without /api/v1, with a path where one is needed (for example for Mimir: /prometheus)."""
    token_file: Path | None = None
    """Bearer token; read again for every tick, because projected tokens change."""
    ca_file: Path | None = None
    """PEM file of the certificate authorities to trust in place of the public ones; read again for every tick."""
    insecure_skip_verify: bool = False
    headers: dict[HeaderName, HeaderValue] = Field(default_factory=dict)
    """Sent with every query, such as X-Scope-OrgID."""
    extra_matchers: dict[LabelName, str] = Field(default_factory=dict)
    """Label values that every series must have, such as {cluster: east}."""
    labels: LabelNames = Field(default_factory=LabelNames)
    timeout_seconds: Annotated[float, Field(gt=0, le=300)] = 10.0
    """Deadline of all queries of one tick together."""
    window_seconds: Annotated[float, Field(ge=1, le=3600)] | None = None
    """What rates cover. Default: six scrape intervals, as found in the series."""
