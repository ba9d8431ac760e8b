"""What kind of thing a span or a record tells of, and of whose session it is."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import Enum
from typing import Final

from fairtrial.model.json import Json
from fairtrial.model.span import Span
from fairtrial.sessions.spans.messages import MESSAGE_EVENTS

CLAUDE_CODE: Final = "claude-code"
CODEX: Final = "codex"


class Kind(Enum):
    """What a span or a record is of."""

    MODEL = "model"
    """A call of a model."""
    TOOL = "tool"
    """A tool that ran."""
    AGENT = "agent"
    """An agent that ran, around its calls."""
    MESSAGE = "message"
    """A record that tells messages of a call of a model."""
    CLAUDE_CODE = CLAUDE_CODE
    """A record of Claude Code's own."""
    CODEX = CODEX
    """A record of Codex's own."""
    SILENT = "silent"
    """Known, and nothing of a session: embeddings, a retrieval, a run of a workflow."""
    UNKNOWN = "unknown"


_OPERATIONS: Final = {
    "chat": Kind.MODEL,
    "text_completion": Kind.MODEL,
    "generate_content": Kind.MODEL,
    "execute_tool": Kind.TOOL,
    "invoke_agent": Kind.AGENT,
    "create_agent": Kind.SILENT,
    "embeddings": Kind.SILENT,
    "retrieval": Kind.SILENT,
    "invoke_workflow": Kind.SILENT,
}
_CLAUDE: Final = "claude_code."
_CLAUDE_SCOPE: Final = "com.anthropic.claude_code"
_CODEX: Final = "codex."
_CONVERSATIONS: Final = ("gen_ai.conversation.id", "session.id", "conversation.id")
_UNNAMED: Final = "unknown_service"
_LONGEST_NAME: Final = 100


def kind_of(span: Span) -> Kind:
    """Return what a span or a record tells of."""
    if span.log:
        return _record_kind(span)
    operation = span.attributes.get("gen_ai.operation.name")
    if isinstance(operation, str):
        return _OPERATIONS.get(operation, Kind.UNKNOWN)
    if is_claude_span(span) or str(span.resource.get("service.name", "")).startswith(CODEX):
        return Kind.SILENT  # of its inside: hundreds a turn
    if "gen_ai.tool.name" in span.attributes:
        return Kind.TOOL
    return Kind.MODEL if "gen_ai.request.model" in span.attributes else Kind.UNKNOWN


def is_claude_span(span: Span) -> bool:
    """Return whether Claude Code tells a span of its own; its records tell the same, and more."""
    return not span.log and span.scope.startswith(_CLAUDE_SCOPE)


def _record_kind(span: Span) -> Kind:
    name = event_name(span)
    if name in MESSAGE_EVENTS:
        return Kind.MESSAGE
    if name.startswith(_CLAUDE):
        return Kind.CLAUDE_CODE
    return Kind.CODEX if name.startswith(_CODEX) else Kind.UNKNOWN


def event_name(span: Span) -> str:
    """Return the name of a record's event.

    An attribute comes first: some programs put the line of their source into the field for it.
    """
    named = span.attributes.get("event.name")
    if isinstance(named, str):
        own = span.scope.startswith(_CLAUDE_SCOPE) and not named.startswith(_CLAUDE)
        return f"{_CLAUDE}{named}" if own else named
    return span.name or (span.body if isinstance(span.body, str) else "")


def session_name(span: Span) -> str | None:
    """Return what the program calls the session; None when this part does not tell."""
    for name in _CONVERSATIONS:
        found = span.attributes.get(name)
        if isinstance(found, str) and 0 < len(found) <= 300:
            return found
    return None


def agent_name(span: Span, kind: Kind) -> str:
    """Return what the program is called in sessions."""
    if kind in (Kind.CLAUDE_CODE, Kind.CODEX):
        return CODEX if kind is Kind.CODEX else CLAUDE_CODE
    named = text(span.resource, "service.name") or ""
    if named == CLAUDE_CODE or span.scope.startswith(_CLAUDE_SCOPE):
        return CLAUDE_CODE
    if not named or named.startswith(_UNNAMED):
        return "otel"
    return named[:_LONGEST_NAME]


def text(attributes: Mapping[str, Json], *names: str) -> str | None:
    """Return the first text among attributes."""
    return next((str(attributes[name]) for name in names if _is_text(attributes.get(name))), None)


def count(attributes: Mapping[str, Json], *names: str) -> int | None:
    """Return the first whole number among attributes; some programs write numbers as texts."""
    for name in names:
        found = attributes.get(name)
        if isinstance(found, str) and found.isdecimal() and len(found) < 16:
            return int(found)
        if isinstance(found, int | float) and not isinstance(found, bool) and 0 <= found < 1e15:
            return int(found)
    return None


def number(attributes: Mapping[str, Json], *names: str) -> float | None:
    """Return the first number among attributes."""
    for name in names:
        found = attributes.get(name)
        try:
            if isinstance(found, int | float | str) and not isinstance(found, bool):
                return float(found)
        except ValueError:
            continue
    return None


def moment_of(seconds: float | None) -> datetime | None:
    """Return a time in UTC; None when there is none that a calendar knows."""
    try:
        return None if not seconds else datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _is_text(value: Json) -> bool:
    return isinstance(value, str) and bool(value)
