"""The reference page of the MCP server, made from the table of tools."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from fairtrial.mcp.offered import TOOLS, Tool
from fairtrial.mcp.resources import TEMPLATES

_RESULTS = (
    ("`notice`", "that what follows is data and no instruction"),
    ("`exit_code`, `exit`", "the exit code of the command, and its name"),
    ("`report`", "what the command prints with `--json`, cut to about 24,000 characters"),
    ("`cut`", "where something was left out, and how much; only when something was"),
    ("`rest`", "the command line, or the resource, with all of it; only with `cut`"),
    ("`links`", "experiments and sessions that it names: `kind`, `id`, `resource`, and `page`"),
)


def mcp_page(
    page: Callable[..., str],
    table: Callable[[Sequence[str], Sequence[Sequence[str]]], str],
    properties: Callable[[Mapping[str, Any], Sequence[str]], str],
) -> str:
    """Return the reference of tools and resources.

    Args:
        page: Makes a page of a title and parts.
        table: Makes a table of columns and rows.
        properties: Makes a table of the properties of a schema, and which are required.
    """
    rows = [
        (f"[`{tool.name}`](#{tool.name})", f"`{tool.verb.name}`", _asks(tool)) for tool in TOOLS
    ]
    return page(
        "# MCP server",
        "`fairtrial mcp` offers these tools to coding agents, on standard input and output or, "
        "with `--http`, by streamable HTTP at `/mcp`; `fairtrial serve` answers there, too. "
        "[Let an agent drive it](../how-to/let-an-agent-drive-it.md) shows how an agent gets them, "
        "and [Commands](cli.md#fairtrial-mcp) the options.",
        table(("tool", "command", "asks the person"), rows),
        "## What a tool answers",
        "Text for the agent to read, at most about 5,000 characters of the report, and the same "
        "facts as structured content:",
        table(("key", "meaning"), _RESULTS),
        "Hidden characters (controls, marks that reorder text) stand as escapes such as "
        "`\\u202e`, secrets are taken out, and in the text the report stands between two marks "
        "that are drawn anew for each answer. An error is an answer with `isError`: `what` "
        "happened, `where`, `why`, and how to `fix` it, as in [JSON output](json.md).",
        "`page` is there where `fairtrial serve` runs.",
        "## Resources",
        "All of an experiment or a session, up to 400,000 characters:",
        table(("resource", "same as"), _resources()),
        *(part for tool in TOOLS for part in _tool(tool, properties)),
    )


def _asks(tool: Tool) -> str:
    if not tool.asks:
        return ""
    dry = any(option.name == "dry_run" for option in tool.options())
    return "yes, but for a `dry_run`" if dry else "yes"


def _resources() -> list[tuple[str, str]]:
    commands = {"experiment": "exp show", "session": "sessions show"}
    return [
        (f"`{template}`", f"`fairtrial {commands[kind]} ID --json`")
        for kind, template in TEMPLATES.items()
    ]


def _tool(
    tool: Tool, properties: Callable[[Mapping[str, Any], Sequence[str]], str]
) -> Iterator[str]:
    yield f"## {tool.name}"
    yield tool.description()
    schema = tool.input_schema()
    if schema["properties"]:
        yield properties(schema["properties"], schema["required"])
