"""The operator's configuration file: YAML, camelCase, every field optional."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from specdec_operator.adapters.prometheus import PrometheusConfiguration


class LogFormat(StrEnum):
    """How log lines look."""

    JSON = "json"
    TEXT = "text"


class LogLevel(StrEnum):
    """How much is logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class ConfigurationError(Exception):
    """The configuration cannot be used; the message names field, value and remedy."""


class OperatorConfiguration(BaseModel):
    """What the operator is told when it starts."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, extra="forbid")

    namespaces: tuple[Annotated[str, Field(pattern=r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$")], ...] = ()
    """Where SpecDecDeployments are served; empty for the whole cluster."""
    tick_seconds: Annotated[float, Field(ge=1, le=60)] = 15.0
    """How often metrics are read. After two minutes without a reading a crossing no longer counts as lasting."""
    resync_seconds: Annotated[float, Field(ge=10, le=86_400)] = 300.0
    """How often every object is looked at although nothing woke it."""
    maximum_concurrent_switches: Annotated[int, Field(ge=1, le=1000)] = 2
    """How many objects may have a switch on their way at once."""
    http_port: Annotated[int, Field(ge=0, le=65_535)] = 8080
    """Port of /healthz, /readyz and /metrics; 0 takes a free one."""
    log_level: LogLevel = LogLevel.INFO
    log_format: LogFormat = LogFormat.JSON
    prometheus: PrometheusConfiguration | None = None
    """Where metrics come from; without it nothing is ever switched because of the load."""


def load_configuration(path: Path | None) -> OperatorConfiguration:
    """Read the configuration file; None gives the defaults.

    Raises:
        ConfigurationError: if the file cannot be read, is no YAML object, or has a field that does not fit.
    """
    if path is None:
        return OperatorConfiguration()
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} cannot be read: {error}; give the path of a readable file") from error
    except yaml.YAMLError as error:
        raise ConfigurationError(f"{path} is no YAML: {error}") from error
    return parse_configuration(content if content is not None else {}, source=str(path))


def parse_configuration(content: Any, *, source: str) -> OperatorConfiguration:  # noqa: ANN401 - whatever YAML holds
    """Check what a configuration file says.

    Raises:
        ConfigurationError: naming each field that does not fit.
    """
    if not isinstance(content, dict):
        raise ConfigurationError(f"{source} holds {type(content).__name__}; write an object such as tickSeconds: 15")
    try:
        return OperatorConfiguration.model_validate(content)
    except ValidationError as error:
        problems = "; ".join(_problem(found) for found in error.errors(include_url=False))
        raise ConfigurationError(f"{source}: {problems}") from error


def _problem(found: Any) -> str:  # noqa: ANN401 - pydantic's own dictionary
    field = ".".join(str(part) for part in found["loc"])
    if found["type"] == "extra_forbidden":
        known = ", ".join(sorted(to_camel(name) for name in OperatorConfiguration.model_fields))
        where = "" if len(found["loc"]) > 1 else f"; known are {known}"
        return f"{field} is no field of this configuration: remove it or correct its spelling{where}"
    value = found["input"]
    shown = f" {value!r}" if isinstance(value, str | int | float | bool) else ""
    return f"{field}{shown} does not fit: {found['msg']}"
