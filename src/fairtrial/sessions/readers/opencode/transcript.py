"""Reading one session of OpenCode, message by message."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from fairtrial.model.session import (
    MAIN,
    ApiTrouble,
    Compaction,
    Prompt,
    Relation,
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
from fairtrial.sessions.account import Account, clipped, moment
from fairtrial.sessions.amounts import amount, count
from fairtrial.sessions.line_transcript import LineTranscript
from fairtrial.sessions.readers.opencode.reader import AGENT
from fairtrial.sessions.readers.opencode.tools import call_of, result_of
from fairtrial.sessions.tolerant import Records


class Record(msgspec.Struct):
    """The session itself, or a message with its parts."""

    session: Any = None
    message: Any = None
    parts: Any = None


class State(msgspec.Struct):
    """What reading goes on with.

    Attributes:
        account: What is known so far.
        trigger: Why the conversation is about to be summarised.
    """

    account: Account = msgspec.field(default_factory=Account)
    trigger: str | None = None


_RECORDS: Final = Records(Record)
_STATE: Final = msgspec.msgpack.Decoder(State)
_SILENT: Final = frozenset(
    {"agent", "file", "patch", "snapshot", "step-finish", "step-start", "subtask", "text", "tool"}
)
_INTERRUPTED: Final = "MessageAbortedError"
_LIMITS: Final = ("MessageOutputLengthError", "ContextOverflowError")
_ENDED: Final = ("stop", "end_turn")


class OpenCodeTranscript(LineTranscript[State]):
    """One session of OpenCode. See `Transcript`."""

    agent = AGENT

    def __init__(self, path: Path, clean: Clean, state: bytes | None = None) -> None:
        super().__init__(clean, State() if state is None else _STATE.decode(state))
        if state is None and "#" in path.name:
            self._account.native_id = path.name.rpartition("#")[2]

    def _read(self, line: bytes) -> list[SessionEvent] | None:
        record = _RECORDS.of(line)
        if record is None:
            return None
        if isinstance(record.session, Mapping):
            self._session(record.session)
            return []
        if isinstance(record.message, Mapping):
            return list(self._message(record.message, _objects(record.parts)))
        return None

    def _session(self, info: Mapping[str, Any]) -> None:
        account = self._account
        account.native_id = _text(info.get("id")) or account.native_id
        account.cwd = _text(info.get("directory")) or account.cwd
        account.agent_version = _text(info.get("version")) or account.agent_version
        account.seen_at(moment(_inner(info, "time").get("created")))
        parent, origin = _text(info.get("parentID")), _text(info.get("origin"))
        if parent or origin:
            account.parent = parent or origin
            account.relation = Relation.SUBAGENT if parent else Relation.FORK

    def _message(
        self, info: Mapping[str, Any], parts: list[Mapping[str, Any]]
    ) -> Iterator[SessionEvent]:
        times = _inner(info, "time")
        at = moment(times.get("created"))
        self._account.seen_at(at)
        self._account.seen_at(moment(times.get("completed")))
        for part in parts:
            kind = str(part.get("type"))
            if kind not in _SILENT and kind not in ("compaction", "reasoning", "retry"):
                self._account.unknown_record(f"part {kind}")
        role = info.get("role")
        if role == "user":
            yield from self._prompted(parts, at)
        elif role == "assistant":
            yield from self._answered(info, parts, at)
        else:
            self._account.unknown_record(f"message {role}")

    def _prompted(
        self, parts: list[Mapping[str, Any]], at: datetime | None
    ) -> Iterator[SessionEvent]:
        for part in parts:
            if part.get("type") == "compaction":
                self._state.trigger = "auto" if part.get("auto") else "manual"
        texts = [text for part in parts if (text := _own_text(part))]
        if texts:
            source = Source.AGENT if self._account.relation is Relation.SUBAGENT else Source.HUMAN
            yield Prompt(0, at, MAIN, clipped("\n".join(texts)), source)

    def _answered(
        self, info: Mapping[str, Any], parts: list[Mapping[str, Any]], at: datetime | None
    ) -> Iterator[SessionEvent]:
        yield from _usages(info, parts, at)
        for part in parts:
            yield from self._part(part, at, summary=info.get("summary") is True)
        error = info.get("error")
        if isinstance(error, Mapping):
            yield _trouble(error, moment(_inner(info, "time").get("completed")) or at)
        elif info.get("finish") in _ENDED:
            ended = moment(_inner(info, "time").get("completed")) or at
            yield TurnEnd(0, ended, MAIN, TurnEndReason.COMPLETED)

    def _part(
        self, part: Mapping[str, Any], at: datetime | None, *, summary: bool
    ) -> Iterator[SessionEvent]:
        at = moment(_inner(part, "time").get("start")) or at
        match part.get("type"):
            case "text" if text := _own_text(part):
                if summary:
                    yield Compaction(0, at, MAIN, self._state.trigger, clipped(text))
                    self._state.trigger = None
                else:
                    yield Said(0, at, MAIN, clipped(text))
            case "reasoning":
                yield Thought(0, at, MAIN, clipped(_text(part.get("text")) or ""))
            case "tool":
                yield call_of(part, at)
                result = result_of(part, at)
                if result is not None:
                    self._account.seen_at(result.at)
                    yield result
            case "step-start":
                self._account.start_tree = self._account.start_tree or _text(part.get("snapshot"))
            case "retry":
                status, said = _said(_inner(part, "error"))
                at = moment(_inner(part, "time").get("created")) or at
                yield ApiTrouble(0, at, MAIN, final=False, status=status, text=said)
            case _:
                pass


def _usages(
    info: Mapping[str, Any], parts: list[Mapping[str, Any]], at: datetime | None
) -> Iterator[Usage]:
    """Yield the tokens of the model calls of a message: each of its steps is one.

    A fork has copies of messages under other ids, but with the times of their models' answers.
    """
    times, model = _inner(info, "time"), _text(info.get("modelID"))
    created, completed = times.get("created"), times.get("completed")
    name = _text(info.get("id")) or ""
    if completed is not None:
        name = f"{created} {completed} {info.get('providerID')} {model}"
    steps = [part for part in parts if part.get("type") == "step-finish" and part.get("tokens")]
    for place, step in enumerate(steps or [info]):
        tokens = _tokens(_inner(step, "tokens"))
        if tokens != Tokens():
            # What OpenCode has no price for is 0 there.
            cost = amount(step.get("cost")) or None
            yield Usage(0, at, MAIN, f"opencode {name} {place}", model, tokens, cost)


def _tokens(told: Mapping[str, Any]) -> Tokens:
    cache = _inner(told, "cache")
    read, written, thought = (count(told.get(name)) for name in ("input", "output", "reasoning"))
    cached, put = count(cache.get("read")), count(cache.get("write"))
    parts = (read, written, cached, put)
    apart = count(told.get("total")) != sum(part or 0 for part in parts)
    if written is not None and apart:  # thoughts are counted beside the output
        written += thought or 0
    return Tokens(read, written, cached, put, thought)


def _trouble(error: Mapping[str, Any], at: datetime | None) -> SessionEvent:
    name = error.get("name")
    if name == _INTERRUPTED:
        return TurnEnd(0, at, MAIN, TurnEndReason.INTERRUPTED)
    if name in _LIMITS:
        return TurnEnd(0, at, MAIN, TurnEndReason.LIMIT)
    status, said = _said(error)
    return ApiTrouble(0, at, MAIN, final=True, status=status, text=said)


def _said(error: Mapping[str, Any]) -> tuple[int | None, str]:
    data = _inner(error, "data")
    said = _text(data.get("message")) or _text(error.get("name")) or ""
    return count(data.get("statusCode")), clipped(said)


def _own_text(part: Mapping[str, Any]) -> str | None:
    """Return the text of a part, unless OpenCode wrote it itself."""
    text = _text(part.get("text"))
    own = part.get("type") == "text" and not part.get("synthetic") and not part.get("ignored")
    return text if own and text and text.strip() else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _inner(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = value.get(name)
    return found if isinstance(found, Mapping) else {}


def _objects(values: Any) -> list[Mapping[str, Any]]:
    found = values if isinstance(values, list) else []
    return [value for value in found if isinstance(value, Mapping)]
