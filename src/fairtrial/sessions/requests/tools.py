"""The tools of a request whose own were not recorded: the usual ones, and those that were called.

Without them a model could not choose what the agent could have chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

STAND_IN: Final = (
    "You are a coding agent. You work on the user's task in {cwd} with the tools that you are"
    " given, and say briefly what you do."
)
"""Instructions in place of the agent's own, when nothing tells them; the folder is put in."""


def _tool(name: str, does: str, /, *required: str, **further: str) -> dict[str, Any]:
    properties = {field: {"type": "string"} for field in required}
    properties |= {field: {"type": kind} for field, kind in further.items()}
    return {
        "name": name,
        "description": does,
        "input_schema": {"type": "object", "properties": properties, "required": list(required)},
    }


CLAUDE_TOOLS: Final[Sequence[Mapping[str, Any]]] = (
    _tool("Bash", "Runs a shell command.", "command", description="string", timeout="number"),
    _tool("Read", "Reads a file.", "file_path", offset="number", limit="number"),
    _tool(
        "Edit", "Replaces text in a file.", "file_path", "old_string", "new_string",
        replace_all="boolean",
    ),
    _tool("Write", "Writes a file.", "file_path", "content"),
    _tool("Grep", "Searches for a pattern in files.", "pattern", path="string", glob="string"),
    _tool("Glob", "Finds files by name.", "pattern", path="string"),
)  # fmt: skip
"""The tools of Claude Code that work on a repository, in the Messages API's form."""

CODEX_TOOLS: Final[Sequence[Mapping[str, Any]]] = (
    _tool("exec_command", "Runs a shell command.", "cmd", workdir="string"),
    _tool("shell_command", "Runs a shell command.", "command", workdir="string"),
    _tool("update_plan", "Writes down the plan.", plan="array"),
)
"""The tools of Codex that work on a repository; each model of it has one of the first two."""


def as_function(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool of the Messages API's form in that of the Responses API."""
    return {
        "type": "function",
        "name": tool["name"],
        "description": tool["description"],
        "parameters": tool["input_schema"],
        "strict": False,
    }


def with_those_called(
    tools: Sequence[Mapping[str, Any]], messages: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return tools with those that messages of the Messages API call beside them."""
    found = {str(tool["name"]): dict(tool) for tool in tools}
    for message in messages:
        for block in message.get("content") or ():
            if isinstance(block, Mapping) and block.get("type") == "tool_use":
                name = str(block.get("name"))
                found.setdefault(name, _like(name, block.get("input")))
    return list(found.values())


def _like(name: str, given: Any) -> dict[str, Any]:
    fields = list(given) if isinstance(given, Mapping) else []
    return {
        "name": name,
        "description": "",
        "input_schema": {"type": "object", "properties": {field: {} for field in fields}},
    }
