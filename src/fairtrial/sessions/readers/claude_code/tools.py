"""What the tools of Claude Code do, and what their results say."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from typing import Any, Final

import msgspec

from fairtrial.model.session import (
    ChangeKind,
    FileChange,
    FileText,
    Operation,
    ResultStatus,
)
from fairtrial.sessions.account import clipped
from fairtrial.sessions.diffs import added, between, from_hunks
from fairtrial.sessions.readers.claude_code.records import Record, ToolUse

_OPERATIONS: Final = {
    "Bash": Operation.SHELL,
    "PowerShell": Operation.SHELL,
    "BashOutput": Operation.WAIT,
    "TaskOutput": Operation.WAIT,
    "AgentOutputTool": Operation.WAIT,
    "KillBash": Operation.WAIT,
    "KillShell": Operation.WAIT,
    "TaskStop": Operation.WAIT,
    "Monitor": Operation.WAIT,
    "Sleep": Operation.WAIT,
    "ScheduleWakeup": Operation.WAIT,
    "Edit": Operation.EDIT,
    "MultiEdit": Operation.EDIT,
    "NotebookEdit": Operation.EDIT,
    "Write": Operation.WRITE,
    "Read": Operation.READ,
    "NotebookRead": Operation.READ,
    "Grep": Operation.SEARCH,
    "Glob": Operation.SEARCH,
    "LS": Operation.SEARCH,
    "LSP": Operation.SEARCH,
    "ToolSearch": Operation.SEARCH,
    "Task": Operation.AGENT,
    "Agent": Operation.AGENT,
    "SendMessage": Operation.AGENT,
    "TodoWrite": Operation.TODO,
    "TodoRead": Operation.TODO,
    "TaskCreate": Operation.TODO,
    "TaskUpdate": Operation.TODO,
    "TaskList": Operation.TODO,
    "TaskGet": Operation.TODO,
    "WebFetch": Operation.WEB,
    "WebSearch": Operation.WEB,
}
_PATHS: Final = ("file_path", "notebook_path", "path")
_CHANGES: Final = (Operation.EDIT, Operation.WRITE)

_EXIT: Final = re.compile(r"(?:Error: )?Exit code (-?\d+)\b")
_DENIED: Final = re.compile(
    r"requires approval|hook error|doesn't want to (?:proceed|take this action)|"
    r"has been denied|was (?:denied|blocked) by|requested permissions? to|"
    r"haven't granted it yet|Permission to use .{1,80} has been denied|"
    r"is not allowed|auto-denied|blocked by (?:a )?hook"
)
_INTERRUPTED: Final = re.compile(r"\[Request interrupted by user|Interrupted by user|was aborted")
_NO_RUN: Final = re.compile(
    r"No such tool available|InputValidationError|unknown tool|is not a known tool"
)
_REJECTED: Final = "The user doesn't want to proceed with this tool use"
_LOOKED_AT: Final = 2_000
_NO_PROGRAM: Final = (126, 127)
_SIGNALLED: Final = 128
_LONGEST_FILE: Final = 1024 * 1024
_WORDS: Final = (
    (ResultStatus.INTERRUPTED, _INTERRUPTED),
    (ResultStatus.NO_RUN, _NO_RUN),
    (ResultStatus.DENIED, _DENIED),
)


class Pending(msgspec.Struct):
    """A call whose result is awaited.

    Attributes:
        operation: What kind of tool.
        at: When it was made, seconds since 1970; None is unknown.
        path: The file that it changes.
        old: What an edit looks for.
        new: What it puts there, or what a write writes.
    """

    operation: Operation
    at: float | None = None
    path: str | None = None
    old: str | None = None
    new: str | None = None


def operation_of(tool: str) -> Operation:
    """Return what kind of tool has this name."""
    if tool.startswith("mcp__"):
        return Operation.MCP
    return _OPERATIONS.get(tool, Operation.OTHER)


def paths_of(arguments: Any) -> tuple[str, ...]:
    """Return the files that the arguments of a call name."""
    if not isinstance(arguments, dict):
        return ()
    found = (arguments.get(name) for name in _PATHS)
    return tuple(path for path in found if isinstance(path, str) and path)


def pending_of(operation: Operation, arguments: Any, at: float | None) -> Pending:
    """Return what is remembered of a call until its result is there."""
    if operation not in _CHANGES or not isinstance(arguments, dict):
        return Pending(operation, at)
    old, new = arguments.get("old_string"), arguments.get("new_string", arguments.get("content"))
    return Pending(
        operation,
        at,
        next(iter(paths_of(arguments)), None),
        clipped(old) if isinstance(old, str) else None,
        clipped(new) if isinstance(new, str) else None,
    )


def status_of(
    record: Record, text: str, operation: Operation, *, failed: bool
) -> tuple[ResultStatus, int | None]:
    """Return how a call ended, and the exit code where the record tells it."""
    told = record.toolUseResult
    head = text[:_LOOKED_AT]
    if isinstance(told, ToolUse) and told.interrupted:
        return ResultStatus.INTERRUPTED, None
    if isinstance(told, ToolUse) and (told.backgroundTaskId is not None or told.isAsync):
        return ResultStatus.RUNNING, None
    if not failed:
        return ResultStatus.OK, _ok_code(told) if operation is Operation.SHELL else None
    if record.toolDenialKind is not None:
        # An interruption while the tool ran is recorded as a refusal that nobody decided on.
        cut = record.permissionDecision is None and _REJECTED in head
        return ResultStatus.INTERRUPTED if cut else ResultStatus.DENIED, None
    code = _EXIT.match(head)
    if code is not None:
        return _of_code(int(code[1]), text)
    return _of_words(head), None


def _of_code(code: int, text: str) -> tuple[ResultStatus, int]:
    if code > _SIGNALLED and _INTERRUPTED.search(text[-_LOOKED_AT:]):
        return ResultStatus.INTERRUPTED, code
    return ResultStatus.NO_RUN if code in _NO_PROGRAM else ResultStatus.FAIL, code


def _of_words(head: str) -> ResultStatus:
    for status, words in _WORDS:
        if words.search(head):
            return status
    return ResultStatus.FAIL


def _ok_code(told: Any) -> int:
    """Return the exit code of a command that was no error: 1 for a search that found nothing."""
    return 1 if isinstance(told, ToolUse) and told.returnCodeInterpretation else 0


def changes_of(told: Any, call: Pending | None, known: dict[str, None]) -> tuple[FileChange, ...]:
    """Return what a call that went well changed.

    Args:
        told: The tool's own result.
        call: What is remembered of the call.
        known: Paths that were changed before.
    """
    if call is None or call.operation not in _CHANGES:
        return ()
    found = told if isinstance(told, ToolUse) else ToolUse()
    path = found.filePath or call.path
    if path is None:
        return ()
    before = found.originalFile if path not in known else None
    if found.type == "create" or (call.operation is Operation.WRITE and found.type is None):
        text = found.content if isinstance(found.content, str) else call.new or ""
        created = found.type == "create" and path not in known
        return (FileChange(path, ChangeKind.ADD, clipped(added(text)), created=created),)
    diff = from_hunks(found.structuredPatch or ())
    if not diff:
        old, new = found.oldString or call.old, found.newString or call.new
        diff = between(old or "", new or "")
    return (FileChange(path, ChangeKind.UPDATE, clipped(diff), before),)


def read_of(told: Any, changed: Container[str], read: Container[str]) -> FileText | None:
    """Return the file that a call read whole.

    Args:
        told: The tool's own result.
        changed: Paths that were changed before.
        read: Paths that were read before.
    """
    found = told.file if isinstance(told, ToolUse) and told.type == "text" else None
    if not isinstance(found, Mapping):
        return None
    path, text = found.get("filePath"), found.get("content")
    whole = found.get("startLine") == 1 and found.get("numLines") == found.get("totalLines")
    if not whole or not isinstance(path, str) or not isinstance(text, str):
        return None
    # A text that was cut has fewer lines than the file.
    cut = found.get("totalLines") != text.count("\n") + 1
    if cut or path in changed or path in read or len(text) > _LONGEST_FILE:
        return None
    return FileText(path, text)
