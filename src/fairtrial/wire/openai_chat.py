"""The OpenAI Chat Completions API, which compatible servers speak too."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from fairtrial.model.call import Message, ModelCall, ModelReply, StopReason, ToolUse
from fairtrial.model.json import Json
from fairtrial.model.task import Tokens
from fairtrial.wire.counts import count, part_of, split_input
from fairtrial.wire.failures import FailedAnswerError, MalformedAnswerError, error_of
from fairtrial.wire.json_text import mappings, read_arguments, whole_text
from fairtrial.wire.merging import overridden
from fairtrial.wire.openai_responses import SCHEMA_NAME
from fairtrial.wire.schemas import is_strict
from fairtrial.wire.streaming import StreamReader

_STOPS: Final = {
    "stop": StopReason.END,
    "length": StopReason.LENGTH,
    "tool_calls": StopReason.TOOL_USE,
    "function_call": StopReason.TOOL_USE,
    "content_filter": StopReason.REFUSAL,
}


def request_body(
    call: ModelCall, model: str, *, stream: bool, limit_name: str = "max_completion_tokens"
) -> dict[str, Json]:
    """Return the body of a request.

    Args:
        call: What is asked.
        model: Who is asked.
        stream: Whether the answer is to come as a stream.
        limit_name: What the server calls the most tokens of an answer; compatible servers know
            the older `max_tokens`.
    """
    body: dict[str, Json] = {
        "model": model,
        "messages": [
            *([] if call.system is None else [{"role": "system", "content": call.system}]),
            *(turn for message in call.messages for turn in _turns(message)),
        ],
        limit_name: call.max_tokens,
    }
    if call.temperature is not None:
        body["temperature"] = call.temperature
    if call.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": dict(tool.input_schema),
                },
            }
            for tool in call.tools
        ]
    if call.response_schema is not None:
        form = {"name": SCHEMA_NAME, "schema": dict(call.response_schema)}
        strict = is_strict(call.response_schema)
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {**form, "strict": strict},
        }
    if stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    return overridden(body, call.params)


def read_body(document: Json) -> ModelReply:
    """Return the answer in a response's body: its first choice.

    Raises:
        FailedAnswerError: it is an error.
        MalformedAnswerError: it is not what the API promises.
    """
    choice = _choice(document)
    message = choice.get("message") if choice else None
    if choice is None or not isinstance(message, Mapping):
        error = error_of(document)
        if error is not None:
            raise FailedAnswerError(error)
        raise MalformedAnswerError("it has no 'choices' with a 'message'")
    uses = tuple(_use(call) for call in mappings(message.get("tool_calls")))
    if isinstance(message.get("function_call"), Mapping) and not uses:
        uses = (_use({"function": message["function_call"]}),)
    said = _words(message.get("content"))
    refused = _words(message.get("refusal"))
    stop = _stop(choice.get("finish_reason"), said=said, refused=refused, tools=bool(uses))
    return ModelReply(
        whole_text(said or refused),
        str(document.get("model") or ""),
        stop,
        tokens_of(document.get("usage")) or Tokens(),
        tool_uses=uses,
    )


def tokens_of(usage: Json) -> Tokens | None:
    """Return usage; None when none is told. The API's prompt tokens include cached ones."""
    asked, written = count(usage, "prompt_tokens"), count(usage, "completion_tokens")
    reasoning = count(usage, "completion_tokens_details", "reasoning_tokens")
    total = count(usage, "total_tokens")
    if reasoning and None not in (asked, written, total):
        # A few compatible APIs bill reasoning beside the completion and not in it.
        apart = total == (asked or 0) + (written or 0) + reasoning
        written = (written or 0) + reasoning if apart else written
    read = split_input(
        asked,
        count(usage, "prompt_tokens_details", "cached_tokens"),
        count(usage, "prompt_tokens_details", "cache_write_tokens"),
    )
    tokens = Tokens(
        input=read.input,
        output=written,
        cache_read=read.cache_read,
        cache_write=read.cache_write,
        reasoning=part_of(reasoning, written),
    )
    return None if tokens.total is None else tokens


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)

    def whole(self) -> dict[str, Json]:
        arguments = "".join(self.arguments)
        return {"id": self.id, "function": {"name": self.name, "arguments": arguments}}


class ChatStream(StreamReader):
    """Reads the stream of an answer: its first choice."""

    def __init__(self) -> None:
        super().__init__()
        self._model: Json = None
        self._text: list[str] = []
        self._refusal: list[str] = []
        self._calls: dict[int, _Call] = {}
        self._finish: Json = None
        self._usage: Json = None

    @property
    def whole(self) -> bool:
        """See `StreamReader.whole`."""
        return self._finish is not None or (self.ended and self.started)

    @property
    def tokens(self) -> Tokens | None:
        """See `StreamReader.tokens`."""
        return tokens_of(self._usage)

    def reply(self) -> ModelReply:
        """See `StreamReader.reply`."""
        if not self.whole:
            raise MalformedAnswerError("the stream ended before the answer did")
        message = {
            "content": "".join(self._text),
            "refusal": "".join(self._refusal) or None,
            "tool_calls": [call.whole() for _, call in sorted(self._calls.items())],
        }
        choice = {"message": message, "finish_reason": self._finish}
        return read_body({"model": self._model, "choices": [choice], "usage": self._usage})

    def _event(self, kind: str, data: dict[str, Json]) -> None:  # noqa: ARG002  # has no types
        choice = _choice(data)
        error = error_of(data) if choice is None or data.get("error") else None
        if error is not None:
            raise FailedAnswerError(error)
        self._model = data.get("model") or self._model
        self._usage = data.get("usage") or self._usage
        if choice is None:
            return
        delta = choice.get("delta")
        if isinstance(delta, Mapping):
            self._extend(delta)
        self._finish = choice.get("finish_reason") or self._finish

    def _extend(self, delta: Mapping[str, Json]) -> None:
        for key, pieces in (("content", self._text), ("refusal", self._refusal)):
            words = _words(delta.get(key))
            if words:
                pieces.append(words)
                self.started = True
        for piece in mappings(delta.get("tool_calls")):
            self._call(piece)

    def _call(self, piece: Mapping[str, Json]) -> None:
        self.started = True
        index = piece.get("index")
        # A server that does not number its calls sends each of them whole.
        place = index if isinstance(index, int) else len(self._calls)
        call = self._calls.setdefault(place, _Call())
        call.id = call.id or str(piece.get("id") or "")
        function = piece.get("function")
        if isinstance(function, Mapping):
            call.name = call.name or str(function.get("name") or "")
            call.arguments.append(_written(function.get("arguments")))


def _turns(message: Message) -> Iterator[dict[str, Json]]:
    for result in message.tool_results:
        yield {"role": "tool", "tool_call_id": result.tool_use_id, "content": result.text}
    calls = [
        {
            "id": use.id,
            "type": "function",
            "function": {"name": use.name, "arguments": _written(use.input)},
        }
        for use in message.tool_uses
    ]
    if calls:
        yield {"role": message.role, "content": message.text or None, "tool_calls": calls}
    elif message.text or not message.tool_results:
        yield {"role": message.role, "content": message.text}


def _choice(document: Json) -> Mapping[str, Json] | None:
    choices = document.get("choices") if isinstance(document, Mapping) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, Mapping) else None


def _words(content: Json) -> str:
    if isinstance(content, list):
        parts = [part.get("text") for part in mappings(content)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _use(call: Mapping[str, Json]) -> ToolUse:
    function = call.get("function") or call.get("custom")
    function = function if isinstance(function, Mapping) else {}
    given = _written(function.get("arguments", function.get("input")))
    return ToolUse(
        str(call.get("id") or ""), str(function.get("name") or ""), read_arguments(given)
    )


def _written(arguments: Json) -> str:
    if arguments is None:
        return ""
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _stop(given: Json, *, said: str, refused: str, tools: bool) -> StopReason:
    known = _STOPS.get(given, StopReason.END) if isinstance(given, str) else StopReason.END
    if known is not StopReason.END:
        return known
    if tools:
        return StopReason.TOOL_USE
    return StopReason.REFUSAL if refused and not said else StopReason.END
