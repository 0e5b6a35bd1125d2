"""Log lines."""

import json
import logging
from collections.abc import Iterator

import pytest

from specdec_operator.telemetry.logs import JsonFormatter, TextFormatter, set_up


def record(message: str = "switched %s", *arguments: object, **extra: object) -> logging.LogRecord:
    """Return a record as a logger makes it."""
    made = logging.LogRecord("specdec_operator.x", logging.INFO, __file__, 1, message, arguments or ("off",), None)
    vars(made).update(extra)
    return made


def test_json_lines_carry_what_was_given_as_extra() -> None:
    """One object a line, for machines."""
    line = json.loads(JsonFormatter().format(record(object="serving/llama", reason="PastBreakEven")))
    assert line["message"] == "switched off"
    assert (line["level"], line["logger"]) == ("info", "specdec_operator.x")
    assert (line["object"], line["reason"]) == ("serving/llama", "PastBreakEven")
    assert line["time"].endswith("+00:00")


def test_a_failure_stays_on_one_line_of_json() -> None:
    """With its traceback."""
    made = record()
    made.exc_info = (ValueError, ValueError("a mistake"), None)
    text = JsonFormatter().format(made)
    assert "\n" not in text
    assert "ValueError: a mistake" in json.loads(text)["exception"]


def test_text_lines_end_with_what_was_given_as_extra() -> None:
    """For people."""
    line = TextFormatter().format(record(object="serving/llama"))
    assert line.endswith("INFO    switched off object=serving/llama")


@pytest.fixture(name="levels")
def _levels() -> Iterator[None]:
    """Put the loggers back as they were."""
    names = ["", "kopf", "aiohttp", "urllib3", "asyncio", "kopf._core.reactor.running"]
    before = {name: logging.getLogger(name).level for name in names}
    handlers = logging.getLogger().handlers[:]
    yield
    logging.getLogger().handlers[:] = handlers
    for name, level in before.items():
        logging.getLogger(name).setLevel(level)


def test_libraries_are_quiet_unless_everything_is_asked_for(levels: None) -> None:
    """Their information is noise; with debug it is wanted."""
    set_up("info", json_lines=True)
    assert logging.getLogger("kopf").level == logging.WARNING
    assert logging.getLogger().level == logging.INFO
    set_up("debug", json_lines=False)
    assert logging.getLogger("kopf").level == logging.DEBUG
