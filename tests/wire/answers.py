"""Answers in the words of each API, written by the scripted server's own writers."""

from __future__ import annotations

import json

from fairtrial.model.call import Api
from fairtrial.model.json import Json
from fairtrial.testing.model_server import ScriptedAnswer, ScriptedRequest
from fairtrial.testing.model_server import anthropic_messages as anthropic
from fairtrial.testing.model_server import openai_chat as chat
from fairtrial.testing.model_server import openai_responses as responses
from fairtrial.testing.model_server.events import DONE


def request(api: Api) -> ScriptedRequest:
    body: Json = {"model": "m-1", "stream": True, "stream_options": {"include_usage": True}}
    return ScriptedRequest("POST", "/", {}, body, api, 0)


def whole(api: Api, answer: ScriptedAnswer) -> bytes:
    """Return the body of an answer."""
    write = {
        Api.ANTHROPIC_MESSAGES: anthropic.message,
        Api.OPENAI_RESPONSES: responses.response,
        Api.OPENAI_CHAT: chat.completion,
    }[api]
    return json.dumps(write(request(api), answer)).encode()


def stream(api: Api, answer: ScriptedAnswer) -> bytes:
    """Return the stream of an answer."""
    write = {
        Api.ANTHROPIC_MESSAGES: anthropic.events,
        Api.OPENAI_RESPONSES: responses.events,
        Api.OPENAI_CHAT: chat.chunks,
    }[api]
    events = b"".join(event.written() for event in write(request(api), answer))
    return events + (DONE if api is Api.OPENAI_CHAT else b"")
