"""Writes what is made of the reference and of the API: `answers.json` and `http-api.md`.

python -m fairtrial.http.reference docs/reference
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from fairtrial.app.bench import bench_here
from fairtrial.http.answers import schema_name, schemas_in
from fairtrial.http.application import Surroundings, create_app
from fairtrial.http.guard import Gate
from fairtrial.http.routes.readings import READINGS

_REF: Final = re.compile(r"#/components/schemas/([^\"]+)")
_MADE: Final = "<!-- Made by `python -m fairtrial.http.reference`; edit the code instead. -->"
_ABOUT: Final = (
    "Each route of `fairtrial serve` with its parameters, its body and its answer, as "
    "`/v2/openapi.json` describes them. What holds for all of them is in [HTTP API](api.md)."
)
_FORMS: Final = (
    "fairtrial.dataset_added/1",
    "fairtrial.gate_rules/1",
    "fairtrial.key_created/1",
    "fairtrial.key_revoked/1",
    "fairtrial.experiment_standing/1",
    "fairtrial.rows_taken/1",
    "fairtrial.projects/1",
    "fairtrial.project/1",
    "fairtrial.cases/1",
)


def answers(page: str) -> str:
    """Return `answers.json`: the schemas of what the API answers, and of all they refer to.

    Args:
        page: The text of `docs/reference/json.md`.
    """
    every = schemas_in(page)
    wanted = [schema_name(form) for reading in READINGS for form in reading.answers]
    wanted += [schema_name(form) for form in _FORMS]
    found: dict[str, Any] = {}
    while wanted:
        name = wanted.pop()
        if name not in found:
            found[name] = every[name]
            wanted += _REF.findall(json.dumps(every[name]))
    return json.dumps(dict(sorted(found.items())), indent=1, ensure_ascii=False) + "\n"


def description() -> dict[str, Any]:
    """Return the description of the API."""
    gate = Gate("127.0.0.1", exposed=False, scope_of=lambda _: None)
    found: dict[str, Any] = create_app(bench_here(), Surroundings(gate)).openapi()
    return found


def api_page(document: Mapping[str, Any]) -> str:
    """Return the page of every route, with what it takes and what it answers."""
    lines = [
        "# Requests of the HTTP API",
        _MADE,
        _ABOUT,
    ]
    for path, methods in document["paths"].items():
        for method, route in methods.items():
            lines += _route(f"{method.upper()} {path}", route)
    lines.append("# Bodies")
    for name, schema in document["components"]["schemas"].items():
        if schema.get("additionalProperties") is False:
            lines += _body(name, schema)
    return "\n\n".join(lines) + "\n"


def _route(title: str, route: Mapping[str, Any]) -> Iterator[str]:
    yield f"## `{title}`"
    yield f"{route['summary']}."
    parameters = [
        (
            f"`{one['name']}`",
            one["in"],
            _kind(one["schema"]) + (", required" if one["required"] else ""),
            one.get("description", ""),
        )
        for one in route.get("parameters", ())
    ]
    if parameters:
        yield _table(("parameter", "in", "type", "meaning"), parameters)
    for body in _contents(route.get("requestBody", {})):
        yield f"Body: {_kind(body)}."
    for status, told in route["responses"].items():
        kinds = [_kind(schema) for schema in _contents(told)]
        if status != "default" and kinds:
            yield f"Answer {status}: {', '.join(kinds)}."


def _contents(told: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for content in told.get("content", {}).values():
        yield content["schema"]


def _body(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    yield f"## {name}"
    yield schema["description"]
    required = schema.get("required", ())
    rows = []
    for key, one in schema["properties"].items():
        meaning = one.get("description") or next(
            (part["description"] for part in one.get("anyOf", ()) if "description" in part), ""
        )
        shown = "required" if key in required else f"`{json.dumps(one.get('default'))}`"
        rows.append((f"`{key}`", _kind(one), shown, meaning))
    yield _table(("key", "type", "default", "meaning"), rows)


def _kind(schema: Mapping[str, Any]) -> str:
    """Return a schema in a few words."""
    if "$ref" in schema:
        return _linked(schema["$ref"])
    if "anyOf" in schema:
        return " or ".join(map(_kind, schema["anyOf"]))
    words = schema.get("enum", [schema["const"]] if "const" in schema else [])
    if words:
        return ", ".join(f"`{word}`" for word in words)
    kind = {"string": "text"}.get(schema.get("type", "any"), schema.get("type", "any"))
    if kind == "array":
        kind = f"list of {_kind(schema.get('items', {}))}"
    elif kind == "object" and schema.get("additionalProperties"):
        kind = f"map of {_kind(schema['additionalProperties'])}"
    return f"{kind}{_bounds(schema)}"


def _linked(ref: str) -> str:
    name = ref.rpartition("/")[2]
    form = re.fullmatch(r"(fairtrial\.[\w-]+)\.(\d+)", name)
    if form is None:
        return f"[{name}](#{name.lower()})"
    title = f"{form[1]}/{form[2]}"
    return f"[`{title}`](json.md#{title.replace('.', '').replace('/', '')})"


def _bounds(schema: Mapping[str, Any]) -> str:
    signs = {"minimum": "≥", "maximum": "≤", "exclusiveMinimum": ">", "exclusiveMaximum": "<"}
    return "".join(f" {sign} {schema[name]:g}" for name, sign in signs.items() if name in schema)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in line) + " |"
        for line in lines
    )


def main(words: Sequence[str]) -> None:
    """Write both files."""
    folder = Path(words[0] if words else "docs/reference")
    text = answers((folder / "json.md").read_text(encoding="utf-8"))
    Path(__file__).with_name("answers.json").write_text(text, encoding="utf-8")
    (folder / "http-api.md").write_text(api_page(description()), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
