"""What models were told and answered, in the forms that programs write it in spans.

They are: the attributes `gen_ai.input.messages` and `gen_ai.output.messages`, on the span or on an
event of it; an event for each message (`gen_ai.user.message`, `gen_ai.choice`, …), in the span or
as a record of a log; and the older attributes `gen_ai.prompt` and `gen_ai.completion`, whole or one
for each part of each message.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from fairtrial.model.json import Json
from fairtrial.model.span import Span
from fairtrial.sessions.tolerant import parsed

_DEPTH: Final = 64
_INDEXED: Final = re.compile(r"gen_ai\.(prompt|completion)\.(\d{1,6})\.(.+)")
_TOOL_CALL: Final = re.compile(r"tool_calls\.(\d{1,6})\.(.+)")
_EVENTS: Final = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_CHOICE: Final = "gen_ai.choice"
_DETAILS: Final = "gen_ai.client.inference.operation.details"
_CONTENTS: Final = ("gen_ai.content.prompt", "gen_ai.content.completion")
MESSAGE_EVENTS: Final = frozenset({*_EVENTS, _CHOICE, _DETAILS, *_CONTENTS})
"""Names of events and records that tell messages."""


_Event: TypeAlias = tuple[str, Mapping[str, Json], Json]
"""What an event or a record is called, and what is told of it and said in it."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text, or what a model thought."""

    text: str
    thought: bool = False


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that a model asks for."""

    id: str
    name: str
    arguments: Json


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call brought, as the model was told."""

    id: str
    result: Json


@dataclass(frozen=True, slots=True)
class Message:
    """One message: who says it (system, user, assistant, tool), and what."""

    role: str
    parts: tuple[Text | ToolCall | ToolResult, ...]


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a model was told, and what it answered."""

    told: tuple[Message, ...] = ()
    answered: tuple[Message, ...] = ()


def exchange_of(span: Span, records: Iterable[Span] = ()) -> Exchange:
    """Return the messages of a span; of several forms the first that tells something.

    Args:
        span: The span.
        records: Records of logs that belong to it, by their time.
    """
    events: list[_Event] = [(event.name, event.attributes, None) for event in span.events]
    events += [(record.name, record.attributes, record.body) for record in records]
    details = [
        {**attributes, **(body if isinstance(body, Mapping) else {})}
        for name, attributes, body in events
        if name == _DETAILS
    ]
    told: tuple[Message, ...] = ()
    answered: tuple[Message, ...] = ()
    for attributes in (span.attributes, *details):
        told = told or _messages(attributes.get("gen_ai.input.messages"), "user")
        answered = answered or _messages(attributes.get("gen_ai.output.messages"), "assistant")
    one = _of_events(events)
    other = _of_attributes(span.attributes)
    asked = _messages(span.attributes.get("user_prompt"), "user")  # Claude Code's
    return Exchange(
        told or one.told or other.told or asked, answered or one.answered or other.answered
    )


def _messages(value: Json, role: str) -> tuple[Message, ...]:
    found = parsed(value)
    if isinstance(found, str):
        return (Message(role, (Text(found),)),) if found.strip() else ()
    if isinstance(found, Mapping):
        found = [found]
    if not isinstance(found, list):
        return ()
    messages = (_message(one, role) for one in found)
    return tuple(message for message in messages if message is not None)


def _message(value: Json, role: str) -> Message | None:
    if isinstance(value, str):
        return Message(role, (Text(value),))
    if not isinstance(value, Mapping):
        return None
    inner = value.get("message")
    if isinstance(inner, Mapping):  # a choice
        return _message({"role": role, **inner}, role)
    said = value.get("role")
    who = said.lower() if isinstance(said, str) else role
    who = "assistant" if who in ("model", "ai") else who
    content = value.get("parts", value.get("content"))
    parts = list(_parts(parsed(content)))
    parts += _calls(parsed(value.get("tool_calls")))
    if who in ("tool", "function") and not any(isinstance(part, ToolResult) for part in parts):
        answer = _text_of(parts) if parts else content
        parts = [ToolResult(_id(value, "tool_call_id", "id"), answer)]
    return Message(who, tuple(parts)) if parts else None


def _text_of(parts: Sequence[Any]) -> str:
    return "\n".join(part.text for part in parts if isinstance(part, Text))


def _parts(content: Json) -> Iterator[Text | ToolCall | ToolResult]:
    if isinstance(content, str):
        if content.strip():
            yield Text(content)
    elif isinstance(content, Mapping):
        yield from _part(content)
    elif isinstance(content, list):
        for part in content:
            if isinstance(part, Mapping):
                yield from _part(part)
            elif isinstance(part, str) and part.strip():
                yield Text(part)


def _part(part: Mapping[str, Json]) -> Iterator[Text | ToolCall | ToolResult]:
    kind = part.get("type")
    text = part.get("content", part.get("text"))
    if kind in ("tool_call", "tool_use", "function_call", "toolCall"):
        arguments = part.get("arguments", part.get("input"))
        name = part.get("name")
        yield ToolCall(_id(part, "id", "call_id"), str(name or ""), parsed(arguments))
    elif kind in ("tool_call_response", "tool_result", "function_call_output"):
        names = ("response", "result", "content", "output")
        result = next((part[name] for name in names if name in part), None)
        yield ToolResult(_id(part, "id", "tool_use_id", "call_id"), _flat(parsed(result)))
    elif kind in ("reasoning", "thinking"):
        thought = part.get("thinking", text)
        yield Text(thought if isinstance(thought, str) else "", thought=True)
    elif isinstance(text, str):
        if text.strip():
            yield Text(text)
    elif isinstance(kind, str):
        yield Text(f"[{kind}]")


def _flat(result: Json) -> Json:
    """Return the text of blocks of text; any other result as it is."""
    if isinstance(result, list) and result:
        parts = list(_parts(result))
        if all(isinstance(part, Text) for part in parts):
            return _text_of(parts)
    return result


def _calls(value: Json) -> Iterator[ToolCall]:
    for call in value if isinstance(value, list) else ():
        if not isinstance(call, Mapping):
            continue
        function = call.get("function")
        inner: Mapping[str, Json] = function if isinstance(function, Mapping) else call
        name = inner.get("name")
        arguments = inner.get("arguments", inner.get("input"))
        yield ToolCall(_id(call, "id"), str(name or ""), parsed(arguments))


def _id(value: Mapping[str, Json], *names: str) -> str:
    return next((str(value[name]) for name in names if isinstance(value.get(name), str)), "")


def _of_events(events: Sequence[_Event]) -> Exchange:
    told: list[Message] = []
    answered: list[Message] = []
    for name, attributes, body in events:
        content = parsed(body if body is not None else attributes.get("gen_ai.event.content"))
        payload = {**attributes, **content} if isinstance(content, Mapping) else dict(attributes)
        if isinstance(content, str) and "content" not in payload:
            payload["content"] = content
        if name in _EVENTS:
            message = _message({"role": _EVENTS[name], **payload}, _EVENTS[name])
            told += [] if message is None else [message]
        elif name == _CHOICE:
            inner = parsed(payload.get("message"))
            message = _message(
                {**payload, "role": "assistant"}
                if not isinstance(inner, Mapping)
                else {"role": "assistant", **inner},
                "assistant",
            )
            answered += [] if message is None else [message]
        elif name == _CONTENTS[0]:
            told += _messages(attributes.get("gen_ai.prompt"), "user")
        elif name == _CONTENTS[1]:
            answered += _messages(attributes.get("gen_ai.completion"), "assistant")
    return Exchange(tuple(told), tuple(answered))


def _of_attributes(attributes: Mapping[str, Json]) -> Exchange:
    found: dict[str, dict[int, dict[str, Any]]] = {"prompt": {}, "completion": {}}
    for name, value in attributes.items():
        match = _INDEXED.fullmatch(name)
        if match is None:
            continue
        message = found[match[1]].setdefault(int(match[2]), {})
        call = _TOOL_CALL.fullmatch(match[3])
        if call is None:
            message[match[3]] = value
        else:
            calls = message.setdefault("calls", {})
            calls.setdefault(int(call[1]), {})[call[2].removeprefix("function.")] = value
    told = _messages(attributes.get("gen_ai.prompt"), "user") or _indexed(found["prompt"], "user")
    answered = _messages(attributes.get("gen_ai.completion"), "assistant") or _indexed(
        found["completion"], "assistant"
    )
    return Exchange(told, answered)


def _indexed(found: Mapping[int, dict[str, Any]], role: str) -> tuple[Message, ...]:
    messages = []
    for place in sorted(found):
        value = found[place]
        calls = value.pop("calls", {})
        message = _message({**value, "tool_calls": [calls[n] for n in sorted(calls)]}, role)
        messages += [] if message is None else [message]
    return tuple(messages)
