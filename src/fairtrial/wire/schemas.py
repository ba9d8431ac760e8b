"""JSON Schemas in the dialects that model APIs enforce.

An API refuses a request whose schema it cannot enforce, so what is not sure is left out: nobody
relies on the enforcement, and every answer is checked by whoever asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fairtrial.model.json import Json

_KEPT: Final = frozenset(
    {
        "$defs",
        "$ref",
        "additionalProperties",
        "allOf",
        "anyOf",
        "const",
        "default",
        "definitions",
        "description",
        "enum",
        "items",
        "properties",
        "required",
        "title",
        "type",
    }
)
"""Keywords that Anthropic's API knows; the limits on numbers, lengths and counts are not."""
_NAMED: Final = frozenset({"$defs", "definitions", "properties"})
_LISTED: Final = frozenset({"allOf", "anyOf"})


def closed(schema: Mapping[str, Json]) -> dict[str, Json] | None:
    """Return a schema with only the keywords that every enforcer knows, its objects closed.

    None when it cannot be: an object in it may have any properties.
    """
    try:
        return _closed(schema)
    except _OpenObjectError:
        return None


def is_strict(schema: Json) -> bool:
    """Return whether OpenAI's strict mode takes a schema: closed objects, all of them required."""
    if isinstance(schema, list):
        return all(is_strict(part) for part in schema)
    if not isinstance(schema, Mapping):
        return True
    properties = schema.get("properties")
    if schema.get("type") == "object" or isinstance(properties, Mapping):
        if not isinstance(properties, Mapping) or schema.get("additionalProperties") is not False:
            return False
        if set(properties) != set(schema.get("required") or ()):
            return False
    return all(
        is_strict(list(part.values()) if name in _NAMED and isinstance(part, Mapping) else part)
        for name, part in schema.items()
        if name in _NAMED | _LISTED | {"items"}
    )


class _OpenObjectError(Exception):
    pass


def _closed(schema: Mapping[str, Json]) -> dict[str, Json]:
    told = {name: part for name, part in schema.items() if name in _KEPT}
    kind = told.get("type")
    if kind == "object" or "properties" in told:
        if told.get("additionalProperties", False) is not False or not told.get("properties"):
            raise _OpenObjectError
        told["additionalProperties"] = False
    elif not told.keys() & {"type", "enum", "const", "$ref", "anyOf", "allOf"}:
        raise _OpenObjectError  # anything at all, an object too
    for name, part in told.items():
        if name in _NAMED and isinstance(part, Mapping):
            told[name] = {key: _part(each) for key, each in part.items()}
        elif name in _LISTED and isinstance(part, list):
            told[name] = [_part(each) for each in part]
        elif name == "items":
            told[name] = _part(part)
    return told


def _part(schema: Json) -> dict[str, Json]:
    if not isinstance(schema, Mapping):
        raise _OpenObjectError  # true, or a list of schemas
    return _closed(schema)
