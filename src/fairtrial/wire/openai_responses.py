"""The OpenAI Responses API."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from fairtrial.model.call import Message, ModelCall, ModelReply, StopReason, ToolUse
from fairtrial.model.json import Json
from fairtrial.model.task import Tokens
from fairtrial.wire.counts import count, part_of, split_input
from fairtrial.wire.failures import ApiError, FailedAnswerError, MalformedAnswerError, error_of
from fairtrial.wire.json_text import mappings, read_arguments, whole_text
from fairtrial.wire.merging import overridden
from fairtrial.wire.schemas import is_strict
from fairtrial.wire.streaming import StreamReader

SCHEMA_NAME: Final = "answer"
"""What a response schema is called: the API wants a name."""

_CUT_SHORT: Final = {
    "max_output_tokens": StopReason.LENGTH,
    "content_filter": StopReason.REFUSAL,
}
_FIRST_OF_AN_ANSWER: Final = (
    "response.output_text.delta",
    "response.refusal.delta",
    "response.function_call_arguments.delta",
    "response.custom_tool_call_input.delta",
)
_CALLS: Final = {"function_call": "arguments", "custom_tool_call": "input"}


def request_body(call: ModelCall, model: str, *, stream: bool) -> dict[str, Json]:
    """Return the body of a request; the API is asked not to keep the answer."""
    body: dict[str, Json] = {
        "model": model,
        "input": [item for message in call.messages for item in _items(message)],
        "max_output_tokens": call.max_tokens,
        "store": False,
    }
    if call.system is not None:
        body["instructions"] = call.system
    if call.temperature is not None:
        body["temperature"] = call.temperature
    if call.tools:
        body["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": dict(tool.input_schema),
                "strict": False,
            }
            for tool in call.tools
        ]
    if call.response_schema is not None:
        form = {"name": SCHEMA_NAME, "schema": dict(call.response_schema)}
        strict = is_strict(call.response_schema)
        body["text"] = {"format": {"type": "json_schema", **form, "strict": strict}}
    if stream:
        body["stream"] = True
    return overridden(body, call.params)


def read_body(document: Json) -> ModelReply:
    """Return the answer in a response's body.

    Raises:
        FailedAnswerError: it is an error.
        MalformedAnswerError: it is not what the API promises.
    """
    output = document.get("output") if isinstance(document, Mapping) else None
    status = document.get("status") if isinstance(document, Mapping) else None
    if status in ("failed", "cancelled") or not isinstance(output, list):
        error = error_of(document)
        if error is None and status == "cancelled":
            error = ApiError("the response was cancelled")
        if error is not None or status == "failed":
            raise FailedAnswerError(error or ApiError("the response failed, without a reason"))
        raise MalformedAnswerError("it has no 'output'")
    if status in ("queued", "in_progress"):
        raise MalformedAnswerError(f"it is not finished (status {status})")
    items = mappings(output)
    parts = list(_parts(items))
    said = "".join(text for kind, text in parts if kind == "output_text")
    refused = "".join(text for kind, text in parts if kind == "refusal")
    uses = tuple(_use(item) for item in items if str(item.get("type")) in _CALLS)
    return ModelReply(
        whole_text(said or refused),
        str(document.get("model") or ""),
        _stop(document, said=bool(said), refused=bool(refused), tools=bool(uses)),
        tokens_of(document.get("usage")) or Tokens(),
        tool_uses=uses,
    )


def tokens_of(usage: Json) -> Tokens | None:
    """Return usage; None when none is told. The API's input tokens include cached ones."""
    written = count(usage, "output_tokens")
    read = split_input(
        count(usage, "input_tokens"),
        count(usage, "input_tokens_details", "cached_tokens"),
        count(usage, "input_tokens_details", "cache_write_tokens"),
    )
    reasoning = count(usage, "output_tokens_details", "reasoning_tokens")
    tokens = Tokens(
        input=read.input,
        output=written,
        cache_read=read.cache_read,
        cache_write=read.cache_write,
        reasoning=part_of(reasoning, written),
    )
    return None if tokens.total is None else tokens


class ResponseStream(StreamReader):
    """Reads the stream of an answer."""

    def __init__(self) -> None:
        super().__init__()
        self._final: Mapping[str, Json] | None = None
        self._items: dict[int, Json] = {}

    @property
    def whole(self) -> bool:
        """See `StreamReader.whole`."""
        return self._final is not None

    @property
    def tokens(self) -> Tokens | None:
        """See `StreamReader.tokens`."""
        return None if self._final is None else tokens_of(self._final.get("usage"))

    def reply(self) -> ModelReply:
        """See `StreamReader.reply`."""
        if self._final is None:
            raise MalformedAnswerError("the stream ended before the answer did")
        # Some servers leave the output out of the last event: it came item by item.
        output = self._final.get("output") or [item for _, item in sorted(self._items.items())]
        return read_body({**self._final, "output": output})

    def _event(self, kind: str, data: dict[str, Json]) -> None:
        if kind in _FIRST_OF_AN_ANSWER:
            self.started = True
        elif kind == "response.output_item.done":
            index = data.get("output_index")
            place = index if isinstance(index, int) else len(self._items)
            self._items[place] = data.get("item")
        elif kind in ("response.completed", "response.incomplete", "response.failed"):
            response = data.get("response")
            self._final = response if isinstance(response, Mapping) else {}
            self.ended = True
        elif kind == "error":
            raise FailedAnswerError(
                error_of(data) or ApiError("an error without a message", "server_error")
            )


def _items(message: Message) -> Iterator[dict[str, Json]]:
    for result in message.tool_results:
        yield {
            "type": "function_call_output",
            "call_id": result.tool_use_id,
            "output": result.text,
        }
    if message.text or not (message.tool_uses or message.tool_results):
        yield {"role": message.role, "content": message.text}
    for use in message.tool_uses:
        written = use.input if isinstance(use.input, str) else json.dumps(use.input)
        yield {
            "type": "function_call",
            "call_id": use.id,
            "name": use.name,
            "arguments": written,
        }


def _parts(items: list[Mapping[str, Json]]) -> Iterator[tuple[str, str]]:
    for item in items:
        if item.get("type") == "message":
            for part in mappings(item.get("content")):
                yield str(part.get("type")), str(part.get("text") or part.get("refusal") or "")


def _use(item: Mapping[str, Json]) -> ToolUse:
    given = str(item.get(_CALLS[item["type"]]) or "")
    space, name = item.get("namespace"), str(item.get("name") or "")
    return ToolUse(
        str(item.get("call_id") or item.get("id") or ""),
        f"{space}.{name}" if space else name,
        read_arguments(given) if item["type"] == "function_call" else whole_text(given),
    )


def _stop(document: Mapping[str, Json], *, said: bool, refused: bool, tools: bool) -> StopReason:
    details = document.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, Mapping) else None
    if document.get("status") == "incomplete" and str(reason) in _CUT_SHORT:
        return _CUT_SHORT[str(reason)]
    if tools:
        return StopReason.TOOL_USE
    return StopReason.REFUSAL if refused and not said else StopReason.END
