"""Reading one file of Claude Code, line by line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from fairtrial.model.session import (
    MAIN,
    ApiTrouble,
    Call,
    Compaction,
    FileKept,
    Operation,
    Prompt,
    Relation,
    RepoStatus,
    Result,
    Said,
    SessionEvent,
    SessionState,
    Source,
    Thought,
    TurnEnd,
    TurnEndReason,
    Usage,
)
from fairtrial.model.task import Tokens
from fairtrial.ports.sessions import Clean
from fairtrial.sessions.account import Account, clipped, clipped_json, moment, text_of
from fairtrial.sessions.amounts import count
from fairtrial.sessions.line_transcript import LineTranscript
from fairtrial.sessions.readers.claude_code.prompts import (
    INTERRUPTED,
    NOTIFICATION,
    background_end,
    is_synthetic,
    source_of,
    start_commit,
)
from fairtrial.sessions.readers.claude_code.reader import AGENT
from fairtrial.sessions.readers.claude_code.records import (
    KNOWN_FIELDS,
    READ,
    RECORDS,
    SKIP,
    SKIPPED,
    Block,
    Message,
    Record,
    ToolUse,
    UsageCounts,
)
from fairtrial.sessions.readers.claude_code.tools import (
    Pending,
    changes_of,
    operation_of,
    paths_of,
    pending_of,
    read_of,
    status_of,
)
from fairtrial.sessions.tolerant import plain

_SESSION_ID: Final = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_SYNTHETIC_MODEL: Final = "<synthetic>"
_LONG_LINE: Final = 32 * 1024
_MOST_PENDING: Final = 1_000
_MOST_READ: Final = 5_000


class State(msgspec.Struct):
    """What reading goes on with.

    Attributes:
        account: What is known so far.
        pending: Calls without a result, by their id.
        seen: The records so far, by the first half of their uuid.
        roots: The threads of records in the file that belong to subagents, by uuid.
        usage: The newest usage of each thread: the model call and its tokens.
        compacting: The trigger of a compaction whose summary is awaited.
        sampled: Types of records whose fields were looked at.
        read: Files that were read whole.
        kept: Files of which a copy was put aside.
    """

    account: Account = msgspec.field(default_factory=Account)
    pending: dict[str, Pending] = msgspec.field(default_factory=dict)
    seen: set[str] = msgspec.field(default_factory=set)
    roots: dict[str, str] = msgspec.field(default_factory=dict)
    usage: dict[str, tuple[str, UsageCounts]] = msgspec.field(default_factory=dict)
    compacting: str | None = None
    sampled: set[str] = msgspec.field(default_factory=set)
    read: set[str] = msgspec.field(default_factory=set)
    kept: set[str] = msgspec.field(default_factory=set)


_STATE: Final = msgspec.msgpack.Decoder(State)


class ClaudeTranscript(LineTranscript[State]):
    """One file: a session's main thread, or a subagent of it. See `Transcript`."""

    agent = AGENT
    skip = SKIP

    def __init__(self, path: Path, clean: Clean, state: bytes | None = None) -> None:
        super().__init__(clean, State() if state is None else _STATE.decode(state))
        if state is None:
            self._named_by(path)

    def _named_by(self, path: Path) -> None:
        if path.stem.startswith("agent-"):
            self._account.thread = path.stem.removeprefix("agent-")
            if path.parent.name == "subagents":
                self._account.native_id = path.parent.parent.name
        elif _SESSION_ID.fullmatch(path.stem):
            self._account.native_id = path.stem

    def _read(self, line: bytes) -> list[SessionEvent] | None:
        record = RECORDS.of(line)
        if record is None or not record.type:
            return None
        if record.type not in READ:
            if record.type not in SKIPPED:
                self._account.unknown_record(record.type)
            return []
        if record.type not in self._state.sampled:
            self._sample(record.type, line)
        if record.uuid is not None and self._again(record.uuid):
            return []
        return self._events(record, long=len(line) > _LONG_LINE)

    def _sample(self, kind: str, line: bytes) -> None:
        """Look at the fields of the first record of a type: decoding leaves unknown ones out."""
        self._state.sampled.add(kind)
        for name in plain(line) or {}:
            if name not in KNOWN_FIELDS:
                self._account.unknown_field(f"{kind}.{name}")

    def _again(self, uuid: str) -> bool:
        key = uuid[:18]
        if key in self._state.seen:
            return True
        self._state.seen.add(key)
        return False

    def _events(self, record: Record, *, long: bool) -> list[SessionEvent]:
        at = moment(record.timestamp)
        thread = self._thread(record)
        self._envelope(record, at)
        match record.type:
            case "assistant":
                return self._assistant(record, at, thread, long=long)
            case "user":
                return self._user(record, at, thread)
            case "system":
                return self._system(record, at, thread)
            case "attachment":
                return self._attachment(record, at, thread)
            case "file-history-delta":
                return self._kept(record, at, thread)
            case _:  # the costs that are written when Claude Code ends
                self._clean_end()
                return []

    def _thread(self, record: Record) -> str:
        if self._account.thread != MAIN or not record.isSidechain:
            return self._account.thread
        if record.agentId is not None:
            return record.agentId
        # Version 1 keeps the records of subagents between those of the main thread.
        roots = self._state.roots
        own = record.uuid or ""
        thread = roots.get(record.parentUuid or "", own[:8] or "subagent")
        roots[own] = thread
        return thread

    def _envelope(self, record: Record, at: datetime | None) -> None:
        account = self._account
        account.seen_at(at)
        if account.cwd is None and record.cwd:
            account.cwd = record.cwd
        if account.branch is None and record.gitBranch:
            account.branch = record.gitBranch
        if record.version:
            account.agent_version = record.version
        told = record.sessionId
        if told is not None and not account.native_id:
            account.native_id = told
        if account.thread == MAIN and account.parent is None:
            self._parent(record)

    def _parent(self, record: Record) -> None:
        """Find the session that this one was forked from, or that it goes on with."""
        account, forked = self._account, record.forkedFrom
        if isinstance(forked, Mapping) and isinstance(forked.get("sessionId"), str):
            parent, relation = forked["sessionId"], Relation.FORK
        elif record.requestSessionId is not None:
            parent, relation = record.requestSessionId, Relation.FORK
        elif record.sessionId is not None:
            parent, relation = record.sessionId, Relation.RESUME
        else:
            return
        if parent != account.native_id:
            account.parent, account.relation = parent, relation

    def _assistant(
        self, record: Record, at: datetime | None, thread: str, *, long: bool
    ) -> list[SessionEvent]:
        message = record.message
        if message is None:
            return []
        if record.isApiErrorMessage:
            text = clipped(_content_text(message))
            return [ApiTrouble(0, at, thread, final=True, status=record.apiErrorStatus, text=text)]
        if message.model == _SYNTHETIC_MODEL:
            return []
        events = self._usage(message, record, at, thread)
        if isinstance(message.content, str):
            events.append(Said(0, at, thread, clipped(message.content)))
        for block in message.content if isinstance(message.content, list) else ():
            events += self._block(block, at, thread, long=long)
        return events

    def _usage(
        self, message: Message, record: Record, at: datetime | None, thread: str
    ) -> list[SessionEvent]:
        """Return the usage of a model call, once: each of its blocks has a record that tells it."""
        usage, name = message.usage, message.id or record.uuid
        if usage is None or name is None:
            return []
        details = usage.output_tokens_details
        thought = count(details.get("thinking_tokens")) if isinstance(details, Mapping) else None
        usage = UsageCounts(  # a number that is none, or too large, does not fit into the state
            count(usage.input_tokens),
            count(usage.output_tokens),
            count(usage.cache_read_input_tokens),
            count(usage.cache_creation_input_tokens),
            thought,
        )
        if self._state.usage.get(thread) == (name, usage):
            return []
        self._state.usage[thread] = (name, usage)
        tokens = Tokens(
            input=usage.input_tokens,
            output=usage.output_tokens,
            cache_read=usage.cache_read_input_tokens,
            cache_write=usage.cache_creation_input_tokens,
            reasoning=thought,
        )
        return [Usage(0, at, thread, name, message.model, tokens)]

    def _block(
        self, block: Block, at: datetime | None, thread: str, *, long: bool
    ) -> list[SessionEvent]:
        match block.type:
            case "text" if block.text and block.text.strip():
                return [Said(0, at, thread, clipped(block.text))]
            case "thinking" | "redacted_thinking":
                return [Thought(0, at, thread, clipped(block.thinking or ""))]
            case "tool_use" | "server_tool_use" | "mcp_tool_use" if block.id and block.name:
                return [self._call(block, at, thread, long=long)]
            case _:
                return []

    def _call(self, block: Block, at: datetime | None, thread: str, *, long: bool) -> Call:
        name, arguments, call_id = block.name or "", block.input, block.id or ""
        operation = operation_of(name)
        if len(self._state.pending) < _MOST_PENDING:
            seconds = None if at is None else at.timestamp()
            self._state.pending[call_id] = pending_of(operation, arguments, seconds)
        command = arguments.get("command") if isinstance(arguments, dict) else None
        return Call(
            0,
            at,
            thread,
            id=call_id,
            tool=name,
            operation=operation,
            input=clipped_json(arguments) if long else arguments,
            command=clipped(command)
            if operation is Operation.SHELL and isinstance(command, str)
            else None,
            paths=paths_of(arguments),
        )

    def _user(self, record: Record, at: datetime | None, thread: str) -> list[SessionEvent]:
        message = record.message
        if message is None or message.content is None:
            return []
        if record.isCompactSummary:
            return [self._compacted(message, at, thread)]
        if isinstance(message.content, str):
            return self._prompt(record, message.content, at, thread)
        results = [block for block in message.content if block.type == "tool_result"]
        if results:
            return [self._result(record, block, at, thread) for block in results]
        text = _content_text(message)
        return self._prompt(record, text, at, thread)

    def _compacted(self, message: Message, at: datetime | None, thread: str) -> Compaction:
        trigger, self._state.compacting = self._state.compacting, None
        return Compaction(0, at, thread, trigger, clipped(_content_text(message)))

    def _prompt(
        self, record: Record, text: str, at: datetime | None, thread: str
    ) -> list[SessionEvent]:
        if text.startswith(INTERRUPTED):
            return [TurnEnd(0, at, thread, TurnEndReason.INTERRUPTED)]
        if record.isMeta or record.isVisibleInTranscriptOnly or is_synthetic(text):
            return []
        if text.startswith(NOTIFICATION):
            return self._notified(text, at, thread)
        own = thread == MAIN
        return [Prompt(0, at, thread, clipped(text), source_of(record, own=own))]

    def _notified(self, text: str, at: datetime | None, thread: str) -> list[SessionEvent]:
        """Return the end of a command that ran in the background; the agent is told of it."""
        told = Prompt(0, at, thread, clipped(text), Source.SYSTEM)
        end = background_end(text)
        if end is None:
            return [told]
        call_id, status, code = end
        return [Result(0, at, thread, call_id, status, code), told]

    def _result(self, record: Record, block: Block, at: datetime | None, thread: str) -> Result:
        call_id = block.tool_use_id or ""
        call = self._state.pending.pop(call_id, None)
        text = text_of(block.content)
        operation = Operation.OTHER if call is None else call.operation
        failed = bool(block.is_error)
        status, code = status_of(record, text, operation, failed=failed)
        told = record.toolUseResult
        changes = () if failed else changes_of(told, call, self._account.changed)
        read = None
        if operation is Operation.READ and not failed and len(self._state.read) < _MOST_READ:
            read = read_of(told, self._account.changed, self._state.read)
            if read is not None:
                self._state.read.add(read.path)
        return Result(
            0,
            at,
            thread,
            call_id=call_id,
            status=status,
            exit_code=code,
            text=clipped(text),
            changes=changes,
            duration_s=_duration(told, call, at),
            read=read,
        )

    def _system(self, record: Record, at: datetime | None, thread: str) -> list[SessionEvent]:
        match record.subtype:
            case "api_error":
                status, text = _trouble(record.error)
                return [ApiTrouble(0, at, thread, final=False, status=status, text=text)]
            case "compact_boundary":
                told = record.compactMetadata
                trigger = told.get("trigger") if isinstance(told, Mapping) else None
                self._state.compacting = trigger if isinstance(trigger, str) else None
                return []
            case "turn_duration":
                return [TurnEnd(0, at, thread, TurnEndReason.COMPLETED)]
            case _:
                return []

    def _attachment(self, record: Record, at: datetime | None, thread: str) -> list[SessionEvent]:
        found = record.attachment
        if found is None:
            return []
        match found.type:
            case "session_context":
                return self._began(found.context, at, thread)
            case "max_turns_reached":
                return [TurnEnd(0, at, thread, TurnEndReason.LIMIT)]
            case "queued_command":
                text = text_of(found.prompt)
                own = msgspec.structs.replace(record, origin=found.origin)
                return self._prompt(own, text, at, thread)
            case _:
                return []

    def _began(self, context: Any, at: datetime | None, thread: str) -> list[SessionEvent]:
        if self._account.commit is None:
            self._account.commit = start_commit(context)
        status = context.get("gitStatus") if isinstance(context, Mapping) else None
        return [RepoStatus(0, at, thread, status)] if isinstance(status, str) else []

    def _kept(self, record: Record, at: datetime | None, thread: str) -> list[SessionEvent]:
        """Take a copy that Claude Code put aside; the first one is the file before all edits."""
        path, backup = record.trackingPath, record.backup
        if not path or not isinstance(backup, Mapping) or path in self._state.kept:
            return []
        if len(self._state.kept) >= _MOST_READ:
            return []
        self._state.kept.add(path)
        name, version = backup.get("backupFileName"), backup.get("version")
        if version != 1 or not (name is None or isinstance(name, str)):
            return []
        return [FileKept(0, at, thread, path, name)]

    def _clean_end(self) -> None:
        """Take the record of a clean exit: what is still open then used up its turns or budget.

        It may come before the sign of an interruption, so it is no end of a turn by itself.
        """
        if self._account.status is SessionState.OPEN and self._account.turns:
            self._account.status = SessionState.ENDED_BY_LIMIT


def _content_text(message: Message) -> str:
    if isinstance(message.content, str):
        return message.content
    blocks = message.content or []
    texts = [block.text if block.text is not None else f"[{block.type}]" for block in blocks]
    return "\n".join(texts)


def _trouble(error: Any) -> tuple[int | None, str]:
    if not isinstance(error, Mapping):
        return None, error if isinstance(error, str) else ""
    status = error.get("status")
    text = error.get("formatted") or error.get("message")
    return status if isinstance(status, int) else None, clipped(
        text if isinstance(text, str) else ""
    )


def _duration(told: Any, call: Pending | None, at: datetime | None) -> float | None:
    if isinstance(told, ToolUse):
        took = told.durationMs if told.durationMs is not None else told.totalDurationMs
        if took is not None:
            return took / 1000
    if call is None or call.at is None or at is None:
        return None
    return max(0.0, at.timestamp() - call.at)
