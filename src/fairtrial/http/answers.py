"""The JSON Schemas of what is answered: those of the reports, as their reference tells them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final

_FILE: Final = "answers.json"


def schema_ref(title: str) -> str:
    """Return the reference to the schema of a form of answers."""
    return f"#/components/schemas/{schema_name(title)}"


def schema_name(title: str) -> str:
    """Return the name of a form's schema: `fairtrial.rows/1` is `fairtrial.rows.1`."""
    return re.sub(r"[^A-Za-z0-9._-]+", "." if "/" in title else "_", title)


def report_schemas() -> Mapping[str, Any]:
    """Return the schema of every report, and of what they are made of, by name."""
    found: Mapping[str, Any] = json.loads(
        files("fairtrial.http").joinpath(_FILE).read_text(encoding="utf-8")
    )
    return found


def schemas_in(page: str) -> dict[str, Any]:
    """Return the schemas that the reference of JSON output describes in its tables.

    Args:
        page: The text of `docs/reference/json.md`.
    """
    tables: dict[str, dict[str, tuple[str, str]]] = {}
    for section in re.split(r"^##+ ", page, flags=re.MULTILINE)[1:]:
        title, _, body = section.partition("\n")
        rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+|…) \| (.*?) \| (.*) \|$", body, re.MULTILINE)
        keys = {
            name: (kind, meaning)
            for names, kind, meaning in rows
            for name in re.findall(r"\w+", names) or ["…"]
        }
        if keys:
            tables[title] = keys
    return {schema_name(title): _object(tables, title) for title in sorted(tables)}


def _object(tables: Mapping[str, Mapping[str, tuple[str, str]]], title: str) -> dict[str, Any]:
    keys = _keys(tables, title)
    properties = {
        name: {**_schema(kind), "description": _plain(meaning)}
        for name, (kind, meaning) in keys.items()
    }
    if title.startswith("fairtrial."):
        properties["schema"] = {"const": title}
    return {"type": "object", "required": list(properties), "properties": properties}


def _keys(
    tables: Mapping[str, Mapping[str, tuple[str, str]]], title: str
) -> dict[str, tuple[str, str]]:
    keys = dict(tables[title])
    included = re.match(r"\[(.*?)\]", keys.pop("…", ("", ""))[0])
    return {**(_keys(tables, included[1]) if included else {}), **keys}


_SIMPLE: Final[Mapping[str, Mapping[str, Any]]] = {
    "text": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "object": {"type": "object"},
    "any": {},
}


def _schema(kind: str) -> dict[str, Any]:
    if kind.endswith(" or null"):
        return {"anyOf": [_schema(kind.removesuffix(" or null")), {"type": "null"}]}
    if kind.startswith("list of "):
        return {"type": "array", "items": _schema(kind.removeprefix("list of "))}
    if kind.startswith("map of "):
        return {"type": "object", "additionalProperties": _schema(kind.removeprefix("map of "))}
    linked = re.fullmatch(r"\[(.*?)\]\(.*?\)", kind)
    if linked is not None:
        return {"$ref": schema_ref(linked[1])}
    return dict(_SIMPLE[kind])


def _plain(text: str) -> str:
    return re.sub(r"\[(.*?)\]\(.*?\)", r"\1", text).replace("\\|", "|")
