"""From pydantic's JSON schema to a structural schema as a CustomResourceDefinition takes it.

Pydantic writes references, `anyOf` with null, titles, defaults and closed objects; a structural schema knows none of
them. Whatever is neither translated nor known here is an error, so that nothing slips through.
"""

import inspect
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import BaseModel

Schema = dict[str, Any]

_KEPT: Final[tuple[str, ...]] = (
    "description",
    "type",
    "format",
    "enum",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "maxProperties",
    "properties",
    "additionalProperties",
    "items",
    "required",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-validations",
)
"""Keywords of the result, in the order they are written."""
_DROPPED: Final = frozenset({"title", "default", "$defs"})
_INT32: Final = 2_147_483_647
_PRESERVE: Final = "x-kubernetes-preserve-unknown-fields"


def structural(model: type[BaseModel], *, closed_enums: bool) -> Schema:
    """Return the structural schema of a model.

    Args:
        model: the model.
        closed_enums: whether values outside an enum are refused. True for a spec; in a status a newer operator's word
            must not make an older CRD refuse everything else that is written with it.

    Raises:
        ValueError: if pydantic says something that no structural schema can.
    """
    source = model.model_json_schema(by_alias=True)
    return _Translation(source.get("$defs", {}), closed_enums=closed_enums).of(source, model.__name__)


class _Translation:
    """One run over a schema with its definitions."""

    def __init__(self, definitions: Mapping[str, Schema], *, closed_enums: bool) -> None:
        self._definitions = definitions
        self._closed_enums = closed_enums

    def of(self, node: Schema, path: str) -> Schema:
        """Translate one node and everything below it."""
        flat = self._flattened(node)
        default = node.get("default")
        result = {key: flat.pop(key) for key in _KEPT if key in flat}
        unknown = set(flat) - _DROPPED
        if unknown:
            raise ValueError(f"{path}: no structural schema knows {', '.join(sorted(unknown))}")
        if "enum" in result and not self._closed_enums and path.rpartition(".")[2] != "status":
            result["maxLength"] = 64
            del result["enum"]
        self._translate_children(result, path)
        _complete(result, default)
        return {key: result[key] for key in _KEPT if key in result}

    def _flattened(self, node: Schema) -> Schema:
        """Resolve references and `anyOf` with null; what stands beside them wins over what they say."""
        result = dict(node)
        choices = [choice for choice in result.pop("anyOf", ()) if choice != {"type": "null"}]
        if len(choices) > 1:
            raise ValueError(f"more than one type: {choices}")
        for choice in choices:
            result = {**self._flattened(choice), **result}
        if "$ref" in result:
            definition = self._definitions[result.pop("$ref").removeprefix("#/$defs/")]
            result = {**self._flattened(definition), **result}
        return result

    def _translate_children(self, result: Schema, path: str) -> None:
        if "properties" in result:
            properties = result["properties"].items()
            result["properties"] = {name: self.of(child, f"{path}.{name}") for name, child in properties}
        if "items" in result:
            result["items"] = self.of(result["items"], f"{path}[]")
        additional = result.pop("additionalProperties", None)
        if additional is True:
            result[_PRESERVE] = True
        elif isinstance(additional, dict):
            result["additionalProperties"] = self.of(additional, f"{path}{{}}")


def _complete(result: Schema, default: object) -> None:
    """Add what the conventions ask for: width of integers, kind of lists, the default in words."""
    if result.get("type") == "integer":
        result.setdefault("format", "int32" if result.get("maximum", _INT32 + 1) <= _INT32 else "int64")
    if result.get("type") == "array":
        result.setdefault("x-kubernetes-list-type", "atomic")
    if "description" in result:
        result["description"] = inspect.cleandoc(result["description"]).replace("\n", " ")
    if isinstance(default, bool):
        default = "true" if default else "false"
    if isinstance(default, str | int) and "description" in result:
        result["description"] += f" Default: {default}."


def walk(schema: Schema, path: str = "") -> Iterator[tuple[str, Schema]]:
    """Yield every node of a structural schema with its path, such as spec.methods[].name."""
    yield path, schema
    for name, child in schema.get("properties", {}).items():
        yield from walk(child, f"{path}.{name}".lstrip("."))
    if "items" in schema:
        yield from walk(schema["items"], f"{path}[]")
    if "additionalProperties" in schema:
        yield from walk(schema["additionalProperties"], f"{path}{{}}")
