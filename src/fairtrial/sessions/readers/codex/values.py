"""Single values out of the records of Codex."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from fairtrial.model.json import Json
from fairtrial.model.session import MAIN, Call, Operation
from fairtrial.sessions.account import clipped, clipped_json, text_of
from fairtrial.sessions.readers.codex.records import Item
from fairtrial.sessions.readers.codex.tools import command_of


def spawner(source: Any) -> str | None:
    """Return the thread that started a subagent."""
    told = source.get("subagent") if isinstance(source, Mapping) else None
    spawn = told.get("thread_spawn") if isinstance(told, Mapping) else None
    parent = spawn.get("parent_thread_id") if isinstance(spawn, Mapping) else None
    return parent if isinstance(parent, str) else None


def made_at(uuid: str) -> int:
    """Return the milliseconds that an id of version 7 begins with; 0 for another id."""
    digits = uuid.replace("-", "")
    try:
        return int(digits[:12], 16) if len(digits) == 32 and digits[12] == "7" else 0
    except ValueError:
        return 0


def texts(parts: Any) -> str:
    """Return the text of the parts of a thought."""
    if not isinstance(parts, list):
        return ""
    return "\n\n".join(text for part in parts if (text := text_of([part])))


def since(start: float | None, at: datetime | None) -> float | None:
    """Return the seconds from one time to another; a clock that jumps back gives 0."""
    return None if start is None or at is None else max(0.0, at.timestamp() - start)


def seconds_of(duration: Any) -> float | None:
    """Return a duration in seconds."""
    if isinstance(duration, Mapping):
        whole, part = duration.get("secs"), duration.get("nanos")
        if isinstance(whole, int) and isinstance(part, int):
            return whole + part / 1e9
    return None


def http_status(error: Any) -> int | None:
    """Return the status that an error of a turn came with."""
    info = error.get("codex_error_info") if isinstance(error, Mapping) else None
    found = next(iter(info.values()), None) if isinstance(info, Mapping) and info else None
    status = found.get("http_status_code") if isinstance(found, Mapping) else None
    return status if isinstance(status, int) else None


def within_script(item: Item, at: datetime | None) -> Call:
    """Return the call that a script made; only what it did is recorded."""
    call_id = item.id or ""
    if item.type == "CommandExecution":
        command = clipped(command_of(item.command) or "")
        arguments: Json = {"cmd": command}
        return Call(0, at, MAIN, call_id, "exec_command", Operation.SHELL, arguments, command)
    if item.type == "FileChange":
        paths = [str(path) for path in item.changes] if isinstance(item.changes, Mapping) else []
        arguments = {"paths": paths}
        return Call(
            0, at, MAIN, call_id, "apply_patch", Operation.EDIT, arguments, paths=tuple(paths)
        )
    tool = f"mcp__{item.server or ''}__{item.tool or ''}"
    return Call(0, at, MAIN, call_id, tool, Operation.MCP, clipped_json(item.arguments))
