"""The records that Claude Code and Codex tell of themselves.

They tell less than a transcript: of a tool's output Claude Code tells nothing. They are for
sessions whose transcripts are on another machine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from fairtrial.model.json import Json
from fairtrial.model.session import (
    MAIN,
    ApiTrouble,
    Call,
    Prompt,
    Result,
    ResultStatus,
    Said,
    SessionEvent,
    Source,
    Usage,
)
from fairtrial.model.span import Span
from fairtrial.model.task import Tokens
from fairtrial.sessions.account import clipped, clipped_json
from fairtrial.sessions.generic_tools import outcome, result_text, tool_use
from fairtrial.sessions.spans.kinds import count, event_name, moment_of, number, text
from fairtrial.sessions.tolerant import parsed

_HIDDEN: Final = ("<REDACTED>", "[REDACTED]")
_CODE: Final = re.compile(r"^(?:Process exited with code|Exit code:?) (-?\d{1,6})$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Told:
    """A record, with what all of them have."""

    span: Span
    attributes: Mapping[str, Json]
    at: datetime | None
    place: int


def record_events(span: Span, place: int) -> list[SessionEvent] | None:
    """Return what a record tells; None when it is not known.

    Args:
        span: The record.
        place: Its place among the records of the session; it names calls that have no id.
    """
    name = event_name(span)
    tell = _RECORDS.get(name)
    if tell is None:
        return [] if name in _SILENT else None
    at = moment_of(span.at)
    return list(tell(_Told(span, span.attributes, at, place)))


def _prompt(told: _Told) -> Iterator[SessionEvent]:
    said = text(told.attributes, "prompt")
    if said is not None and said not in _HIDDEN:
        yield Prompt(0, told.at, MAIN, clipped(said), Source.HUMAN)


def _response(told: _Told) -> Iterator[SessionEvent]:
    said = text(told.attributes, "response", "text", "content")
    if said is not None and said not in _HIDDEN:
        yield Said(0, told.at, MAIN, clipped(said))


def _decision(told: _Told) -> Iterator[SessionEvent]:
    decision = text(told.attributes, "decision")
    if decision is not None and decision.startswith(("reject", "denied", "abort")):
        call_id, call = _called(told)
        yield call
        yield Result(0, told.at, MAIN, call_id, ResultStatus.DENIED)


def _tool(told: _Told) -> Iterator[SessionEvent]:
    call_id, call = _called(told)
    yield call
    given = told.attributes
    success = text(given, "success")
    failed = success == "false" or given.get("success") is False
    error = text(given, "error", "error_type") or ("failed" if failed else None)
    output = parsed(given.get("output"))
    found = _CODE.search(output) if isinstance(output, str) else None
    ended = output if found is None else {"exit_code": int(found[1])}
    status, code = outcome(ended, error if failed else None)
    took = number(given, "duration_ms")
    shown = result_text(output) or clipped(error or "")
    changed = tool_use(call.tool, call.input).changes if status is ResultStatus.OK else ()
    seconds = None if took is None else took / 1000
    yield Result(0, told.at, MAIN, call_id, status, code, shown, changed, seconds)


def _called(told: _Told) -> tuple[str, Call]:
    given = told.attributes
    tool = text(given, "tool_name", "name") or "tool"
    named = text(given, "tool_use_id", "call_id", "tool_call_id")
    call_id = named or f"record:{told.place}"
    arguments = next(
        (
            parsed(given[name])
            for name in ("tool_input", "arguments", "tool_parameters")
            if given.get(name) is not None
        ),
        None,
    )
    use = tool_use(tool, arguments)
    return call_id, Call(
        0,
        told.at,
        MAIN,
        id=call_id,
        tool=tool,
        operation=use.operation,
        input=clipped_json(arguments),
        command=use.command,
        paths=use.paths,
    )


def _claude_request(told: _Told) -> Iterator[SessionEvent]:
    given = told.attributes
    tokens = Tokens(
        count(given, "input_tokens"),
        count(given, "output_tokens"),
        count(given, "cache_read_tokens"),
        count(given, "cache_creation_tokens"),
    )
    named = text(given, "request_id") or f"{text(given, 'session.id')}:{told.span.at}"
    cost = number(given, "cost_usd")
    yield Usage(0, told.at, MAIN, named, text(given, "model"), tokens, cost)


def _codex_answer(told: _Told) -> Iterator[SessionEvent]:
    given = told.attributes
    if text(given, "event.kind") != "response.completed":
        return
    cached, read = count(given, "cached_token_count"), count(given, "input_token_count")
    if read is None:
        return  # it is told twice, and the other one has the counts
    tokens = Tokens(
        max(0, read - (cached or 0)),
        count(given, "output_token_count"),
        cached,
        count(given, "cache_write_token_count"),
        count(given, "reasoning_token_count"),
    )
    named = f"{text(given, 'conversation.id')}:{told.span.at}"
    yield Usage(0, told.at, MAIN, named, text(given, "model", "slug"), tokens)


def _codex_request(told: _Told) -> Iterator[SessionEvent]:
    status = count(told.attributes, "http.response.status_code")
    if status is not None and status >= 400:
        yield from _trouble(told)


def _trouble(told: _Told) -> Iterator[SessionEvent]:
    given = told.attributes
    status = count(given, "status_code", "http.response.status_code")
    attempt, most = count(given, "attempt"), count(given, "max_attempts", "total_attempts")
    final = attempt is not None and most is not None and attempt >= most
    said = text(given, "error", "error.message") or ""
    yield ApiTrouble(0, told.at, MAIN, final=final, status=status, text=clipped(said))


_RECORDS: Final[Mapping[str, Callable[[_Told], Iterator[SessionEvent]]]] = {
    "claude_code.user_prompt": _prompt,
    "claude_code.assistant_response": _response,
    "claude_code.tool_decision": _decision,
    "claude_code.tool_result": _tool,
    "claude_code.api_request": _claude_request,
    "claude_code.api_error": _trouble,
    "codex.user_prompt": _prompt,
    "codex.tool_decision": _decision,
    "codex.tool_result": _tool,
    "codex.api_request": _codex_request,
    "codex.sse_event": _codex_answer,
}
_SILENT: Final = frozenset(
    {
        "claude_code.api_request_body",
        "claude_code.api_response_body",
        "claude_code.hook_execution_complete",
        "claude_code.hook_execution_start",
        "claude_code.hook_registered",
        "claude_code.managed_settings_resolved",
        "claude_code.mcp_server_connection",
        "claude_code.plugin_installed",
        "claude_code.plugin_loaded",
        "claude_code.skill_activated",
        "codex.conversation_starts",
        "codex.startup_phase",
        "codex.turn_ttft",
        "codex.websocket_connect",
        "codex.websocket_event",
        "codex.websocket_request",
    }
)
