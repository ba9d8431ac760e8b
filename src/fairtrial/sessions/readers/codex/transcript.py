"""Reading one rollout of Codex, line by line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from fairtrial.model.json import Json
from fairtrial.model.session import (
    MAIN,
    ApiTrouble,
    Call,
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
from fairtrial.ports.sessions import Clean
from fairtrial.sessions.account import clipped, clipped_json, moment, text_of
from fairtrial.sessions.line_transcript import LineTranscript
from fairtrial.sessions.readers.codex.patches import patched, recorded
from fairtrial.sessions.readers.codex.reader import AGENT
from fairtrial.sessions.readers.codex.records import (
    BARE,
    EVENTS,
    ITEMS,
    RECORDS,
    RESPONSE_ITEMS,
    SILENT_EVENTS,
    SILENT_ITEMS,
    SILENT_PARTS,
    SILENT_RECORDS,
    SKIP,
    Item,
    Payload,
    Record,
)
from fairtrial.sessions.readers.codex.state import State
from fairtrial.sessions.readers.codex.tokens import PARTS, tokens_of, total_of
from fairtrial.sessions.readers.codex.tools import (
    Pending,
    command_of,
    operation_of,
    outcome_of,
    output_text,
    patch_of,
    paths_of,
    status_of_code,
)
from fairtrial.sessions.readers.codex.values import (
    http_status,
    made_at,
    seconds_of,
    since,
    spawner,
    texts,
    within_script,
)
from fairtrial.sessions.tolerant import parsed

_NAME: Final = re.compile(r"rollout-.*?-([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})")
_SYNTHETIC: Final = re.compile(
    r"# AGENTS\.md instructions|<(?:environment_context|user_instructions|turn_aborted|skill|"
    r"subagent_notification|user_shell_command|permissions|INSTRUCTIONS|recommended_plugins|"
    r"goal_context|hook_prompt)\b"
)
_PAYLOAD: Final = re.compile(r"\AMessage Type: [^\n]*\n(?:[A-Z][^\n]*\n)*?Payload:\n")
_LIMITS: Final = ("budget_limited", "limit", "max_turns")
_MOST_PENDING: Final = 1_000
_MOST_ENDED: Final = 50


_STATE: Final = msgspec.msgpack.Decoder(State)


class CodexTranscript(LineTranscript[State]):
    """One rollout: a thread. See `Transcript`."""

    agent = AGENT
    skip = SKIP

    def __init__(self, path: Path, clean: Clean, state: bytes | None = None) -> None:
        super().__init__(clean, State() if state is None else _STATE.decode(state))
        if state is None and (named := _NAME.match(path.name)):
            self._account.native_id = named[1]

    def _read(self, line: bytes) -> list[SessionEvent] | None:
        record = RECORDS.of(line)
        if record is None:
            return None
        if record.payload is None:
            return self._bare(record, line)
        return self._enveloped(record, record.payload)

    def _bare(self, record: Record, line: bytes) -> list[SessionEvent]:
        """Take a record of the oldest form: the facts, a state that tells nothing, or an item."""
        if record.record_type is not None:
            return []
        if not record.type:
            if record.id is not None and self._state.own is None:
                self._facts(Payload(id=record.id, git=record.git))
                self._account.seen_at(moment(record.timestamp))
            return []
        payload = BARE.of(line)
        if payload is None:
            return []
        if record.type in RESPONSE_ITEMS:
            return self._response(payload, moment(record.timestamp))
        if record.type not in SILENT_ITEMS:
            self._account.unknown_record(record.type)
        return []

    def _enveloped(self, record: Record, payload: Payload) -> list[SessionEvent]:
        if record.type == "session_meta":
            self._meta(record, payload)
            return []
        if self._copied(record, payload):
            return []
        at = moment(record.timestamp)
        self._account.seen_at(at)
        if record.type == "response_item":
            return self._item_of_model(payload, at)
        if record.type == "event_msg":
            return self._event(payload, at)
        return self._beside(record.type, payload, at)

    def _beside(self, kind: str, payload: Payload, at: datetime | None) -> list[SessionEvent]:
        match kind:
            case "compacted":
                text = payload.message if isinstance(payload.message, str) else ""
                return [Compaction(0, at, MAIN, None, clipped(text))]
            case "token_usage_record":
                self._state.per_call = True
                return self._usage(payload.usage, payload.response_id, at)
            case "turn_context":
                self._turn(payload)
            case _ if kind not in SILENT_RECORDS:
                self._account.unknown_record(kind or "(no type)")
        return []

    def _meta(self, record: Record, payload: Payload) -> None:
        """Take the facts of the session: the first record of them counts, a later one is copied."""
        if self._state.own is None:
            self._facts(payload)
            self._account.seen_at(moment(record.timestamp))
        elif payload.id is not None and payload.id != self._state.own:
            self._state.copying = self._state.starts_at is None

    def _facts(self, payload: Payload) -> None:
        state, account = self._state, self._account
        state.own = payload.id or account.native_id
        account.native_id = state.own
        account.cwd, account.agent_version = payload.cwd, payload.cli_version
        state.headless = "exec" in (payload.originator or "") or payload.source == "exec"
        state.starts_at = payload.subagent_history_start_ordinal
        if isinstance(payload.git, Mapping):
            commit, branch = payload.git.get("commit_hash"), payload.git.get("branch")
            account.commit = commit if isinstance(commit, str) else None
            account.branch = branch if isinstance(branch, str) else None
        parent = payload.parent_thread_id or spawner(payload.source)
        if parent is not None:
            account.parent, account.relation = parent, Relation.SUBAGENT
        elif payload.forked_from_id is not None:
            account.parent, account.relation = payload.forked_from_id, Relation.FORK

    def _copied(self, record: Record, payload: Payload) -> bool:
        """Return whether a record repeats the parent's; its sum of tokens is where this starts."""
        state = self._state
        before = state.starts_at is not None and (
            record.ordinal is not None and record.ordinal < state.starts_at
        )
        if state.copying and payload.turn_id is not None:
            state.copying = made_at(payload.turn_id) < made_at(state.own or "")
        if not before and not state.copying:
            return False
        if payload.type == "token_count":
            self._state.total = total_of(payload.info) or self._state.total
        return True

    def _turn(self, payload: Payload) -> None:
        self._state.model = payload.model or self._state.model
        if self._account.cwd is None:
            self._account.cwd = payload.cwd

    def _item_of_model(self, payload: Payload, at: datetime | None) -> list[SessionEvent]:
        kind = payload.type or ""
        if kind in RESPONSE_ITEMS:
            return self._response(payload, at)
        if kind not in SILENT_ITEMS:
            self._account.unknown_record(f"response_item.{kind}")
        return []

    def _response(self, payload: Payload, at: datetime | None) -> list[SessionEvent]:
        match payload.type:
            case "message":
                return self._message(payload, at)
            case "reasoning":
                return self._thought(texts(payload.summary), at)
            case "agent_message":
                text = _PAYLOAD.sub("", text_of(payload.content), count=1)
                return self._prompt(text, at, Source.AGENT)
            case "function_call_output" | "custom_tool_call_output":
                return self._output(payload, at)
            case _:
                return [*self._asked(at), self._call(payload, at)]

    def _message(self, payload: Payload, at: datetime | None) -> list[SessionEvent]:
        text = text_of(payload.content)
        if payload.role == "assistant":
            return self._said(text, at)
        if payload.role == "user" and text.strip() and not _SYNTHETIC.match(text.lstrip()):
            self._state.asking = text
        return []

    def _said(self, text: str, at: datetime | None) -> list[SessionEvent]:
        """Return a text of the agent, once: an event and an item tell of it."""
        if not text.strip() or text == self._state.said:
            return []
        events = self._asked(at)
        self._state.said = text
        return [*events, Said(0, at, MAIN, clipped(text))]

    def _thought(self, text: str, at: datetime | None) -> list[SessionEvent]:
        if not text.strip() or text == self._state.thought:
            return []
        events = self._asked(at)
        self._state.thought = text
        return [*events, Thought(0, at, MAIN, clipped(text))]

    def _asked(self, at: datetime | None) -> list[SessionEvent]:
        """Return the prompt that only a user message told of, before the agent acts on it."""
        text, self._state.asking = self._state.asking, None
        if text is None or self._state.asked is not None:
            return []
        return self._prompt(text, at)

    def _prompt(
        self, text: str, at: datetime | None, source: Source | None = None
    ) -> list[SessionEvent]:
        state = self._state
        state.asking = None
        if not text.strip():
            return []
        state.asked, state.said, state.thought = text, None, None
        if source is None:
            source = Source.SDK if state.headless else Source.HUMAN
            if self._account.relation is Relation.SUBAGENT:
                source = Source.AGENT
        return [Prompt(0, at, MAIN, clipped(text), source)]

    def _call(self, payload: Payload, at: datetime | None) -> Call:
        tool = payload.name or payload.type or ""
        given = payload.arguments if payload.arguments is not None else payload.input
        arguments: Json = parsed(given if given is not None else payload.action)
        operation = operation_of(tool, payload.namespace)
        command = command_of(arguments) if operation is Operation.SHELL else None
        patch = patch_of(tool, arguments, command)
        if patch is not None:
            operation, command = Operation.EDIT, None
        call_id = payload.call_id or payload.id or ""
        call = Call(
            0,
            at,
            MAIN,
            id=call_id,
            tool=tool,
            operation=operation,
            input=clipped_json(arguments),
            command=None if command is None else clipped(command),
            paths=paths_of(patch, arguments),
        )
        if len(self._state.pending) < _MOST_PENDING:
            seconds = None if at is None else at.timestamp()
            self._state.pending[call_id] = Pending(operation, seconds, patch)
        self._state.said = self._state.thought = None
        return call

    def _output(self, payload: Payload, at: datetime | None) -> list[SessionEvent]:
        call_id = payload.call_id or ""
        call = self._state.pending.pop(call_id, None) or Pending(Operation.OTHER)
        text = output_text(payload.output)
        status, code, spent = outcome_of(payload.output, call.operation)
        if call.exit_code is not None and status is not ResultStatus.DENIED:
            status, code = status_of_code(call.exit_code)
        elif call.failed and status is ResultStatus.OK:
            status = ResultStatus.FAIL
        if status is ResultStatus.RUNNING:
            self._state.running.add(call_id)
        else:
            self._state.ended = [*self._state.ended[-_MOST_ENDED:], call_id]
        changes: tuple[FileChange, ...] = ()
        if status is ResultStatus.OK and call.changes is not None:
            changes = call.changes
        elif status is ResultStatus.OK and call.patch is not None:
            changes = patched(call.patch)
        spent = since(call.at, at) if spent is None else spent
        return [Result(0, at, MAIN, call_id, status, code, clipped(text), changes, spent)]

    def _event(self, payload: Payload, at: datetime | None) -> list[SessionEvent]:
        kind = payload.type or ""
        if kind not in EVENTS:
            if kind not in SILENT_EVENTS and not kind.endswith("_delta"):
                self._account.unknown_record(f"event_msg.{kind}")
            return []
        message = payload.message if isinstance(payload.message, str) else ""
        match kind:
            case "user_message":
                return self._prompt(message, at)
            case "agent_message":
                return self._said(message, at)
            case "agent_reasoning":
                return self._thought(payload.text or "", at)
            case "item_completed":
                return self._item(payload, at)
            case _:
                return self._event_beside(kind, payload, at)

    def _event_beside(self, kind: str, payload: Payload, at: datetime | None) -> list[SessionEvent]:
        match kind:
            case "token_count":
                return self._counted(payload.info, at)
            case "exec_command_end" | "patch_apply_end":
                self._told(payload)
                return []
            case _:
                return self._turn_event(kind, payload, at)

    def _turn_event(self, kind: str, payload: Payload, at: datetime | None) -> list[SessionEvent]:
        match kind:
            case "task_complete" | "turn_complete":
                return self._complete(payload, at)
            case "turn_aborted":
                limit = payload.reason in _LIMITS
                reason = TurnEndReason.LIMIT if limit else TurnEndReason.INTERRUPTED
                return [TurnEnd(0, at, MAIN, reason)]
            case "error" | "stream_error":
                text = payload.message if isinstance(payload.message, str) else ""
                return [ApiTrouble(0, at, MAIN, final=False, text=clipped(text))]
            case _:  # a turn began
                self._state.said = None
                return []

    def _complete(self, payload: Payload, at: datetime | None) -> list[SessionEvent]:
        error = payload.error
        if not error:
            return [TurnEnd(0, at, MAIN, TurnEndReason.COMPLETED)]
        text = error.get("message") if isinstance(error, Mapping) else error
        trouble = ApiTrouble(
            0, at, MAIN, final=True, status=http_status(error), text=clipped(str(text or ""))
        )
        return [trouble, TurnEnd(0, at, MAIN, TurnEndReason.API_ERROR)]

    def _item(self, payload: Payload, at: datetime | None) -> list[SessionEvent]:
        item = payload.item or Item()
        if item.type not in ITEMS:
            if item.type not in SILENT_PARTS:
                self._account.unknown_record(f"item_completed.{item.type}")
            return []
        match item.type:
            case "UserMessage":
                return self._prompt(text_of(item.content), at)
            case "AgentMessage":
                return self._said(text_of(item.content), at)
            case "Reasoning":
                return self._thought(texts(item.summary_text), at)
            case _:
                return self._done(item, payload, at)

    def _told(self, payload: Payload) -> None:
        """Take what an older Codex tells of a call beside its output."""
        call = self._state.pending.get(payload.call_id or "")
        if call is not None:
            call.exit_code = payload.exit_code
            call.failed = payload.success is False
            if payload.changes is not None:
                call.changes = recorded(payload.changes)

    def _done(self, item: Item, payload: Payload, at: datetime | None) -> list[SessionEvent]:
        """Take a command, a change or a call of a server that Codex carried out.

        The output that the model is shown comes after it; of a call within a script it is all that
        there is; and a command in the background is told of when it ends.
        """
        call_id, failed = item.id or "", item.status not in (None, "completed", "in_progress")
        changes = recorded(item.changes) if item.type == "FileChange" else None
        call = self._state.pending.get(call_id)
        if call is not None:
            call.exit_code, call.failed, call.changes = item.exit_code, failed, changes
            return []
        if call_id in self._state.ended:
            return []
        begun: list[SessionEvent] = []
        started = moment(payload.started_at_ms) or at
        if call_id not in self._state.running:
            begun.append(within_script(item, started))
        self._state.running.discard(call_id)
        status, code = status_of_code(item.exit_code)
        if failed and status is ResultStatus.OK:
            status = ResultStatus.DENIED if item.status == "declined" else ResultStatus.FAIL
        text = item.aggregated_output or f"{item.stdout or ''}{item.stderr or ''}"
        shown = changes if changes is not None and status is ResultStatus.OK else ()
        spent = seconds_of(item.duration)
        if spent is None and started is not None:
            spent = since(started.timestamp(), at)
        return [*begun, Result(0, at, MAIN, call_id, status, code, clipped(text), shown, spent)]

    def _counted(self, info: Any, at: datetime | None) -> list[SessionEvent]:
        """Take the sums of the thread so far; what came since the last ones is a call's."""
        total = total_of(info)
        if total is None:
            return []
        before, self._state.total = self._state.total, total
        if self._state.per_call:
            return []
        grown = [now - then for now, then in zip(total, before, strict=True)]
        if min(grown) < 0:  # the thread was compacted or begun anew
            grown = total
        if not any(grown):
            return []
        usage = dict(zip(PARTS, grown, strict=True))
        return self._usage(usage, f"{self._state.own}:{sum(total)}", at)

    def _usage(self, usage: Any, name: str | None, at: datetime | None) -> list[SessionEvent]:
        if not isinstance(usage, Mapping) or name is None:
            return []
        tokens = tokens_of(usage)
        return [Usage(0, at, MAIN, name, self._state.model, tokens)]
