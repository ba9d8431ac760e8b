"""Reading one chat of Gemini CLI, line by line.

A message is written again under the same id whenever something is added to it: its tool calls, and
their results. What was told of it before is not told again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from fairtrial.model.json import Json
from fairtrial.model.session import (
    MAIN,
    Call,
    ChangeKind,
    FileChange,
    Operation,
    Prompt,
    Result,
    ResultStatus,
    Said,
    SessionEvent,
    Source,
    Thought,
    Usage,
)
from fairtrial.model.task import Tokens
from fairtrial.ports.sessions import Clean
from fairtrial.sessions.account import Account, clipped, clipped_json, moment, text_of
from fairtrial.sessions.diffs import added
from fairtrial.sessions.line_transcript import LineTranscript
from fairtrial.sessions.readers.gemini.reader import AGENT
from fairtrial.sessions.tolerant import Records


class Record(msgspec.Struct):
    """One line: the header, a message, or a patch of the whole."""

    sessionId: str | None = None  # noqa: N815  # fields have the names of the file
    startTime: Any = None  # noqa: N815
    directories: Any = None
    type: str = ""
    id: str | None = None
    timestamp: Any = None
    content: Any = None
    thoughts: Any = None
    tokens: Any = None
    model: str | None = None
    toolCalls: Any = None  # noqa: N815
    set_: Any = msgspec.field(default=None, name="$set")
    rewind: Any = msgspec.field(default=None, name="$rewindTo")


class State(msgspec.Struct):
    """What reading goes on with.

    Attributes:
        account: What is known so far.
        told: Messages whose text and tokens were told.
        called: Calls that were told.
        ended: Calls whose results were told.
    """

    account: Account = msgspec.field(default_factory=Account)
    told: set[str] = msgspec.field(default_factory=set)
    called: set[str] = msgspec.field(default_factory=set)
    ended: set[str] = msgspec.field(default_factory=set)


_RECORDS: Final = Records(Record)
_STATE: Final = msgspec.msgpack.Decoder(State)
_SILENT: Final = frozenset({"info", "warning", "error"})
_OPERATIONS: Final = {
    "run_shell_command": Operation.SHELL,
    "replace": Operation.EDIT,
    "edit": Operation.EDIT,
    "write_file": Operation.WRITE,
    "read_file": Operation.READ,
    "read_many_files": Operation.READ,
    "list_directory": Operation.SEARCH,
    "glob": Operation.SEARCH,
    "grep_search": Operation.SEARCH,
    "search_file_content": Operation.SEARCH,
    "google_web_search": Operation.WEB,
    "web_fetch": Operation.WEB,
    "write_todos": Operation.TODO,
    "delegate_to_agent": Operation.AGENT,
}
_CHANGES: Final = (Operation.EDIT, Operation.WRITE)
_CODE: Final = re.compile(r"^Exit Code: (-?\d+)", re.MULTILINE)
_WRAPPED: Final = re.compile(r"\A<untrusted_context>\n?(.*?)\n?</untrusted_context>\Z", re.DOTALL)
_FOLDER: Final = re.compile(r"^- \*\*Workspace Directories:\*\*\n\s+- (.+)$", re.MULTILINE)
_SYNTHETIC: Final = "<session_context>"
_NO_PROGRAM: Final = (126, 127)


def split(document: Mapping[str, Json]) -> Iterator[Json]:
    """Yield the records of a chat of an older release, which is one document."""
    yield {name: value for name, value in document.items() if name != "messages"}
    messages = document.get("messages")
    yield from messages if isinstance(messages, list) else ()


class GeminiTranscript(LineTranscript[State]):
    """One chat. See `Transcript`."""

    agent = AGENT

    def __init__(self, path: Path, clean: Clean, state: bytes | None = None) -> None:  # noqa: ARG002  # the name tells nothing
        super().__init__(clean, State() if state is None else _STATE.decode(state))

    def _read(self, line: bytes) -> list[SessionEvent] | None:
        record = _RECORDS.of(line)
        if record is None:
            return None
        return list(self._events(record))

    def _events(self, record: Record) -> Iterator[SessionEvent]:
        if record.sessionId is not None:
            self._account.native_id = self._account.native_id or record.sessionId
            self._account.seen_at(moment(record.startTime))
            folders = record.directories if isinstance(record.directories, list) else []
            if self._account.cwd is None and folders and isinstance(folders[0], str):
                self._account.cwd = folders[0]
            return
        if record.set_ is not None or record.rewind is not None:
            yield from self._patched(record.set_)
            return
        at = moment(record.timestamp)
        self._account.seen_at(at)
        if record.type == "user":
            yield from self._prompt(record, at)
        elif record.type == "gemini":
            yield from self._answer(record, at)
        elif record.type not in _SILENT:
            self._account.unknown_record(record.type or "(no type)")

    def _patched(self, patch: Any) -> Iterator[SessionEvent]:
        """Yield what is new in messages that a patch sets; most patches set none."""
        messages = patch.get("messages") if isinstance(patch, Mapping) else None
        for found in messages if isinstance(messages, list) else ():
            if isinstance(found, dict) and "sessionId" not in found and "$set" not in found:
                yield from self._events(_RECORDS.of_plain(found))

    def _prompt(self, record: Record, at: datetime | None) -> Iterator[SessionEvent]:
        """Yield a prompt; the results of tools are given to the model as messages of the user."""
        text = text_of(record.content)
        if self._account.cwd is None and (folder := _FOLDER.search(text)):
            self._account.cwd = folder[1]
        if text.strip() and not text.lstrip().startswith(_SYNTHETIC) and self._is_new(record):
            yield Prompt(0, at, MAIN, clipped(text), Source.HUMAN)

    def _is_new(self, record: Record) -> bool:
        if record.id is None or record.id in self._state.told:
            return record.id is None
        self._state.told.add(record.id)
        return True

    def _answer(self, record: Record, at: datetime | None) -> Iterator[SessionEvent]:
        if self._is_new(record):
            if isinstance(record.tokens, Mapping) and record.id is not None:
                yield Usage(0, at, MAIN, record.id, record.model, _tokens(record.tokens))
            for thought in record.thoughts if isinstance(record.thoughts, list) else ():
                if isinstance(thought, Mapping):
                    yield Thought(0, at, MAIN, clipped(str(thought.get("description") or "")))
            text = text_of(record.content)
            if text.strip():
                yield Said(0, at, MAIN, clipped(text))
        for told in record.toolCalls if isinstance(record.toolCalls, list) else ():
            if isinstance(told, Mapping) and isinstance(told.get("id"), str):
                yield from self._called(told, at)

    def _called(self, told: Mapping[str, Any], at: datetime | None) -> Iterator[SessionEvent]:
        call_id, tool = str(told["id"]), str(told.get("name") or "")
        operation = _OPERATIONS.get(tool, Operation.MCP if "__" in tool else Operation.OTHER)
        arguments = told.get("args")
        given = arguments if isinstance(arguments, Mapping) else {}
        if call_id not in self._state.called:
            self._state.called.add(call_id)
            path = given.get("file_path", given.get("path", given.get("dir_path")))
            command = given.get("command")
            shell = operation is Operation.SHELL and isinstance(command, str)
            yield Call(
                0,
                at,
                MAIN,
                id=call_id,
                tool=tool,
                operation=operation,
                input=clipped_json(arguments),
                command=clipped(str(command)) if shell else None,
                paths=(path,) if isinstance(path, str) and path else (),
            )
        if told.get("result") is not None and call_id not in self._state.ended:
            self._state.ended.add(call_id)
            yield _result(told, call_id, operation, given, moment(told.get("timestamp")) or at)


def _result(
    told: Mapping[str, Any],
    call_id: str,
    operation: Operation,
    given: Mapping[str, Any],
    at: datetime | None,
) -> Result:
    text = _output(told.get("result"))
    status, code = _outcome(str(told.get("status") or ""), text, operation)
    good = status is ResultStatus.OK and operation in _CHANGES
    changes = _changes(told.get("resultDisplay"), operation, given) if good else ()
    return Result(0, at, MAIN, call_id, status, code, clipped(text), changes)


def _output(result: Any) -> str:
    texts = []
    for part in result if isinstance(result, list) else ():
        response = part.get("functionResponse") if isinstance(part, Mapping) else None
        told = response.get("response") if isinstance(response, Mapping) else None
        if isinstance(told, Mapping):
            found = told.get("output", told.get("error"))
            texts.append(found if isinstance(found, str) else "")
    text = "\n".join(texts)
    wrapped = _WRAPPED.match(text)
    return wrapped[1].removeprefix("Output: ") if wrapped else text


def _outcome(status: str, text: str, operation: Operation) -> tuple[ResultStatus, int | None]:
    if status == "cancelled":
        return ResultStatus.DENIED, None
    code = _CODE.search(text) if operation is Operation.SHELL else None
    if code is not None and code[1] != "0":
        number = int(code[1])
        return ResultStatus.NO_RUN if number in _NO_PROGRAM else ResultStatus.FAIL, number
    if status == "error":
        return ResultStatus.FAIL, None
    if status != "success":
        return ResultStatus.UNKNOWN, None
    return ResultStatus.OK, 0 if operation is Operation.SHELL else None


def _changes(
    display: Any, operation: Operation, given: Mapping[str, Any]
) -> tuple[FileChange, ...]:
    told = display if isinstance(display, Mapping) else {}
    path = told.get("filePath", given.get("file_path"))
    if not isinstance(path, str):
        return ()
    diff = told.get("fileDiff")
    if isinstance(diff, str):
        start = diff.find("@@")
        diff = diff[start:] if start >= 0 else ""
    elif operation is Operation.WRITE and isinstance(given.get("content"), str):
        diff = added(given["content"])
    else:
        diff = ""
    before = told.get("originalContent")
    new = bool(told.get("isNewFile")) or (operation is Operation.WRITE and not before)
    kind = ChangeKind.ADD if new else ChangeKind.UPDATE
    text = before if isinstance(before, str) and not told.get("isNewFile") else None
    created = told.get("isNewFile") is True
    return (FileChange(path, kind, clipped(diff), text, created=created),)


def _tokens(told: Mapping[str, Any]) -> Tokens:
    found = [told.get(name) for name in ("input", "output", "cached", "thoughts")]
    read, written, cached, thought = (n if isinstance(n, int) else None for n in found)
    return Tokens(
        # There, input is all that was read, and thoughts are not in the output.
        input=None if read is None else max(0, read - (cached or 0)),
        output=None if written is None else written + (thought or 0),
        cache_read=cached,
        reasoning=thought,
    )
