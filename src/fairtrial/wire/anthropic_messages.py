"""The Anthropic Messages API."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from fairtrial.model.call import Message, ModelCall, ModelReply, StopReason, ToolUse
from fairtrial.model.json import Json
from fairtrial.model.task import Tokens
from fairtrial.wire.counts import count, part_of
from fairtrial.wire.failures import ApiError, FailedAnswerError, MalformedAnswerError, error_of
from fairtrial.wire.json_text import mappings, read_arguments, whole_text
from fairtrial.wire.merging import overridden
from fairtrial.wire.schemas import closed
from fairtrial.wire.streaming import StreamReader

VERSION: Final = "2023-06-01"
"""What the header `anthropic-version` says."""

_STOPS: Final = {
    "end_turn": StopReason.END,
    "stop_sequence": StopReason.END,
    "tool_use": StopReason.TOOL_USE,
    "max_tokens": StopReason.LENGTH,
    "model_context_window_exceeded": StopReason.LENGTH,
    "refusal": StopReason.REFUSAL,
}


def request_body(call: ModelCall, model: str, *, stream: bool) -> dict[str, Json]:
    """Return the body of a request."""
    body: dict[str, Json] = {
        "model": model,
        "max_tokens": call.max_tokens,
        "messages": [_message(message) for message in call.messages],
    }
    if call.system is not None:
        body["system"] = call.system
    if call.temperature is not None:
        body["temperature"] = call.temperature
    if call.tools:
        body["tools"] = [
            {
                "name": tool.name,
                "description": tool.description,
                "input_schema": dict(tool.input_schema),
            }
            for tool in call.tools
        ]
    schema = None if call.response_schema is None else closed(call.response_schema)
    if schema is not None:
        body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    if stream:
        body["stream"] = True
    return overridden(body, call.params)


def read_body(document: Json) -> ModelReply:
    """Return the answer in a response's body.

    Raises:
        FailedAnswerError: it is an error.
        MalformedAnswerError: it is not what the API promises.
    """
    content = document.get("content") if isinstance(document, Mapping) else None
    if not isinstance(content, list):
        error = error_of(document)
        if error is not None:
            raise FailedAnswerError(error)
        raise MalformedAnswerError("it has no 'content'")
    blocks = mappings(content)
    texts = [str(block.get("text", "")) for block in blocks if block.get("type") == "text"]
    uses = tuple(
        ToolUse(str(block.get("id", "")), str(block.get("name", "")), block.get("input", {}))
        for block in blocks
        if block.get("type") == "tool_use"
    )
    return ModelReply(
        whole_text("".join(texts)),
        str(document.get("model") or ""),
        stop_reason(document.get("stop_reason"), uses),
        tokens_of(document.get("usage")) or Tokens(),
        tool_uses=uses,
    )


def stop_reason(given: Json, uses: Iterable[ToolUse]) -> StopReason:
    """Return why an answer ended; what is unknown is its end."""
    known = _STOPS.get(given, StopReason.END) if isinstance(given, str) else StopReason.END
    return StopReason.TOOL_USE if known is StopReason.END and tuple(uses) else known


def tokens_of(usage: Json) -> Tokens | None:
    """Return usage; None when none is told. The API's input tokens leave out cached ones."""
    written = count(usage, "output_tokens")
    tokens = Tokens(
        input=count(usage, "input_tokens"),
        output=written,
        cache_read=count(usage, "cache_read_input_tokens"),
        cache_write=count(usage, "cache_creation_input_tokens"),
        reasoning=part_of(count(usage, "output_tokens_details", "thinking_tokens"), written),
    )
    return None if tokens.total is None else tokens


@dataclass(slots=True)
class _Block:
    start: Mapping[str, Json]
    text: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)

    def whole(self) -> dict[str, Json]:
        if self.start.get("type") == "tool_use":
            given = "".join(self.arguments)
            read = read_arguments(given) if given.strip() else self.start.get("input") or {}
            return {**self.start, "input": read}
        return {**self.start, "text": str(self.start.get("text") or "") + "".join(self.text)}


class MessageStream(StreamReader):
    """Reads the stream of an answer."""

    def __init__(self) -> None:
        super().__init__()
        self._message: Mapping[str, Json] = {}
        self._usage: dict[str, Json] = {}
        self._blocks: dict[int, _Block] = {}
        self._stop: Json = None

    @property
    def whole(self) -> bool:
        """See `StreamReader.whole`."""
        return self._stop is not None

    @property
    def tokens(self) -> Tokens | None:
        """See `StreamReader.tokens`."""
        return tokens_of(self._usage)

    def reply(self) -> ModelReply:
        """See `StreamReader.reply`."""
        if not self.whole:
            raise MalformedAnswerError("the stream ended before the answer did")
        content = [block.whole() for _, block in sorted(self._blocks.items())]
        return read_body(
            {
                "model": self._message.get("model"),
                "content": content,
                "stop_reason": self._stop,
                "usage": self._usage,
            }
        )

    def _event(self, kind: str, data: dict[str, Json]) -> None:
        if kind == "message_start":
            self._message = _mapping(data.get("message"))
            self._count(self._message.get("usage"))
        elif kind == "content_block_start":
            self._begin(data)
        elif kind == "content_block_delta":
            self._extend(data)
        elif kind == "message_delta":
            self._stop = _mapping(data.get("delta")).get("stop_reason") or self._stop
            self._count(data.get("usage"))
        elif kind == "message_stop":
            self.ended = True
        elif kind == "error":
            raise FailedAnswerError(error_of(data) or ApiError("an error without a message"))

    def _begin(self, data: dict[str, Json]) -> None:
        block = _mapping(data.get("content_block"))
        self._blocks[_index(data)] = _Block(block)
        self.started = self.started or block.get("type") == "tool_use" or bool(block.get("text"))

    def _extend(self, data: dict[str, Json]) -> None:
        delta = _mapping(data.get("delta"))
        block = self._blocks.setdefault(_index(data), _Block({"type": "text"}))
        if delta.get("type") == "text_delta":
            block.text.append(str(delta.get("text") or ""))
            self.started = True
        elif delta.get("type") == "input_json_delta":
            block.arguments.append(str(delta.get("partial_json") or ""))

    def _count(self, usage: Json) -> None:
        # The last event repeats what the first one told, as cumulative counts.
        self._usage.update(
            {name: told for name, told in _mapping(usage).items() if told is not None}
        )


def _message(message: Message) -> dict[str, Json]:
    if not message.tool_uses and not message.tool_results:
        return {"role": message.role, "content": message.text}
    content: list[Json] = [
        {"type": "tool_result", "tool_use_id": result.tool_use_id, "content": result.text}
        | ({"is_error": True} if result.is_error else {})
        for result in message.tool_results
    ]
    if message.text:
        content.append({"type": "text", "text": message.text})
    content += [
        {
            "type": "tool_use",
            "id": use.id,
            "name": use.name,
            "input": use.input if isinstance(use.input, dict) else {"input": use.input},
        }
        for use in message.tool_uses
    ]
    return {"role": message.role, "content": content}


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def _index(data: Mapping[str, Json]) -> int:
    index = data.get("index")
    return index if isinstance(index, int) else 0
