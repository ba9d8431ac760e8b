"""The reference pages that are made from the verb table and the requests.

`python -m fairtrial.cli.reference [FOLDER]` writes them (default: docs/reference).
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fairtrial.app.exp_schema import NOT_IN_A_SPEC, spec_schema
from fairtrial.app.requests.exp_run import Request as RunRequest
from fairtrial.app.verbs import VERBS, Verb
from fairtrial.cli.filter_reference import filters_page
from fairtrial.cli.help import GLOBAL_OPTIONS, is_list
from fairtrial.cli.mcp_reference import mcp_page
from fairtrial.cli.sdk_reference import sdk_page
from fairtrial.model.json import Json
from fairtrial.schema.fields import JSON_OR_FILE, MISSING, Option, options_of

_MADE = "<!-- Made by `python -m fairtrial.cli.reference`; a change here is lost. -->"
_SIGNS = (
    ("minimum", "≥"),
    ("exclusiveMinimum", ">"),
    ("maximum", "≤"),
    ("exclusiveMaximum", "<"),
)
_UNSAID = ("null", "[]", "{}")
"""Defaults whose meaning the text tells better: nothing was given."""


def cli_page() -> str:
    """Return the reference of all commands."""
    return _page(
        "# Commands",
        "`fairtrial COMMAND --help` prints the same for one command. Every command also takes:",
        _table(("option", "meaning"), [(f"`{flag}`", text) for flag, text in GLOBAL_OPTIONS]),
        "`fairtrial --version` prints the version. What `--json` prints stands in "
        "[JSON output](json.md), what a command returns in [Exit codes](exit-codes.md), "
        "and which variables it heeds in [Environment](environment.md).",
        "\n".join(f"- [`{verb.name}`](#{_anchor(verb)}): {verb.summary}" for verb in VERBS),
        *(part for verb in VERBS for part in _verb(verb)),
    )


def spec_page() -> str:
    """Return the reference of the keys of a spec file."""
    schema = spec_schema()["properties"]
    in_a_spec = [o for o in options_of(RunRequest) if o.name not in NOT_IN_A_SPEC]
    tasks, graders = schema["task"]["anyOf"][:-1], schema["graders"]["items"]["anyOf"][1:]
    return _page(
        "# The spec file",
        "`fairtrial exp run SPEC` reads a JSON, YAML or TOML file with these keys. An option on "
        "the command line overrides the key of the same name; `--grader` adds to `graders` unless "
        "`--replace-graders` is given. Unknown keys are refused, with the nearest key that exists. "
        "Relative paths in a spec start at its folder, and so does the working directory of its "
        "task. `fairtrial exp schema` prints the JSON Schema, and "
        "[Write a spec](../how-to/write-a-spec.md) shows how an editor uses it.",
        _table(
            ("key", "type", "default", "meaning"),
            [
                (f"`{o.name}`", _type(schema[o.name], o), _default(schema[o.name]), _cell(o.doc))
                for o in in_a_spec
            ],
        ),
        "`$schema` may name the JSON Schema for editors; it is not read.",
        "## Tasks",
        "`task` is an object with one of these kinds. [Tasks](tasks.md) explains each option.",
        *(part for kind in tasks for part in _kind(kind)),
        "## Graders",
        "An entry of `graders` is the name of a kind, an object with `kind`, or a path of a file "
        "that holds one. [Graders](graders.md) explains each option. Every kind also takes:",
        _schema_table(_shared(graders)),
        *(part for kind in graders for part in _kind(kind, _shared(graders))),
        "## Gate",
        "`gate` is a list of rules that the run must keep, only in a spec. [Gate rules]"
        "(gate-rules.md) explains them, with an example of each.",
    )


def _verb(verb: Verb) -> Iterator[str]:
    request = verb.request()
    options = options_of(request)
    arguments = [option for option in options if option.command_line.positional]
    flags = [o for o in options if not o.command_line.positional and not o.command_line.hidden]
    yield f"## fairtrial {verb.name}"
    yield textwrap.dedent(f"    {request.__doc__}").strip().replace("\n    ", "\n")
    usage = " ".join([f"fairtrial {verb.name}", *map(_argument, arguments), "[OPTIONS]"])
    yield f"```text\n{usage}\n```"
    if arguments:
        rows = [(f"`{option.name.upper()}`", _cell(option.doc)) for option in arguments]
        yield _table(("argument", "meaning"), rows)
    if flags:
        yield _table(("option", "meaning"), [(_flags(o), _meaning(o)) for o in flags])
    yield "```sh\n" + "\n".join(verb.examples()) + "\n```"


def _argument(option: Option) -> str:
    name = option.name.upper() + ("…" if is_list(option) else "")
    return name if option.required else f"[{name}]"


def _flags(option: Option) -> str:
    line = option.command_line
    metavar = line.metavar or ("" if option.type is bool else option.name.upper())
    value = f" [{metavar}]" if line.bare else f" {metavar}" if metavar else ""
    short = f"`{line.short}`, " if line.short else ""
    negative = f", `{option.negative}`" if option.negative else ""
    return _cell(f"{short}`{option.flag}{value}`{negative}")


def _meaning(option: Option) -> str:
    text = _cell(option.doc)
    if option.required:
        text += " (required)"
    if is_list(option):
        text += " (repeatable)"
    if option.default is not True and option.default not in (MISSING, None, False, ()):
        text += f" (default: {option.default})"
    return text


def _kind(schema: Mapping[str, Json], shared: Mapping[str, Json] | None = None) -> Iterator[str]:
    own = {n: s for n, s in schema["properties"].items() if n not in {"kind", *(shared or {})}}
    yield f"### {schema['title']}"
    yield schema["description"].split("\n")[0]
    if own:
        yield _schema_table(own, schema["required"])


def _schema_table(properties: Mapping[str, Json], required: Sequence[str] = ()) -> str:
    rows = [
        (
            f"`{name}`",
            _type(schema),
            "required" if name in required else _default(schema),
            _cell(schema["description"]),
        )
        for name, schema in properties.items()
    ]
    return _table(("key", "type", "default", "meaning"), rows)


def _shared(graders: Sequence[Mapping[str, Any]]) -> dict[str, Json]:
    """Return the properties that all kinds have."""
    first, *rest = (kind["properties"] for kind in graders)
    return {n: s for n, s in first.items() if n != "kind" and all(n in other for other in rest)}


def _default(schema: Mapping[str, Json]) -> str:
    text = json.dumps(schema.get("default"), ensure_ascii=False)
    return "" if text in _UNSAID else f"`{text}`"


def _type(schema: Mapping[str, Json], option: Option | None = None) -> str:
    """Return a type in words."""
    if option is not None and option.command_line.metavar == JSON_OR_FILE:
        return "list" if is_list(option) else "object, or a path of a file"
    kind = str(schema.get("type", "any JSON"))
    if "enum" in schema:
        kind = " or ".join(f"`{value}`" for value in schema["enum"] if value is not None)
    elif "anyOf" in schema:
        kinds = dict.fromkeys(_type(part) for part in schema["anyOf"] if part.get("type") != "null")
        kind = " or ".join(kinds)
    elif kind == "array":
        kind = f"list of {_type(schema['items'])}" if schema.get("items") else "list"
    elif kind == "object" and schema.get("additionalProperties"):
        kind = f"object of {_type(schema['additionalProperties'])}"
    elif kind == "string":
        kind = "text"
    return kind + _bounds(schema)


def _bounds(schema: Mapping[str, Json]) -> str:
    names = (
        ("minimum", "≥"),
        ("exclusiveMinimum", ">"),
        ("maximum", "≤"),
        ("exclusiveMaximum", "<"),
    )
    return "".join(f" {sign} {schema[name]:g}" for name, sign in names if name in schema)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _anchor(verb: Verb) -> str:
    return f"fairtrial-{verb.name}".replace(" ", "-")


def _page(title: str, *parts: str) -> str:
    return "\n\n".join([title, _MADE, *parts]) + "\n"


PAGES: Mapping[str, Callable[[], str]] = {
    "cli.md": cli_page,
    "filters.md": lambda: filters_page(_page, _table),
    "mcp.md": lambda: mcp_page(_page, _table, _schema_table),
    "sdk.md": lambda: sdk_page(_page),
    "spec.md": spec_page,
}
"""The pages by their file names."""


def main(words: Sequence[str]) -> None:
    """Write the pages into a folder."""
    folder = Path(words[0] if words else "docs/reference")
    for name, page in PAGES.items():
        (folder / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
