"""The turns of a Claude Code transcript as messages of the Messages API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

Record = Mapping[str, Any]
KINDS: Final = frozenset({"user", "assistant", "attachment"})
"""Types of the records that messages are made of."""
_SYNTHETIC_MODEL: Final = "<synthetic>"


@dataclass
class Turn:
    """A message, made of the records between two of the other role.

    Attributes:
        role: `user` or `assistant`.
        content: Its blocks, as they stand in the records.
        name: The id of an assistant's message.
        last: Position of its last record.
    """

    role: str
    content: list[dict[str, Any]] = field(default_factory=list)
    name: str | None = None
    last: int = -1

    def message(self) -> dict[str, Any]:
        """Return the message."""
        return {"role": self.role, "content": self.content}


def turns(records: Sequence[Record | None], until: int, *, attached: bool = False) -> list[Turn]:
    """Return the turns of the branch that leads to a record.

    Claude Code writes one record for each block of an answer and for each result, and leaves what
    was taken back in the file: only what the record descends from counts.

    Args:
        records: The records of a file.
        until: Position of the last one that counts.
        attached: Whether what Claude Code told the model beside the user's words counts, too.
    """
    branch = _branch(records, until)
    found: list[Turn] = []
    answered: set[str] = set()
    for position in range(until + 1):
        record = records[position]
        if record is None or (record.get("isSidechain") and not branch.sidechain):
            continue
        if not branch.holds(record, answered):
            continue
        if record["type"] == "attachment":
            if attached:
                _add(found, "user", _rendered(record), position)
            continue
        message = record.get("message")
        if not isinstance(message, Mapping) or _is_for_people(record, message):
            continue
        name = message.get("id") if record["type"] == "assistant" else None
        blocks = _blocks(message.get("content"))
        if record["type"] == "assistant":
            answered |= {block["id"] for block in blocks if isinstance(block.get("id"), str)}
        _add(found, record["type"], blocks, position, name)
    return found


@dataclass(frozen=True)
class _Branch:
    """The records that one descends from, and the messages that they are parts of."""

    uuids: frozenset[str]
    messages: frozenset[str]
    sidechain: bool

    def holds(self, record: Record, answered: set[str]) -> bool:
        """Return whether a record is of the branch; results of one step are no ancestors."""
        if record.get("uuid") in self.uuids:
            return True
        message = record.get("message")
        if not isinstance(message, Mapping):
            return False
        if record["type"] == "assistant":
            return message.get("id") in self.messages
        results = [
            block for block in _blocks(message.get("content")) if block.get("type") == "tool_result"
        ]
        return bool(results) and all(block.get("tool_use_id") in answered for block in results)


def _branch(records: Sequence[Record | None], until: int) -> _Branch:
    by_uuid = {
        record["uuid"]: record
        for record in records[: until + 1]
        if record is not None and isinstance(record.get("uuid"), str)
    }
    at = records[until]
    uuids: set[str] = set()
    messages: set[str] = set()
    while at is not None and at.get("uuid") not in uuids:
        uuids.add(str(at.get("uuid")))
        message = at.get("message")
        if at.get("type") == "assistant" and isinstance(message, Mapping) and message.get("id"):
            messages.add(message["id"])
        at = by_uuid.get(str(at.get("parentUuid")))
    last = records[until]
    return _Branch(
        frozenset(uuids), frozenset(messages), bool(last is not None and last.get("isSidechain"))
    )


def _is_for_people(record: Record, message: Mapping[str, Any]) -> bool:
    """Return whether the model never sees a record."""
    return bool(
        record.get("isVisibleInTranscriptOnly")
        or record.get("isApiErrorMessage")
        or message.get("model") == _SYNTHETIC_MODEL
    )


def _blocks(content: Any) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return [block for block in content or [] if isinstance(block, dict)]


def _rendered(record: Record) -> list[dict[str, Any]]:
    told = record.get("rendered")
    return [
        {"type": "text", "text": one["content"]}
        for one in (told if isinstance(told, list) else ())
        if isinstance(one, Mapping) and isinstance(one.get("content"), str)
    ]


def _add(
    found: list[Turn],
    role: str,
    blocks: Sequence[dict[str, Any]],
    position: int,
    name: str | None = None,
) -> None:
    if not blocks:
        return
    # Results may come before the last blocks of the answer that asks for them.
    for turn in reversed(found[-2:]):
        if turn.role == role and turn.name == name and (role == "assistant" or turn is found[-1]):
            turn.content.extend(blocks)
            turn.last = position
            return
    found.append(Turn(role, list(blocks), name, position))


def sendable(messages: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield messages as the API takes them: roles by turns, and a result for every call."""
    kept: list[dict[str, Any]] = []
    for message in messages:
        if kept and kept[-1]["role"] == message["role"]:
            kept[-1]["content"] = [*kept[-1]["content"], *message["content"]]
        else:
            kept.append({"role": message["role"], "content": list(message["content"])})
    if kept and kept[0]["role"] == "assistant":
        kept.insert(0, {"role": "user", "content": [{"type": "text", "text": "(begins here)"}]})
    if kept and kept[-1]["role"] == "assistant":
        kept.append({"role": "user", "content": []})
    for before, message in zip([None, *kept], kept, strict=False):
        if message["role"] == "user":
            message["content"] = _with_results(before, message["content"])
        yield message


def _with_results(before: Mapping[str, Any] | None, content: list[Any]) -> list[Any]:
    asked = [b["id"] for b in (before or {}).get("content", ()) if b.get("type") == "tool_use"]
    own = {b.get("tool_use_id"): b for b in content if b.get("type") == "tool_result"}
    others = [block for block in content if block.get("type") != "tool_result"]
    results = [own.get(name) or _unknown(name) for name in asked]
    return [*results, *others] or [{"type": "text", "text": "Continue."}]


def _unknown(name: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": name, "content": "(not recorded)"}
