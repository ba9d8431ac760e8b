"""What an agent tells a hook, in one form."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

CLAUDE_CODE = "claude-code"
CODEX = "codex"


class Kind(StrEnum):
    """What happened, as far as capture is concerned."""

    START = "start"
    PROMPT = "prompt"
    TOOL = "tool"
    """A tool that can change files is about to run."""
    STOP = "stop"
    """A turn ended, however it did."""
    END = "end"


_KINDS = {
    "SessionStart": Kind.START,
    "UserPromptSubmit": Kind.PROMPT,
    "PreToolUse": Kind.TOOL,
    "Stop": Kind.STOP,
    "StopFailure": Kind.STOP,
    "Interrupt": Kind.STOP,
    "SessionEnd": Kind.END,
}


@dataclass(frozen=True, slots=True)
class HookEvent:
    """One event of a session.

    Attributes:
        agent: As in `Session`.
        kind: What happened.
        name: What the agent calls it.
        native_id: What the agent calls the session.
        cwd: The folder that the session is in.
        transcript: The file of the session; None when the agent does not tell.
    """

    agent: str
    kind: Kind
    name: str
    native_id: str
    cwd: str
    transcript: str | None


def event_of(agent: str, payload: object) -> HookEvent | None:
    """Return the event that an agent tells of; None for one that capture has no use for.

    Raises:
        ValueError: it is not what the agent should tell; `str()` says what is wrong.
    """
    if not isinstance(payload, dict):
        raise ValueError(f"the agent told {type(payload).__name__}, no object")  # noqa: TRY004
    if payload.get("type") == "agent-turn-complete":  # Codex's `notify`
        names = ("thread-id", "cwd")
        name, kind = "notify", Kind.STOP
        transcript: object = None
    else:
        names = ("session_id", "cwd")
        name = str(payload.get("hook_event_name"))
        found = _KINDS.get(name)
        # After a compaction the same turn goes on.
        if found is None or (found is Kind.START and payload.get("source") == "compact"):
            return None
        kind = found
        transcript = payload.get("transcript_path")
    native_id, cwd = (payload.get(field) for field in names)
    if not isinstance(native_id, str) or not native_id:
        raise ValueError(f"{name} has no {names[0]}")
    if not isinstance(cwd, str) or not cwd or "\0" in cwd:
        raise ValueError(f"{name} has no {names[1]}")
    usable = isinstance(transcript, str) and transcript and "\0" not in transcript
    return HookEvent(agent, kind, name, native_id, cwd, str(transcript) if usable else None)
