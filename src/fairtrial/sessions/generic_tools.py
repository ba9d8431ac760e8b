"""What kind of tool a call is of, by the names that tools and their arguments usually have."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from fairtrial.model.json import Json
from fairtrial.model.session import ChangeKind, FileChange, Operation, ResultStatus
from fairtrial.sessions.account import clipped
from fairtrial.sessions.diffs import added, between

_NAMES: Final[Mapping[Operation, tuple[str, ...]]] = {
    Operation.SHELL: (
        "bash", "shell", "exec", "exec_command", "execute_command", "run_command",
        "run_in_terminal", "run_shell_command", "local_shell", "terminal", "sh",
    ),
    Operation.READ: ("read", "read_file", "read_many_files", "view", "view_file", "open_file"),
    Operation.WRITE: ("write", "write_file", "create_file", "write_to_file"),
    Operation.EDIT: (
        "edit", "edit_file", "multiedit", "replace", "replace_in_file", "str_replace",
        "str_replace_editor", "str_replace_based_edit_tool", "apply_patch", "apply_diff",
    ),
    Operation.SEARCH: (
        "grep", "glob", "find", "ls", "list_dir", "list_files", "list_directory", "search",
        "search_files", "code_search", "file_search",
    ),
    Operation.AGENT: ("task", "agent", "delegate", "handoff"),
    Operation.TODO: ("todowrite", "todo_write", "update_plan", "todo"),
    Operation.WEB: (
        "web_search", "websearch", "web_fetch", "webfetch", "fetch", "browse", "google_search",
    ),
}  # fmt: skip
_OPERATIONS: Final = {name: kind for kind, names in _NAMES.items() for name in names}
_PATHS: Final = ("path", "file_path", "filepath", "filename", "file", "target_file")
_COMMANDS: Final = ("command", "cmd", "script", "commands")
_OLD: Final = ("old_string", "old_str", "oldText", "old_text", "search")
_NEW: Final = ("new_string", "new_str", "newText", "new_text", "replace")
_TEXTS: Final = ("content", "file_text", "contents", "text")
_CODES: Final = ("exit_code", "exitCode", "returncode", "return_code", "exit_status")
_SHOWN: Final = ("output", "stdout", "stderr", "content", "text")
_NO_PROGRAM: Final = (126, 127)


@dataclass(frozen=True, slots=True)
class ToolUse:
    """What a call is, as far as its name and arguments tell.

    Attributes:
        operation: What kind of tool.
        command: The shell command, when it is one.
        paths: The files it reads or changes.
        changes: What it changes, if it goes well.
    """

    operation: Operation
    command: str | None
    paths: tuple[str, ...]
    changes: tuple[FileChange, ...]


def tool_use(tool: str, arguments: Json) -> ToolUse:
    """Return what a call is."""
    operation = operation_of(tool)
    given = arguments if isinstance(arguments, Mapping) else {}
    path = _first(given, _PATHS)
    paths = (path,) if path else ()
    command = _command(arguments) if operation is Operation.SHELL else None
    return ToolUse(operation, command, paths, _changes(operation, path, given))


def operation_of(tool: str) -> Operation:
    """Return what kind of tool a name is of."""
    name = tool.strip().lower().replace("-", "_")
    if name.startswith("mcp__"):
        return Operation.MCP
    if name.startswith("transfer_to_"):
        return Operation.AGENT
    return _OPERATIONS.get(name.rpartition(".")[2], Operation.OTHER)


def outcome(result: Json, error: str | None) -> tuple[ResultStatus, int | None]:
    """Return how a call ended, and the exit code if its result has one."""
    code = next(
        (
            found
            for name in _CODES
            if isinstance(result, Mapping)
            and isinstance(found := result.get(name), int)
            and not isinstance(found, bool)
        ),
        None,
    )
    if code in _NO_PROGRAM:
        return ResultStatus.NO_RUN, code
    if error is not None or code:
        return ResultStatus.FAIL, code
    return ResultStatus.OK, code


def result_text(result: Json) -> str:
    """Return what a model was shown of a result."""
    if result is None:
        return ""
    if isinstance(result, str):
        return clipped(result)
    if isinstance(result, Mapping):
        texts = [
            result[name]
            for name in ("output", "stdout", "stderr", "content", "text")
            if name in result
        ]
        if texts and all(isinstance(text, str) for text in texts):
            return clipped("\n".join(str(text) for text in texts if text))
    return clipped(json.dumps(result, ensure_ascii=False))


def _command(arguments: Json) -> str | None:
    found: Any = arguments
    if isinstance(arguments, Mapping):
        found = next((arguments[name] for name in _COMMANDS if name in arguments), None)
    if isinstance(found, list) and found and all(isinstance(word, str) for word in found):
        words = [str(word) for word in found]
        return clipped(
            words[-1] if words[:-1] and words[-2] in ("-c", "-lc") else shlex.join(words)
        )
    return clipped(found) if isinstance(found, str) else None


def _changes(
    operation: Operation, path: str | None, given: Mapping[str, Any]
) -> tuple[FileChange, ...]:
    if path is None:
        return ()
    if operation is Operation.WRITE:
        text = _first(given, _TEXTS)
        return (FileChange(path, ChangeKind.ADD, clipped(added(text or ""))),)
    if operation is Operation.EDIT:
        old, new = _first(given, _OLD), _first(given, _NEW)
        diff = between(old, new) if old is not None and new is not None else ""
        return (FileChange(path, ChangeKind.UPDATE, clipped(diff)),)
    return ()


def _first(given: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    return next((given[name] for name in names if isinstance(given.get(name), str)), None)
