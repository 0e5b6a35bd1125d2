"""The configuration file."""

from pathlib import Path

import pytest

from specdec_operator.controller.configuration import (
    ConfigurationError,
    OperatorConfiguration,
    load_configuration,
    parse_configuration,
)


def test_an_empty_file_and_no_file_give_the_defaults(tmp_path: Path) -> None:
    """Every field is optional."""
    empty = tmp_path / "config.yaml"
    empty.write_text("# nothing\n")
    assert load_configuration(empty) == load_configuration(None) == OperatorConfiguration()


def test_fields_are_camel_case(tmp_path: Path) -> None:
    """As in everything else that users write in YAML."""
    file = tmp_path / "config.yaml"
    file.write_text("tickSeconds: 5\nnamespaces: [serving]\nprometheus: {url: 'http://prometheus:9090/'}\n")
    configuration = load_configuration(file)
    assert configuration.tick_seconds == 5
    assert configuration.namespaces == ("serving",)
    assert configuration.prometheus is not None
    assert configuration.prometheus.url == "http://prometheus:9090"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"tickSecond": 5}, ["tickSecond", "no field", "tickSeconds"]),
        ({"tickSeconds": 0}, ["tickSeconds", "0", "greater than or equal to 1"]),
        ({"logFormat": "xml"}, ["logFormat", "'xml'", "json"]),
        ({"namespaces": ["A_b"]}, ["namespaces.0", "A_b"]),
        ({"prometheus": {}}, ["prometheus.url", "required"]),
        ({"prometheus": {"url": "prometheus:9090"}}, ["prometheus.url", "no address", "http://"]),
        ({"prometheus": {"url": "http://p", "tokn": 1}}, ["prometheus.tokn", "no field"]),
        ([1], ["list", "tickSeconds: 15"]),
    ],
)
def test_what_does_not_fit_is_named(content: object, words: list[str]) -> None:
    """Field, value and what would fit."""
    with pytest.raises(ConfigurationError) as caught:
        parse_configuration(content, source="config.yaml")
    for word in ["config.yaml", *words]:
        assert word in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """Also when it is no YAML at all."""
    with pytest.raises(ConfigurationError, match="cannot be read"):
        load_configuration(tmp_path / "missing.yaml")
    broken = tmp_path / "broken.yaml"
    broken.write_text("a: [")
    with pytest.raises(ConfigurationError, match="no YAML"):
        load_configuration(broken)
