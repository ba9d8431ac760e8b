"""Reading one journal, line by line."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from fairtrial.model.session import (
    MAIN,
    ApiTrouble,
    Call,
    FileChange,
    Prompt,
    Result,
    ResultStatus,
    Said,
    SessionEvent,
    Source,
    Thought,
    TranscriptFacts,
    TurnEnd,
    TurnEndReason,
    Usage,
)
from fairtrial.model.task import Tokens
from fairtrial.ports.sessions import Clean
from fairtrial.sessions.account import Account, clipped, clipped_json
from fairtrial.sessions.generic_tools import outcome, result_text, tool_use
from fairtrial.sessions.line_transcript import LineTranscript
from fairtrial.sessions.readers.recorded.reader import AGENT
from fairtrial.sessions.readers.recorded.records import Line
from fairtrial.sessions.tolerant import Records


class State(msgspec.Struct):
    """What reading goes on with: of each call without a result, what it changes."""

    account: Account = msgspec.field(default_factory=Account)
    agent: str = AGENT
    changes: dict[str, tuple[FileChange, ...]] = msgspec.field(default_factory=dict)
    usages: int = 0


_E = TypeVar("_E", bound=StrEnum)
_RECORDS: Final = Records(Line)
_STATE: Final = msgspec.msgpack.Decoder(State)
_MOST_PENDING: Final = 1_000
_LONGEST_NAME: Final = 100
_PARTS: Final = ("input", "output", "cache_read", "cache_write", "reasoning")


class RecordedTranscript(LineTranscript[State]):
    """One journal. See `Transcript`."""

    agent = AGENT

    def __init__(self, path: Path, clean: Clean, state: bytes | None = None) -> None:
        super().__init__(clean, State() if state is None else _STATE.decode(state))
        if state is None:
            self._account.native_id = path.stem

    def facts(self) -> TranscriptFacts:
        """Return what is known; the agent is the one that the journal names."""
        return self._account.facts(self._state.agent)

    def _read(self, line: bytes) -> list[SessionEvent] | None:
        record = _RECORDS.of(line)
        if record is None or not record.type:
            return None
        self._account.seen_at(record.at)
        if record.type == "session":
            self._head(record)
            return []
        event = self._event(record)
        if event is None:
            self._account.unknown_record(record.type)
        return [] if event is None else [event]

    def _head(self, record: Line) -> None:
        account = self._account
        account.native_id = record.id or account.native_id
        account.agent_version = record.agent_version
        account.cwd, account.branch, account.commit = record.cwd, record.branch, record.commit
        if record.agent:
            self._state.agent = record.agent[:_LONGEST_NAME]

    def _event(self, record: Line) -> SessionEvent | None:
        match record.type:
            case "call":
                return self._call(record)
            case "result":
                return self._result(record)
            case "usage":
                return self._usage(record)
        return _plain_event(record)

    def _call(self, record: Line) -> Call:
        tool, call_id = record.tool or "", record.call or ""
        use = tool_use(tool, record.input)
        if use.changes and len(self._state.changes) < _MOST_PENDING:
            self._state.changes[call_id] = use.changes
        return Call(
            0,
            record.at,
            MAIN,
            id=call_id,
            tool=tool,
            operation=use.operation,
            input=clipped_json(record.input),
            command=use.command,
            paths=use.paths,
        )

    def _result(self, record: Line) -> Result:
        call_id = record.call or ""
        output = record.output
        coded = output if record.exit_code is None else {"exit_code": record.exit_code}
        status, code = outcome(coded, record.text)
        status = _of(ResultStatus, record.status, status)
        changes = self._state.changes.pop(call_id, ())
        shown = result_text(output) or clipped(record.text or "")
        return Result(
            0,
            record.at,
            MAIN,
            call_id,
            status,
            code,
            shown,
            changes if status is ResultStatus.OK else (),
            record.took_s,
        )

    def _usage(self, record: Line) -> Usage:
        self._state.usages += 1
        given: Mapping[str, int] = record.tokens or {}
        tokens = Tokens(**{part: given.get(part) for part in _PARTS})
        name = record.call or f"{self._account.native_id}:{self._state.usages}"
        return Usage(0, record.at, MAIN, name, record.model, tokens, record.cost_usd)


def _plain_event(record: Line) -> SessionEvent | None:
    """Return what a line tells that needs nothing of the lines before; None when it is unknown."""
    at, said = record.at, clipped(record.text or "")
    event: SessionEvent | None = None
    match record.type:
        case "prompt":
            event = Prompt(0, at, MAIN, said, _of(Source, record.source, Source.HUMAN))
        case "said":
            event = Said(0, at, MAIN, said)
        case "thought":
            event = Thought(0, at, MAIN, said)
        case "trouble":
            final = bool(record.final)
            event = ApiTrouble(0, at, MAIN, final=final, status=record.http_status, text=said)
        case "end":
            event = TurnEnd(0, at, MAIN, _of(TurnEndReason, record.reason, TurnEndReason.COMPLETED))
    return event


def _of(kind: type[_E], given: str | None, otherwise: _E) -> _E:
    try:
        return otherwise if given is None else kind(given)
    except ValueError:
        return otherwise
