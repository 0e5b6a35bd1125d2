"""Read objects from files, directories and standard input, with the place of each for messages."""

import json
import sys
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

SUFFIXES: Final = frozenset({".yaml", ".yml", ".json"})
STANDARD_INPUT: Final = "-"


class UnusableInputError(Exception):
    """Input that cannot be read at all; the text says where, and what to do."""


@dataclass(frozen=True, slots=True)
class Document:
    """One YAML document that is an object. `source` is file:line of its beginning."""

    source: str
    body: dict[str, Any]

    @property
    def kind(self) -> str:
        """Its kind, "" without one."""
        return str(self.body.get("kind", ""))


class _Loader(yaml.SafeLoader):
    """YAML as Kubernetes reads it: dates stay texts, and keys are texts."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - PyYAML reads the table from the class
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT001, FBT002
        self.flatten_mapping(node)
        return {self._key(key): self.construct_object(value, deep=deep) for key, value in node.value}

    def _key(self, node: yaml.Node) -> str:
        value = self.construct_object(node, deep=True)
        return value if isinstance(value, str) else json.dumps(value, default=str)


def _refuse_twins(node: yaml.Node) -> None:
    """Refuse a key that comes twice in an object, as the API server does."""
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _refuse_twins(item)
    elif isinstance(node, yaml.MappingNode):
        seen = set()
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                raise yaml.MarkedYAMLError(problem=f"the key {key.value!r} comes twice", problem_mark=key.start_mark)
            seen.add(key.value if isinstance(key, yaml.ScalarNode) else id(key))
            _refuse_twins(value)


def read_documents(names: list[str]) -> Iterator[Document]:
    """Yield the objects of all files, of the files in directories (not deeper), and of standard input ("-").

    Items of a List are yielded one by one; documents that are no objects of Kubernetes are passed over.

    Raises:
        UnusableInputError: if a file cannot be read or is no YAML.
    """
    for name in names:
        for path, text in _texts(name):
            yield from _documents(path, text)


def _texts(name: str) -> Iterator[tuple[str, str]]:
    if name == STANDARD_INPUT:
        yield "<stdin>", sys.stdin.read()
        return
    path = Path(name)
    files = sorted(item for item in path.iterdir() if item.suffix in SUFFIXES) if path.is_dir() else [path]
    if path.is_dir() and not files:
        raise UnusableInputError(f"{name}: no .yaml, .yml or .json file in this directory")
    for file in files:
        try:
            yield str(file), file.read_text(encoding="utf-8")
        except OSError as error:
            raise UnusableInputError(f"{file}: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise UnusableInputError(f"{file}: is no UTF-8 text (byte {error.start})") from error


def _documents(path: str, text: str) -> Iterator[Document]:
    _refuse_control_characters(path, text)
    loader = _Loader(text)
    try:
        while loader.check_node():
            node = loader.get_node()
            if node is not None:
                _refuse_twins(node)
                yield from _objects(f"{path}:{node.start_mark.line + 1}", loader.construct_document(node))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else path
        raise UnusableInputError(f"{place}: {error.problem or error.context}") from error
    except RecursionError as error:
        raise UnusableInputError(f"{path}: is nested too deep") from error
    finally:
        loader.dispose()


def _refuse_control_characters(path: str, text: str) -> None:
    found = yaml.SafeLoader.NON_PRINTABLE.search(text)
    if found:
        line, column = text.count("\n", 0, found.start()) + 1, found.start() - text.rfind("\n", 0, found.start())
        raise UnusableInputError(f"{path}:{line}:{column}: the character {found.group()!r} is not allowed in YAML")


def _objects(source: str, body: object) -> Iterator[Document]:
    if not isinstance(body, dict) or "kind" not in body:
        return
    if body["kind"] == "List" and isinstance(body.get("items"), list):
        for item in body["items"]:
            yield from _objects(source, item)
    else:
        yield Document(source, body)
