"""The next request of Codex: the items of its rollout are those that it sends."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from fairtrial.model.call import Api, WireCall
from fairtrial.sessions.requests.tools import CODEX_TOOLS, as_function

KINDS: Final = frozenset({"session_meta", "response_item", "compacted", "turn_context"})
"""Types of the records that requests are made of."""
ONLY_ITEMS: Final = "Codex writes down neither the tools nor all of its own instructions"
_OURS: Final = ("internal_chat_message_metadata_passthrough", "metadata")
"""Fields that Codex adds to an item for itself."""
_SHELLS: Final = ("exec_command", "shell_command", "shell", "local_shell")
_BLOCKS: Final = ("# AGENTS.md instructions", "<user_instructions>")

Record = Mapping[str, Any]


def next_request(records: Sequence[Record | None], position: int, model: str) -> WireCall:
    """Return the request that followed a record.

    Args:
        records: The records of a rollout.
        position: Where the last thing stands that the model was told.
        model: The model that answered.
    """
    items = _items(records, position)
    body: dict[str, Any] = {
        "model": model,
        "instructions": _instructions(records),
        "input": items,
        "tools": list(_tools(items)),
        "tool_choice": "auto",
        "store": False,
    }
    effort = _effort(records, position)
    if effort is not None:
        body["reasoning"] = {"effort": effort}
    return WireCall(Api.OPENAI_RESPONSES, body)


def _payloads(
    records: Sequence[Record | None], kind: str, until: int | None = None
) -> Iterator[Mapping[str, Any]]:
    for record in records[: None if until is None else until + 1]:
        if record is not None and record.get("type") == kind:
            payload = record.get("payload")
            if isinstance(payload, Mapping):
                yield payload


def _items(records: Sequence[Record | None], position: int) -> list[dict[str, Any]]:
    """Return the items that the model was sent, without those that belong to a parent's history."""
    begin = next(
        (p.get("subagent_history_start_ordinal") for p in _payloads(records, "session_meta")), None
    )
    items: list[dict[str, Any]] = []
    for record in records[: position + 1]:
        payload = (record or {}).get("payload")
        if record is None or not isinstance(payload, Mapping):
            continue
        ordinal = record.get("ordinal")
        if isinstance(begin, int) and isinstance(ordinal, int) and ordinal < begin:
            continue
        if record.get("type") == "compacted":
            history = payload.get("replacement_history")
            if isinstance(history, list):
                items = [_plain(one) for one in history if isinstance(one, Mapping)]
        elif record.get("type") == "response_item":
            items.append(_plain(payload))
    return list(_answered(items))


def _plain(item: Mapping[str, Any]) -> dict[str, Any]:
    return copy.deepcopy({k: v for k, v in item.items() if k not in _OURS})


def _answered(items: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield items with an output for every call: the API takes none without."""
    given = {i.get("call_id") for i in items if str(i.get("type")).endswith("_call_output")}
    for item in items:
        yield item
        kind, name = str(item.get("type")), item.get("call_id")
        if kind in ("function_call", "custom_tool_call") and name not in given:
            yield {"type": f"{kind}_output", "call_id": name, "output": "(not recorded)"}


def _instructions(records: Sequence[Record | None]) -> str:
    for payload in _payloads(records, "session_meta"):
        told = payload.get("base_instructions") or payload.get("instructions")
        text = told.get("text") if isinstance(told, Mapping) else told
        return text if isinstance(text, str) else ""
    return ""


def _effort(records: Sequence[Record | None], position: int) -> str | None:
    found = None
    for payload in _payloads(records, "turn_context", position):
        told = payload.get("effort")
        found = told if isinstance(told, str) else found
    return found


def _tools(items: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the usual tools, of the shells only the one that was called, and all that were."""
    called = {
        str(item["name"]): str(item["type"])
        for item in items
        if item.get("type") in ("function_call", "custom_tool_call") and item.get("name")
    }
    shells = [name for name in _SHELLS if name in called] or list(_SHELLS[:1])
    known = {str(tool["name"]): tool for tool in CODEX_TOOLS}
    names = [n for n in known if n not in _SHELLS or n in shells]
    for name in dict.fromkeys([*names, *called]):
        if called.get(name) == "custom_tool_call":
            yield {"type": "custom", "name": name, "description": "", "format": {"type": "text"}}
            continue
        usual = {"name": name, "description": "", "input_schema": {"type": "object"}}
        yield as_function(known.get(name, usual))
    if "apply_patch" not in called:
        yield {"type": "custom", "name": "apply_patch", "description": "Edits files by a patch."}


def instruction_texts(body: Mapping[str, Any]) -> tuple[tuple[str | int, ...], ...]:
    """Return where a request tells of the repository's instructions."""
    found: list[tuple[str | int, ...]] = []
    for number, item in enumerate(body.get("input") or ()):
        if item.get("type") != "message" or item.get("role") != "user":
            continue
        for place, part in enumerate(item.get("content") or ()):
            text = part.get("text") if isinstance(part, Mapping) else None
            if isinstance(text, str) and text.startswith(_BLOCKS):
                found.append(("input", number, "content", place, "text"))
    return tuple(found)
