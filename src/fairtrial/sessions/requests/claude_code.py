"""The next request of Claude Code: as it was logged, else made of its transcript."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from fairtrial.model.call import Api, WireCall
from fairtrial.model.next_turn import Fidelity
from fairtrial.sessions.requests import conversation, logged
from fairtrial.sessions.requests.conversation import Record, sendable, turns
from fairtrial.sessions.requests.tools import CLAUDE_TOOLS, STAND_IN, with_those_called

KINDS: Final = conversation.KINDS | logged.KINDS
MAX_TOKENS: Final = 16_000
"""The most tokens of a turn whose request was not logged."""
_BLOCK: Final = "Codebase and user instructions are shown below"


def next_request(
    records: Sequence[Record | None], position: int, cwd: str, model: str
) -> tuple[WireCall, Fidelity, str]:
    """Return the request that followed a record, how near it is, and why no nearer.

    Args:
        records: The records of a file.
        position: Where the last thing stands that the model was told.
        cwd: The folder of the session.
        model: The model that answered.
    """
    try:
        return logged.logged_request(records, position), Fidelity.EXACT, ""
    except logged.LostError as lost:
        return _remade(records, position, cwd, model), Fidelity.CONVERSATION, str(lost)


def _remade(records: Sequence[Record | None], position: int, cwd: str, model: str) -> WireCall:
    told = [turn.message() for turn in turns(records, position, attached=True)]
    messages = list(sendable(told))
    system, tools = _snapshot(records, position)
    body = {
        "model": model,
        "max_tokens": MAX_TOKENS,
        "system": system or STAND_IN.format(cwd=cwd),
        "tools": with_those_called(tools or CLAUDE_TOOLS, messages),
        "messages": [_without_thoughts(message) for message in messages],
    }
    return WireCall(Api.ANTHROPIC_MESSAGES, body, {"anthropic-version": "2023-06-01"})


def _without_thoughts(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message without thinking: its signatures hold only for the request as it was."""
    kept = [block for block in message["content"] if "thinking" not in str(block.get("type"))]
    return {**message, "content": kept or [{"type": "text", "text": "…"}]}


def _snapshot(
    records: Sequence[Record | None], position: int
) -> tuple[str | None, list[dict[str, Any]]]:
    """Return the newest instructions and tools that were written down before a moment."""
    system, tools = None, []
    for record in records[: position + 1]:
        found = (record or {}).get("attachment")
        if not isinstance(found, Mapping) or found.get("type") != "prompt_snapshot":
            continue
        told = found.get("systemPrompt")
        if isinstance(told, list) and told:
            system = "\n\n".join(part for part in told if isinstance(part, str))
        named = [one for one in found.get("tools") or () if isinstance(one, Mapping)]
        if named:
            tools = [
                {
                    "name": one.get("name"),
                    "description": one.get("description") or "",
                    "input_schema": one.get("schema") or {"type": "object"},
                }
                for one in named
            ]
    return system, tools


def instruction_texts(body: Mapping[str, Any]) -> tuple[tuple[str | int, ...], ...]:
    """Return where a request tells of the user's and the repository's instructions."""
    found: list[tuple[str | int, ...]] = []
    for number, message in enumerate(body.get("messages") or ()):
        content = message.get("content")
        if isinstance(content, str):
            if _is_block(content):
                found.append(("messages", number, "content"))
            continue
        for place, block in enumerate(content or ()):
            if isinstance(block, Mapping) and _is_block(block.get("text")):
                found.append(("messages", number, "content", place, "text"))
    return tuple(found)


def _is_block(text: Any) -> bool:
    # A tool may have printed the same words; only what stands in a reminder is Claude Code's own.
    return (
        isinstance(text, str)
        and text.lstrip().startswith("<system-reminder>")
        and _BLOCK in text[:600]
    )
