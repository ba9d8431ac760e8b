"""Conversations of other tools: what a person reads of them, without what differs by chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from fairtrial.model.json import Json

_MOST: Final = 2_000
_LONGEST: Final = 20_000
_KEPT: Final = ("role", "content", "tool_calls", "tool_call_id", "function", "name", "error")


def plain(message: Json) -> Json:
    """Return a message without its own id and other things that differ by chance."""
    if not isinstance(message, Mapping):
        return message
    kept = {name: message[name] for name in _KEPT if message.get(name) not in (None, [], "")}
    return {**kept, "content": text_of(message.get("content"))}


def text_of(content: Json) -> Json:
    """Return the text of a content that is made of parts; anything else as it is."""
    if isinstance(content, list) and all(
        isinstance(part, Mapping) and isinstance(part.get("text"), str) for part in content
    ):
        return "\n".join(part["text"] for part in content)
    return content


def spans_of(messages: Sequence[Json]) -> list[dict[str, Json]]:
    """Return a conversation as steps, the text of each not too long."""
    found: list[dict[str, Any]] = []
    for message in messages[:_MOST]:
        if not isinstance(message, Mapping):
            continue
        content = text_of(message.get("content"))
        told: dict[str, Json] = {"name": str(message.get("role", "message"))}
        if message.get("function"):
            told["name"] = f"tool {message['function']}"
        if content not in (None, "", []):
            told["content"] = content[:_LONGEST] if isinstance(content, str) else content
        if message.get("tool_calls"):
            told["tool_calls"] = message["tool_calls"]
        if message.get("error"):
            told["error"] = message["error"]
        found.append(told)
    return found
