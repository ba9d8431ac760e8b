"""A request's body as the call that it makes: what `request_body` writes, read back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, Literal

from fairtrial.model.call import Api, Message, ModelCall, Tool, ToolResult, ToolUse
from fairtrial.model.json import Json
from fairtrial.wire.json_text import mappings, read_arguments

_KNOWN: Final[Mapping[Api, frozenset[str]]] = {
    Api.ANTHROPIC_MESSAGES: frozenset({"messages", "system", "max_tokens"}),
    Api.OPENAI_RESPONSES: frozenset({"input", "instructions", "max_output_tokens", "store"}),
    Api.OPENAI_CHAT: frozenset(
        {"messages", "max_completion_tokens", "max_tokens", "stream_options"}
    ),
}
_EVERYWHERE: Final = frozenset({"model", "temperature", "tools", "stream"})
_LIMITS: Final = ("max_tokens", "max_output_tokens", "max_completion_tokens")


def as_call(api: Api, body: Mapping[str, Json]) -> ModelCall:
    """Return the call that a request's body makes.

    What is no text and no tool (pictures, files, thoughts) is not in it; fields that a call has no
    place for are its `params`. Nothing is checked: a body that no API would take gives a call too.
    """
    read = _READERS[api]
    system: list[str] = []
    turns: list[Message] = []
    for turn in read(body):
        if isinstance(turn, str):
            system.append(turn)
        else:
            turns.append(turn)
    known = _EVERYWHERE | _KNOWN[api]
    limits = [body[name] for name in _LIMITS if isinstance(body.get(name), int)]
    temperature = body.get("temperature")
    return ModelCall(
        tuple(_joined(turns)),
        model=body["model"] if isinstance(body.get("model"), str) else None,
        system="\n\n".join(system) if system else None,
        max_tokens=limits[0] if limits else ModelCall(()).max_tokens,
        temperature=temperature if isinstance(temperature, int | float) else None,
        tools=tuple(_tool(tool) for tool in mappings(body.get("tools")) if _is_function(tool)),
        params={name: value for name, value in body.items() if name not in known},
    )


def _anthropic(body: Mapping[str, Json]) -> Iterator[Message | str]:
    if body.get("system") is not None:
        yield _text(body["system"])
    for turn in mappings(body.get("messages")):
        blocks = mappings(turn.get("content"))
        yield Message(
            _role(turn),
            _text(turn.get("content")),
            tuple(
                ToolUse(_str(block, "id"), _str(block, "name"), block.get("input", {}))
                for block in blocks
                if block.get("type") == "tool_use"
            ),
            tuple(
                ToolResult(
                    _str(block, "tool_use_id"),
                    _text(block.get("content")),
                    block.get("is_error") is True,
                )
                for block in blocks
                if block.get("type") == "tool_result"
            ),
        )


def _responses(body: Mapping[str, Json]) -> Iterator[Message | str]:
    if isinstance(body.get("instructions"), str):
        yield body["instructions"]
    given = body.get("input")
    if isinstance(given, str):
        yield Message("user", given)
    for item in mappings(given):
        kind = str(item.get("type") or "message")
        if kind in ("function_call", "custom_tool_call"):
            written = item.get("arguments") or item.get("input") or ""
            arguments = read_arguments(str(written)) if kind == "function_call" else written
            use = ToolUse(_str(item, "call_id"), _str(item, "name"), arguments)
            yield Message("assistant", tool_uses=(use,))
        elif kind in ("function_call_output", "custom_tool_call_output"):
            result = ToolResult(_str(item, "call_id"), _text(item.get("output")))
            yield Message("user", tool_results=(result,))
        elif kind == "message":
            yield _said(item)


def _chat(body: Mapping[str, Json]) -> Iterator[Message | str]:
    for turn in mappings(body.get("messages")):
        if turn.get("role") == "tool":
            result = ToolResult(_str(turn, "tool_call_id"), _text(turn.get("content")))
            yield Message("user", tool_results=(result,))
            continue
        uses = []
        for call in mappings(turn.get("tool_calls")):
            function = call.get("function")
            function = function if isinstance(function, Mapping) else {}
            arguments = read_arguments(_str(function, "arguments"))
            uses.append(ToolUse(_str(call, "id"), _str(function, "name"), arguments))
        said = _said(turn)
        yield (
            said if isinstance(said, str) else Message(said.role, said.text, tool_uses=tuple(uses))
        )


_READERS: Final[Mapping[Api, Callable[[Mapping[str, Json]], Iterator[Message | str]]]] = {
    Api.ANTHROPIC_MESSAGES: _anthropic,
    Api.OPENAI_RESPONSES: _responses,
    Api.OPENAI_CHAT: _chat,
}


def _joined(turns: list[Message]) -> Iterator[Message]:
    """Yield turns, with the calls and the results that an API keeps in several items together."""
    last: Message | None = None
    for turn in turns:
        if last is not None and _goes_on(last, turn):
            last = Message(
                last.role,
                "\n".join(text for text in (last.text, turn.text) if text),
                last.tool_uses + turn.tool_uses,
                last.tool_results + turn.tool_results,
            )
            continue
        if last is not None:
            yield last
        last = turn
    if last is not None:
        yield last


def _goes_on(last: Message, turn: Message) -> bool:
    if last.role != turn.role:
        return False
    if turn.role == "assistant":
        return bool(turn.tool_uses) and not turn.text
    return bool(last.tool_results) and not last.text


def _said(turn: Mapping[str, Json]) -> Message | str:
    text = _text(turn.get("content"))
    return text if turn.get("role") in ("system", "developer") else Message(_role(turn), text)


def _role(turn: Mapping[str, Json]) -> Literal["user", "assistant"]:
    return "assistant" if turn.get("role") == "assistant" else "user"


def _text(content: Json) -> str:
    if isinstance(content, str):
        return content
    texts = [part.get("text") for part in mappings(content)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _str(holder: Mapping[str, Json], key: str) -> str:
    value = holder.get(key)
    return value if isinstance(value, str) else ""


def _is_function(tool: Mapping[str, Json]) -> bool:
    return isinstance(tool.get("function"), Mapping) or "name" in tool


def _tool(tool: Mapping[str, Json]) -> Tool:
    told = tool["function"] if isinstance(tool.get("function"), Mapping) else tool
    schema = told.get("input_schema") or told.get("parameters")
    return Tool(
        _str(told, "name"),
        _str(told, "description"),
        schema if isinstance(schema, Mapping) else {"type": "object"},
    )
