"""Reading one session of pi, line by line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path, PurePath
from typing import Any, Final

import msgspec

from fairtrial.model.json import Json
from fairtrial.model.session import (
    MAIN,
    ApiTrouble,
    Call,
    ChangeKind,
    Compaction,
    FileChange,
    Operation,
    Prompt,
    Relation,
    Result,
    ResultStatus,
    Said,
    SessionEvent,
    Source,
    Thought,
    TurnEnd,
    TurnEndReason,
    Usage,
)
from fairtrial.model.task import Tokens
from fairtrial.ports.sessions import Clean
from fairtrial.sessions.account import Account, clipped, clipped_json, moment, text_of
from fairtrial.sessions.amounts import amount
from fairtrial.sessions.diffs import added, between
from fairtrial.sessions.line_transcript import LineTranscript
from fairtrial.sessions.readers.pi.reader import AGENT
from fairtrial.sessions.tolerant import Records


class Message(msgspec.Struct):
    """A message: of the user, of the agent, or the result of a tool."""

    role: str = ""
    content: Any = None
    model: str | None = None
    usage: Any = None
    stopReason: str | None = None  # noqa: N815  # fields have the names of the file
    errorMessage: str | None = None  # noqa: N815
    responseId: str | None = None  # noqa: N815
    toolCallId: str | None = None  # noqa: N815
    toolName: str | None = None  # noqa: N815
    isError: bool | None = None  # noqa: N815


class Record(msgspec.Struct):
    """One line."""

    type: str = ""
    id: str | None = None
    timestamp: Any = None
    cwd: str | None = None
    parentSession: str | None = None  # noqa: N815
    summary: str | None = None
    message: Message | None = None


class Pending(msgspec.Struct):
    """A call whose result is awaited."""

    operation: Operation
    at: float | None = None
    changes: tuple[FileChange, ...] = ()


class State(msgspec.Struct):
    """What reading goes on with."""

    account: Account = msgspec.field(default_factory=Account)
    pending: dict[str, Pending] = msgspec.field(default_factory=dict)


_RECORDS: Final = Records(Record)
_STATE: Final = msgspec.msgpack.Decoder(State)
_SILENT: Final = frozenset(
    {
        "branch_summary",
        "custom",
        "custom_message",
        "label",
        "model_change",
        "session_info",
        "thinking_level_change",
    }
)
_OPERATIONS: Final = {
    "bash": Operation.SHELL,
    "read": Operation.READ,
    "edit": Operation.EDIT,
    "write": Operation.WRITE,
    "grep": Operation.SEARCH,
    "find": Operation.SEARCH,
    "ls": Operation.SEARCH,
}
_CODE: Final = re.compile(r"Command exited with code (-?\d+)\s*\Z")
_CUT: Final = re.compile(r"(?:Command|Operation) aborted\s*\Z")
_NO_PROGRAM: Final = (126, 127)
_MOST_PENDING: Final = 1_000


class PiTranscript(LineTranscript[State]):
    """One session of pi. See `Transcript`."""

    agent = AGENT

    def __init__(self, path: Path, clean: Clean, state: bytes | None = None) -> None:
        super().__init__(clean, State() if state is None else _STATE.decode(state))
        if state is None:
            self._account.native_id = path.stem.rpartition("_")[2]

    def _read(self, line: bytes) -> list[SessionEvent] | None:
        record = _RECORDS.of(line)
        if record is None or not record.type:
            return None
        at = moment(record.timestamp)
        self._account.seen_at(at)
        return self._events(record, at)

    def _events(self, record: Record, at: datetime | None) -> list[SessionEvent]:
        match record.type:
            case "session":
                self._header(record)
            case "message" if record.message is not None:
                return self._message(record, record.message, at)
            case "compaction":
                return [Compaction(0, at, MAIN, None, clipped(record.summary or ""))]
            case kind if kind not in _SILENT:
                self._account.unknown_record(kind)
        return []

    def _header(self, record: Record) -> None:
        account = self._account
        account.native_id = record.id or account.native_id
        account.cwd = account.cwd or record.cwd
        if record.parentSession:
            account.parent = PurePath(record.parentSession).stem.rpartition("_")[2]
            account.relation = Relation.FORK

    def _message(self, record: Record, message: Message, at: datetime | None) -> list[SessionEvent]:
        match message.role:
            case "user":
                text = text_of(message.content)
                return [Prompt(0, at, MAIN, clipped(text), Source.HUMAN)] if text.strip() else []
            case "assistant":
                return self._assistant(record, message, at)
            case "toolResult":
                return [self._result(message, at)]
            case _:
                return []

    def _assistant(
        self, record: Record, message: Message, at: datetime | None
    ) -> list[SessionEvent]:
        events: list[SessionEvent] = []
        name = message.responseId or f"{self._account.native_id}:{record.id}"
        if isinstance(message.usage, Mapping):
            cost = message.usage.get("cost")
            spent = amount(cost.get("total")) if isinstance(cost, Mapping) else None
            tokens = _tokens(message.usage)
            # What pi has no price for is 0 there.
            events.append(Usage(0, at, MAIN, name, message.model, tokens, spent or None))
        for block in message.content if isinstance(message.content, list) else ():
            if isinstance(block, Mapping):
                events += self._block(block, at)
        if message.stopReason == "error":
            text = clipped(message.errorMessage or "")
            events.append(ApiTrouble(0, at, MAIN, final=True, text=text))
        elif message.stopReason == "aborted":
            events.append(TurnEnd(0, at, MAIN, TurnEndReason.INTERRUPTED))
        return events

    def _block(self, block: Mapping[str, Any], at: datetime | None) -> list[SessionEvent]:
        kind, text = block.get("type"), block.get("text")
        if kind == "text" and isinstance(text, str) and text.strip():
            return [Said(0, at, MAIN, clipped(text))]
        if kind == "thinking":
            thought = block.get("thinking")
            return [Thought(0, at, MAIN, clipped(thought if isinstance(thought, str) else ""))]
        name, call_id = block.get("name"), block.get("id")
        if kind == "toolCall" and isinstance(name, str) and isinstance(call_id, str):
            return [self._call(name, call_id, block.get("arguments"), at)]
        return []

    def _call(self, tool: str, call_id: str, arguments: Json, at: datetime | None) -> Call:
        operation = _OPERATIONS.get(tool, Operation.OTHER)
        given = arguments if isinstance(arguments, Mapping) else {}
        path, command = given.get("path"), given.get("command")
        paths = (path,) if isinstance(path, str) and path else ()
        if len(self._state.pending) < _MOST_PENDING:
            seconds = None if at is None else at.timestamp()
            changes = _changes(operation, given)
            self._state.pending[call_id] = Pending(operation, seconds, changes)
        shell = operation is Operation.SHELL and isinstance(command, str)
        return Call(
            0,
            at,
            MAIN,
            id=call_id,
            tool=tool,
            operation=operation,
            input=clipped_json(arguments),
            command=clipped(command) if shell and isinstance(command, str) else None,
            paths=paths,
        )

    def _result(self, message: Message, at: datetime | None) -> Result:
        call_id = message.toolCallId or ""
        call = self._state.pending.pop(call_id, None) or Pending(Operation.OTHER)
        text = text_of(message.content)
        status, code = _outcome(text, call.operation, failed=bool(message.isError))
        took = None if call.at is None or at is None else max(0.0, at.timestamp() - call.at)
        changes = call.changes if status is ResultStatus.OK else ()
        return Result(0, at, MAIN, call_id, status, code, clipped(text), changes, took)


def _outcome(text: str, operation: Operation, *, failed: bool) -> tuple[ResultStatus, int | None]:
    if not failed:
        return ResultStatus.OK, 0 if operation is Operation.SHELL else None
    code = _CODE.search(text)
    if code is not None:
        number = int(code[1])
        status = ResultStatus.NO_RUN if number in _NO_PROGRAM else ResultStatus.FAIL
        return status, number
    return ResultStatus.INTERRUPTED if _CUT.search(text) else ResultStatus.FAIL, None


def _changes(operation: Operation, given: Mapping[str, Any]) -> tuple[FileChange, ...]:
    """Return what an edit or a write will have changed, if it goes well."""
    path = given.get("path")
    if not isinstance(path, str):
        return ()
    if operation is Operation.WRITE:
        text = given.get("content")
        diff = added(text) if isinstance(text, str) else ""
        return (FileChange(path, ChangeKind.ADD, clipped(diff)),)
    if operation is not Operation.EDIT:
        return ()
    edits = given.get("edits") if isinstance(given.get("edits"), list) else [given]
    parts = [
        between(old, new)
        for edit in edits or ()
        if isinstance(edit, Mapping)
        and isinstance(old := edit.get("oldText"), str)
        and isinstance(new := edit.get("newText"), str)
    ]
    return (FileChange(path, ChangeKind.UPDATE, clipped("".join(parts))),)


def _tokens(usage: Mapping[str, Any]) -> Tokens:
    names = ("input", "output", "cacheRead", "cacheWrite")
    found = [usage.get(name) for name in names]
    read, written, cached, put = (count if isinstance(count, int) else None for count in found)
    return Tokens(read, written, cached, put)
