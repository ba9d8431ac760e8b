"""The OpenAI Chat Completions API: answers and the chunks of a stream.

Errors are those of `openai_responses`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from fairtrial.model.call import StopReason
from fairtrial.model.json import Json
from fairtrial.model.task import Tokens
from fairtrial.testing.model_server import openai_responses
from fairtrial.testing.model_server.events import Event
from fairtrial.testing.model_server.script import ScriptedAnswer, ScriptedRequest

_CREATED: Final = 1_700_000_000
_STOPS = {
    StopReason.END: "stop",
    StopReason.TOOL_USE: "tool_calls",
    StopReason.LENGTH: "length",
    StopReason.REFUSAL: "content_filter",
}


def completion(request: ScriptedRequest, answer: ScriptedAnswer) -> dict[str, Json]:
    """Return the whole answer."""
    said: dict[str, Json] = {"role": "assistant", "content": answer.words or None, "refusal": None}
    if answer.thinking is not None:
        said["reasoning_content"] = answer.thinking
    if answer.tool_uses:
        said["tool_calls"] = _calls(answer)
    choice = {"index": 0, "message": said, "logprobs": None, "finish_reason": _stop(answer)}
    counts = usage(answer.tokens)
    return {
        **_shell(request, answer, "chat.completion"),
        "choices": [choice],
        **({} if counts is None else {"usage": counts}),
    }


def usage(tokens: Tokens) -> dict[str, Json] | None:
    """Return counts in the API's words; None when none is known."""
    counts = openai_responses.usage(tokens)
    if counts is None:
        return None
    return {
        "prompt_tokens": counts["input_tokens"],
        "completion_tokens": counts["output_tokens"],
        "total_tokens": counts["total_tokens"],
        "prompt_tokens_details": counts["input_tokens_details"],
        "completion_tokens_details": counts["output_tokens_details"],
    }


def chunks(request: ScriptedRequest, answer: ScriptedAnswer) -> Iterator[Event]:
    """Yield the chunks of a stream."""
    shell = _shell(request, answer, "chat.completion.chunk")
    with_usage = _wants_usage(request.body)

    def chunk(delta: dict[str, Json], finish: str | None = None) -> Event:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        counted = {"usage": None} if with_usage else {}
        return Event({**shell, "choices": [choice], **counted})

    yield chunk({"role": "assistant", "content": "", "refusal": None})
    for piece in answer.pieces(answer.thinking or ""):
        yield chunk({"reasoning_content": piece})
    for piece in answer.pieces(answer.words):
        yield chunk({"content": piece})
    for index, call in enumerate(_calls(answer)):
        function = call["function"]
        head = {**call, "function": {"name": function["name"], "arguments": ""}}
        yield chunk({"tool_calls": [{"index": index, **head}]})
        for piece in answer.pieces(function["arguments"]):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, _stop(answer))
    if with_usage:
        yield Event({**shell, "choices": [], "usage": usage(answer.tokens)})


def error_event(answer: ScriptedAnswer) -> Event:
    """Return the chunk that breaks a stream off."""
    return Event(openai_responses.error(answer, 500))


def _shell(request: ScriptedRequest, answer: ScriptedAnswer, kind: str) -> dict[str, Json]:
    return {
        "id": f"chatcmpl-scripted{request.number:04}",
        "object": kind,
        "created": _CREATED,
        "model": answer.model or request.model,
        "system_fingerprint": None,
    }


def _calls(answer: ScriptedAnswer) -> list[dict[str, Json]]:
    return [
        {
            "id": use.id,
            "type": "function",
            "function": {
                "name": use.name,
                "arguments": use.input if isinstance(use.input, str) else json.dumps(use.input),
            },
        }
        for use in answer.tool_uses
    ]


def _stop(answer: ScriptedAnswer) -> str:
    ending = answer.ending
    return _STOPS[ending] if isinstance(ending, StopReason) else ending


def _wants_usage(body: Json) -> bool:
    options = body.get("stream_options") if isinstance(body, Mapping) else None
    return isinstance(options, Mapping) and options.get("include_usage") is True
