"""What a scripted model sees and answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from fairtrial.model.call import Api, StopReason, ToolUse
from fairtrial.model.json import Json
from fairtrial.model.task import Tokens

USAGE = Tokens(input=100, output=20, cache_read=0, cache_write=0, reasoning=0)


class Fault(StrEnum):
    """What goes wrong with an answer on its way."""

    CUT_STREAM = "cut_stream"
    """The connection breaks in the middle of the answer."""
    NO_END = "no_end"
    """A stream ends in order, but without its last event."""
    INVALID_JSON = "invalid_json"
    """The body, or one event of the stream, is no JSON."""
    EMPTY = "empty"
    """Status 200 and no body at all."""
    HANG = "hang"
    """Nothing ever comes, not even a status."""
    HANG_MIDWAY = "hang_midway"
    """The first events of a stream come, then nothing."""
    HUGE = "huge"
    """The text is `huge_bytes` long."""
    ERROR_EVENT = "error_event"
    """The stream breaks off with an error of `error_type` and `error`."""
    SLOW_FIRST_BYTE = "slow_first_byte"
    """Nothing comes for `slow_s` seconds."""


@dataclass(frozen=True, slots=True)
class ScriptedRequest:
    """A request that came.

    Attributes:
        method: HTTP method.
        path: Path and query.
        headers: By lower-case name; a credential is only `present`.
        body: The body as JSON; None when there is none, a text when it is no JSON.
        api: The API it belongs to; None for another path.
        number: From 0, its place among the requests for an answer of a model.
        client_port: The port it came from; requests over one connection have the same.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: Json
    api: Api | None
    number: int
    client_port: int = 0

    @property
    def streamed(self) -> bool:
        """Whether it asks for a stream."""
        return isinstance(self.body, Mapping) and self.body.get("stream") is True

    @property
    def model(self) -> str:
        """The model it asks for."""
        return str(self.body.get("model")) if isinstance(self.body, Mapping) else ""

    @property
    def tool_names(self) -> tuple[str, ...]:
        """The names of the tools it offers; `space.name` in a namespace but `functions`."""
        return tuple(name for name, _ in self.tools)

    @property
    def tools(self) -> tuple[tuple[str, Json], ...]:
        """The tools it offers by name, as they stand in the request."""
        found: list[tuple[str, Json]] = []
        for tool in _offered(self.body):
            function = tool.get("function") or tool
            if tool.get("type") == "namespace":
                space = "" if tool.get("name") == "functions" else f"{tool.get('name')}."
                found += [(f"{space}{each.get('name')}", each) for each in tool.get("tools") or ()]
            else:
                found.append((str(function.get("name") or tool.get("type")), tool))
        return tuple(found)

    @property
    def text(self) -> str:
        """All words of the conversation and the system prompt, one block a line."""
        if not isinstance(self.body, Mapping):
            return ""
        keys = ("system", "instructions", "messages", "input")
        return "\n".join(_words({key: self.body.get(key) for key in keys}))


@dataclass(frozen=True, slots=True)
class ScriptedAnswer:
    """What a scripted model answers.

    Attributes:
        text: Its words.
        tool_uses: The tools it asks for. A text as `input` is a free-form (custom) tool call of
            the Responses API; `namespace.name` names a tool of a namespace.
        thinking: What it thinks aloud before.
        tokens: Usage; a count of None is left out of the answer.
        stop: Why it ends; a text is sent as it stands. None follows from the rest.
        model: The model that answers; None is the one asked for.
        status: HTTP status; other than 2xx the answer is an error.
        error: The error's message.
        error_type: The error's type in the API's words; None follows from the status.
        error_code: The error's code (OpenAI).
        headers: Further headers.
        body: This body in place of all else.
        fault: What goes wrong.
        huge_bytes: How long the text is with `Fault.HUGE`.
        slow_s: Seconds before the first byte with `Fault.SLOW_FIRST_BYTE`.
        chunk_delay_s: Seconds between two events of a stream.
        chunk_chars: Characters of text in one event.
        encoding: `gzip` or `deflate`; None sends the body as it is.
    """

    text: str = "Hello!"
    tool_uses: tuple[ToolUse, ...] = ()
    thinking: str | None = None
    tokens: Tokens = USAGE
    stop: StopReason | str | None = None
    model: str | None = None
    status: int = 200
    error: str = "scripted trouble"
    error_type: str | None = None
    error_code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    fault: Fault | None = None
    huge_bytes: int = 10_000_000
    slow_s: float = 0.2
    chunk_delay_s: float = 0.0
    chunk_chars: int = 12
    encoding: str | None = None

    @property
    def words(self) -> str:
        """The text that is sent."""
        return "x" * self.huge_bytes if self.fault is Fault.HUGE else self.text

    @property
    def ending(self) -> StopReason | str:
        """Why it ends."""
        if self.stop is not None:
            return self.stop
        return StopReason.TOOL_USE if self.tool_uses else StopReason.END

    def pieces(self, text: str) -> list[str]:
        """Return a text cut as the events of a stream bring it."""
        size = 65536 if self.fault is Fault.HUGE else self.chunk_chars
        return [text[start : start + size] for start in range(0, len(text), size)]


Script: TypeAlias = Callable[[ScriptedRequest], ScriptedAnswer] | Sequence[ScriptedAnswer]
"""What answers: a function of the request, or answers in their order, the last one repeated."""


def _offered(body: Json) -> list[Mapping[str, Json]]:
    if not isinstance(body, Mapping):
        return []
    items = body.get("input")
    # Codex offers tools in the conversation too.
    holders = [
        body,
        *(
            item
            for item in (items if isinstance(items, list) else ())
            if isinstance(item, Mapping) and item.get("type") == "additional_tools"
        ),
    ]
    return [tool for holder in holders for tool in holder.get("tools") or ()]


def _words(value: Json) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [word for part in value for word in _words(part)]
    if isinstance(value, Mapping):
        wanted = ("system", "instructions", "messages", "input", "content", "text", "output")
        return [word for key in wanted for word in _words(value.get(key))]
    return []
