"""Log lines, as text for people or as JSON for machines."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_KOPF_RUNNER = "kopf._core.reactor.running"
"""Warns at every start that it gets no signals; they are the operator's own."""
_FOREIGN = ("kopf", "aiohttp", "urllib3", "asyncio")


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    """Return what the caller gave as `extra`; kopf's own bookkeeping is left out."""
    return {
        name: value
        for name, value in vars(record).items()
        if name not in _STANDARD and not name.startswith(("k8s_", "settings"))
    }


class JsonFormatter(logging.Formatter):
    """One JSON object a line: time, level, logger, message, then the fields given as `extra`."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, tz=UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_fields(record),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


class TextFormatter(logging.Formatter):
    """Time, level, message, then `name=value` for each field given as `extra`."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        """Return the line without a traceback."""
        fields = "".join(f" {name}={value}" for name, value in _fields(record).items())
        return super().formatMessage(record) + fields


def set_up(level: str, *, json_lines: bool) -> None:
    """Send all log lines to standard error; libraries speak only from warnings on, unless `level` is debug."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if json_lines else TextFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for name in _FOREIGN:
        logging.getLogger(name).setLevel(logging.DEBUG if level == "debug" else logging.WARNING)
    logging.getLogger(_KOPF_RUNNER).setLevel(logging.DEBUG if level == "debug" else logging.ERROR)
