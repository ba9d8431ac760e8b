"""Who makes a call: which session it belongs to, and which agent."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from fairtrial.recording.exchange import SESSION_HEADER, Headers, header

CLAUDE_CODE = "claude-code"
CODEX = "codex"

_SESSION_HEADERS = (
    SESSION_HEADER,
    b"x-claude-code-session-id",
    b"session-id",
    b"session_id",
    b"conversation-id",
    b"conversation_id",
)
_SESSION_AT_END = re.compile(r"_session_([0-9A-Za-z-]{8,64})$")
_SESSION = re.compile(r"[\x21-\x7e]{1,200}")


def agent_of(headers: Headers) -> str | None:
    """Return the coding agent that a request's headers name; None for another client."""
    program = (header(headers, b"user-agent") or b"").decode("latin-1").lower()
    originator = (header(headers, b"originator") or b"").decode("latin-1").lower()
    if program.startswith(("claude-cli/", "claude-code/")):
        return CLAUDE_CODE
    if program.startswith("codex") or originator.startswith("codex"):
        return CODEX
    return None


def session_of(headers: Headers, body: dict[str, Any] | None) -> str | None:
    """Return what a client calls its session; None when it does not say."""
    for name in _SESSION_HEADERS:
        value = header(headers, name)
        if value is not None and (session := _sound(value.decode("latin-1"))):
            return session
    if body is None:
        return None
    return _sound(
        _of_user_id(body.get("metadata"))
        or _text(body.get("client_metadata"), "session_id")
        or (_text(body, "prompt_cache_key") if agent_of(headers) == CODEX else None)
    )


def _of_user_id(metadata: Any) -> str | None:
    """Return the session in the user id of Claude Code: JSON, or in older releases its end."""
    user_id = _text(metadata, "user_id")
    if user_id is None:
        return None
    try:
        return _text(msgspec.json.decode(user_id), "session_id")
    except msgspec.DecodeError:
        match = _SESSION_AT_END.search(user_id)
        return match[1] if match else None


def _text(holder: Any, key: str) -> str | None:
    value = holder.get(key) if isinstance(holder, dict) else None
    return value if isinstance(value, str) and value else None


def _sound(session: str | None) -> str | None:
    """Return a name that can be typed after a command; None for anything else."""
    if session is None or not _SESSION.fullmatch(session):
        return None
    return session.replace("#", "-")
