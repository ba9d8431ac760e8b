"""What OpenCode records of its tools: the call and its result are one part of a message."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from fairtrial.model.session import (
    MAIN,
    Call,
    ChangeKind,
    FileChange,
    Operation,
    Result,
    ResultStatus,
)
from fairtrial.sessions.account import clipped, clipped_json, moment
from fairtrial.sessions.diffs import added, between
from fairtrial.sessions.readers.codex.patches import patched

_OPERATIONS: Final = {
    "bash": Operation.SHELL,
    "edit": Operation.EDIT,
    "multiedit": Operation.EDIT,
    "apply_patch": Operation.EDIT,
    "patch": Operation.EDIT,
    "write": Operation.WRITE,
    "read": Operation.READ,
    "glob": Operation.SEARCH,
    "grep": Operation.SEARCH,
    "list": Operation.SEARCH,
    "ls": Operation.SEARCH,
    "codesearch": Operation.SEARCH,
    "lsp": Operation.SEARCH,
    "task": Operation.AGENT,
    "todowrite": Operation.TODO,
    "todoread": Operation.TODO,
    "webfetch": Operation.WEB,
    "websearch": Operation.WEB,
}
_NAMED: Final = frozenset({"batch", "invalid", "question", "skill", "plan_enter", "plan_exit"})
_NO_PROGRAM: Final = (126, 127)
_REFUSED: Final = re.compile(r"rejected permission|specified a rule which prevents|user dismissed")
_CUT: Final = re.compile(r"Tool execution aborted|User aborted the command")
_LATE: Final = re.compile(r"terminated command after exceeding timeout")
_NO_CALL: Final = re.compile(r"called with invalid arguments|unavailable tool", re.IGNORECASE)
_KINDS: Final = {
    "add": ChangeKind.ADD,
    "create": ChangeKind.ADD,
    "delete": ChangeKind.DELETE,
    "move": ChangeKind.MOVE,
}


def call_of(part: Mapping[str, Any], at: datetime | None) -> Call:
    """Return the call that a part tells of."""
    state = _inner(part, "state")
    tool = _text(part.get("tool"))
    operation = _operation(tool)
    given = _inner(state, "input")
    command = given.get("command") if operation is Operation.SHELL else None
    return Call(
        0,
        moment(_inner(state, "time").get("start")) or at,
        MAIN,
        id=_text(part.get("callID")),
        tool=tool,
        operation=operation,
        input=clipped_json(state.get("input")),
        command=clipped(command) if isinstance(command, str) else None,
        paths=_paths(given),
    )


def _operation(tool: str) -> Operation:
    """Return what kind of tool it is; those of servers have a name of two parts."""
    found = _OPERATIONS.get(tool)
    if found is not None:
        return found
    return Operation.MCP if "_" in tool and tool not in _NAMED else Operation.OTHER


def _paths(given: Mapping[str, Any]) -> tuple[str, ...]:
    patch = given.get("patchText")
    if isinstance(patch, str):
        return tuple(change.path for change in patched(patch))
    path = given.get("filePath", given.get("path"))
    return (path,) if isinstance(path, str) and path else ()


def result_of(part: Mapping[str, Any], at: datetime | None) -> Result | None:
    """Return the result that a part tells of; None while the tool runs."""
    state, operation = _inner(part, "state"), _operation(_text(part.get("tool")))
    if state.get("status") not in ("completed", "error"):
        return None
    failed = state["status"] == "error"
    text = _text(state.get("error" if failed else "output"))
    status, code = _outcome(state, text, operation, failed=failed)
    times = _inner(state, "time")
    start, end = moment(times.get("start")), moment(times.get("end"))
    took = None if start is None or end is None else max(0.0, (end - start).total_seconds())
    changes = tuple(_changes(state, operation)) if status is ResultStatus.OK else ()
    call_id = _text(part.get("callID"))
    return Result(0, end or at, MAIN, call_id, status, code, clipped(text), changes, took)


def _outcome(
    state: Mapping[str, Any], text: str, operation: Operation, *, failed: bool
) -> tuple[ResultStatus, int | None]:
    metadata = _inner(state, "metadata")
    if failed:
        return _failure(metadata, text), None
    if operation is not Operation.SHELL:
        return ResultStatus.OK, None
    code = metadata.get("exit")
    if isinstance(code, int) and not isinstance(code, bool):
        if code in _NO_PROGRAM:
            return ResultStatus.NO_RUN, code
        return ResultStatus.FAIL if code else ResultStatus.OK, code
    if _CUT.search(text):
        return ResultStatus.INTERRUPTED, None
    return ResultStatus.FAIL if _LATE.search(text) else ResultStatus.UNKNOWN, None


def _failure(metadata: Mapping[str, Any], text: str) -> ResultStatus:
    if _REFUSED.search(text):
        return ResultStatus.DENIED
    if metadata.get("interrupted") is True or _CUT.search(text):
        return ResultStatus.INTERRUPTED
    return ResultStatus.NO_RUN if _NO_CALL.search(text) else ResultStatus.FAIL


def _changes(state: Mapping[str, Any], operation: Operation) -> Iterator[FileChange]:
    given, metadata = _inner(state, "input"), _inner(state, "metadata")
    files = metadata.get("files")
    if isinstance(files, list) and operation is Operation.EDIT:
        yield from (change for told in files if (change := _patched(told)) is not None)
        return
    path = given.get("filePath")
    if operation is Operation.EDIT and isinstance(path, str):
        told = _inner(metadata, "filediff")
        old, new = given.get("oldString"), given.get("newString")
        diff = _body(metadata.get("diff") or told.get("patch"))
        if not diff and isinstance(old, str) and isinstance(new, str):
            diff = between(old, new)
        before = told.get("before")
        kind = ChangeKind.ADD if old == "" else ChangeKind.UPDATE
        yield FileChange(path, kind, clipped(diff), before if isinstance(before, str) else None)
    elif operation is Operation.WRITE and isinstance(path, str):
        text = given.get("content")
        new_file = metadata.get("exists") is not True
        created = metadata.get("exists") is False
        diff = _body(metadata.get("diff"))
        if not diff and new_file and isinstance(text, str):
            diff = added(text)
        kind = ChangeKind.ADD if new_file else ChangeKind.UPDATE
        yield FileChange(path, kind, clipped(diff), created=created)


def _patched(told: Any) -> FileChange | None:
    path = told.get("filePath") if isinstance(told, Mapping) else None
    if not isinstance(path, str):
        return None
    kind = _KINDS.get(str(told.get("type")), ChangeKind.UPDATE)
    before, to = told.get("before"), told.get("movePath")
    return FileChange(
        path,
        kind,
        clipped(_body(told.get("patch") or told.get("diff"))),
        before if isinstance(before, str) and kind is not ChangeKind.ADD else None,
        to if isinstance(to, str) else None,
    )


def _body(diff: Any) -> str:
    """Return a diff without its headers."""
    start = diff.find("@@") if isinstance(diff, str) else -1
    return diff[start:] if start >= 0 else ""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _inner(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = value.get(name)
    return found if isinstance(found, Mapping) else {}
