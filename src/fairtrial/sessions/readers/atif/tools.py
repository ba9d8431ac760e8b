"""What the tools of a trajectory did. Each agent has its own, so they are told by their names."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import msgspec

from fairtrial.model.session import (
    Call,
    ChangeKind,
    FileChange,
    Operation,
    Result,
    ResultStatus,
)
from fairtrial.sessions.account import clipped, clipped_json, text_of
from fairtrial.sessions.diffs import added, between
from fairtrial.sessions.readers.codex.patches import MARK, patched


class Pending(msgspec.Struct):
    """A call whose result is awaited."""

    operation: Operation
    changes: tuple[FileChange, ...] = ()


_WORDS: Final = {
    Operation.SHELL: """
        bash bash_command shell shell_command local_shell exec exec_command execute_bash
        run_shell_command run_command terminal cmd powershell container.exec
    """,
    Operation.EDIT: """
        edit multiedit notebookedit replace apply_patch patch str_replace str_replace_editor
        str_replace_based_edit_tool edit_file search_replace file_editor
    """,
    Operation.WRITE: "write write_file create_file create_or_overwrite_file",
    Operation.READ: "read read_file read_many_files view view_file cat open_file view_image",
    Operation.SEARCH: """
        grep glob ls list list_dir list_directory list_files find find_by_name grep_search
        search_file_content codebase_search toolsearch
    """,
    Operation.AGENT: "task agent spawn_agent delegate_to_agent delegate",
    Operation.TODO: "todowrite todoread update_plan write_todos task_tracker todo_write think",
    Operation.WEB: "webfetch websearch web_search web_fetch google_web_search browser",
    Operation.WAIT: "bashoutput killshell killbash write_stdin wait taskoutput",
}
_OPERATIONS: Final = {name: kind for kind, names in _WORDS.items() for name in names.split()}
_PATHS: Final = ("file_path", "filePath", "path", "notebook_path", "absolute_path", "filename")
_COMMANDS: Final = ("command", "cmd", "keystrokes", "script")
_OLD: Final = ("old_string", "old_str", "oldString", "oldText", "old_text")
_NEW: Final = ("new_string", "new_str", "newString", "newText", "new_text")
_CONTENT: Final = ("content", "contents", "file_text", "text")
_PATCHES: Final = ("input", "patch", "patchText")
_READS: Final = ("view", "view_range")
_CODES: Final = ("exit_code", "exitCode", "return_code", "returncode")
_CODE: Final = re.compile(
    r"\A(?:Error: )?Exit code:? (-?\d+)\b|^Exit Code: (-?\d+)|^\[exit_?code\] (-?\d+)"
    r"|Process exited with code (-?\d+)|Command exited with code (-?\d+)"
    r"|<returncode>(-?\d+)</returncode>|completed with exit code (-?\d+)"
    r'|"exit_code": ?(-?\d+)',
    re.MULTILINE | re.IGNORECASE,
)
_FAILED: Final = re.compile(
    r"^\[error\] tool reported failure|\A\s*(?:<tool_use_error>|Error\b|ERROR\b)", re.MULTILINE
)
_DENIED: Final = re.compile(
    r"requires approval|rejected permission|doesn't want to (?:proceed|take)|rejected by user"
)
_NO_PROGRAM: Final = (126, 127)


def call_of(
    told: Mapping[str, Any], place: str, at: datetime | None, thread: str
) -> tuple[Call, Pending]:
    """Return a call and what is remembered of it; the place names one without an id."""
    tool = _text(told.get("function_name")) or ""
    arguments = told.get("arguments")
    given = arguments if isinstance(arguments, Mapping) else {}
    operation = _operation(tool, given)
    patch = _patch(given)
    paths = tuple(change.path for change in patch) if patch else ()
    path = _first(given, _PATHS)
    call = Call(
        0,
        at,
        thread,
        id=_text(told.get("tool_call_id")) or place,
        tool=tool,
        operation=operation,
        input=clipped_json(arguments),
        command=_command(given) if operation is Operation.SHELL else None,
        paths=paths or ((path,) if path else ()),
    )
    return call, Pending(operation, patch or _changes(operation, given, path))


def _operation(tool: str, given: Mapping[str, Any]) -> Operation:
    if tool.startswith("mcp__"):
        return Operation.MCP
    found = _OPERATIONS.get(tool.lower(), Operation.OTHER)
    if found is Operation.EDIT:  # some tools are several
        command = given.get("command")
        if command in _READS:
            return Operation.READ
        if command == "create":
            return Operation.WRITE
    return found


def _command(given: Mapping[str, Any]) -> str | None:
    value = next((given[name] for name in _COMMANDS if given.get(name)), None)
    if isinstance(value, list):
        value = shlex.join(str(word) for word in value)
    return clipped(value.rstrip("\n")) if isinstance(value, str) else None


def _patch(given: Mapping[str, Any]) -> tuple[FileChange, ...]:
    text = _first(given, _PATCHES)
    return patched(text) if text and MARK in text else ()


def _changes(
    operation: Operation, given: Mapping[str, Any], path: str | None
) -> tuple[FileChange, ...]:
    if path is None:
        return ()
    if operation is Operation.WRITE:
        text = _first(given, _CONTENT)
        return (FileChange(path, ChangeKind.ADD, clipped(added(text or ""))),)
    if operation is not Operation.EDIT:
        return ()
    edits = given.get("edits")
    told = [edit for edit in edits if isinstance(edit, Mapping)] if isinstance(edits, list) else []
    parts = [
        between(_first(edit, _OLD) or "", _first(edit, _NEW) or "") for edit in told or [given]
    ]
    return (FileChange(path, ChangeKind.UPDATE, clipped("".join(parts))),)


def result_of(
    told: Mapping[str, Any],
    extra: Mapping[str, Any],
    call_id: str,
    pending: Pending,
    at: datetime | None,
    thread: str,
) -> Result:
    """Return what a call brought; `extra` is that of its step, when it is of no other call."""
    text = text_of(told.get("content"))
    own = told.get("extra")
    signs = {**extra, **(own if isinstance(own, Mapping) else {})}
    status, code = _outcome(signs, text, pending.operation)
    changes = pending.changes if status is ResultStatus.OK else ()
    return Result(0, at, thread, call_id, status, code, clipped(text), changes)


def _outcome(
    signs: Mapping[str, Any], text: str, operation: Operation
) -> tuple[ResultStatus, int | None]:
    """Return how a call ended. The format has no place for it, so each agent's way is tried."""
    failed = _failed(signs)
    if failed is not False and _DENIED.search(text):
        return ResultStatus.DENIED, None
    code = _code(signs, text) if operation is Operation.SHELL else None
    if code is not None:
        status = ResultStatus.NO_RUN if code in _NO_PROGRAM else ResultStatus.FAIL
        return (status if code else ResultStatus.OK), code
    if failed or (failed is None and _FAILED.search(text)):
        return ResultStatus.FAIL, None
    known = failed is False or operation is not Operation.SHELL
    return (ResultStatus.OK if known else ResultStatus.UNKNOWN), None


def _failed(signs: Mapping[str, Any]) -> bool | None:
    metadata = signs.get("tool_result_metadata")
    inner = metadata if isinstance(metadata, Mapping) else {}
    for value in (signs.get("is_error"), signs.get("tool_result_is_error"), inner.get("is_error")):
        if isinstance(value, bool):
            return value
    return None


def _code(signs: Mapping[str, Any], text: str) -> int | None:
    for name in _CODES:
        value = signs.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    found = _CODE.search(text)
    if found is None:
        return None
    digits = next(group for group in found.groups() if group is not None)
    return int(digits) if len(digits) < len("-2147483648") else None


def _first(given: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    return next((value for name in names if isinstance(value := given.get(name), str)), None)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
