"""JSON Schema (2020-12) of a dataclass of options."""

from __future__ import annotations

from typing import Any

import msgspec

from fairtrial.schema.fields import options_of


def json_schema(kind: type, *, title: str, description: str = "") -> dict[str, Any]:
    """Return the schema of the object that `decode(kind, …)` takes."""
    options = options_of(kind)
    properties = {}
    for option in options:
        (schema,), _ = msgspec.json.schema_components([option.type], schema_hook=_as_text)
        schema = dict(schema)
        if option.doc:
            schema["description"] = option.doc
        if not option.required and option.default is not None:
            schema["default"] = msgspec.to_builtins(option.default, enc_hook=str)
        properties[option.name] = schema
    return {
        "title": title,
        **({"description": description} if description else {}),
        "type": "object",
        "properties": properties,
        "required": [option.name for option in options if option.required],
        "additionalProperties": False,
    }


def _as_text(_: type) -> dict[str, Any]:
    return {"type": "string"}
