"""Reading Prometheus' text format, for comparing one text with another."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_SAMPLE = re.compile(r"(?P<name>[\w:]+)(?:\{(?P<labels>.*)\})? (?P<value>\S+)")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


class Sample(NamedTuple):
    """One line of a scrape."""

    name: str
    labels: tuple[tuple[str, str], ...]
    value: float

    def label(self, name: str) -> str:
        """The value of a label, empty where it is not there."""
        return dict(self.labels).get(name, "")


def samples(text: str) -> Iterator[Sample]:
    """All samples, in order."""
    for line in text.splitlines():
        if not line.startswith("#"):
            match = _SAMPLE.fullmatch(line)
            assert match, line
            yield Sample(match["name"], tuple(_LABEL.findall(match["labels"] or "")), float(match["value"]))


def value(text: str, name: str, **labels: str) -> float:
    """The sum of all samples of a name with these labels; fails where there is none."""
    found = [s.value for s in samples(text) if s.name == name and all(s.label(k) == v for k, v in labels.items())]
    assert found, f"no sample {name} {labels}"
    return sum(found)


def declarations(text: str) -> list[str]:
    """The HELP and TYPE lines, in order."""
    return [line for line in text.splitlines() if line.startswith("#")]


def series(text: str) -> list[tuple[str, tuple[tuple[str, str], ...]]]:
    """Names with labels, in order; labels that say what was measured on, and not what, lose their value."""
    return [(s.name, tuple(_neutral(s.name, label) for label in s.labels)) for s in samples(text)]


def _neutral(name: str, label: tuple[str, str]) -> tuple[str, str]:
    local = label[0] == "model_name" or name in {"vllm:cache_config_info", "python_info"}
    return (label[0], "") if local else label
