"""Every wire format by its name: which one a path belongs to, and what an answer says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from fairtrial.model.call import Api, ModelReply
from fairtrial.model.json import Json
from fairtrial.model.task import Tokens
from fairtrial.wire import anthropic_messages, openai_chat, openai_responses
from fairtrial.wire.failures import FailedAnswerError, MalformedAnswerError
from fairtrial.wire.json_text import NoJsonError, read_json
from fairtrial.wire.streaming import StreamReader

PATHS: Final[Mapping[Api, str]] = {
    Api.ANTHROPIC_MESSAGES: "/v1/messages",
    Api.OPENAI_RESPONSES: "/responses",
    Api.OPENAI_CHAT: "/chat/completions",
}
"""Where each API is, after its base URL: OpenAI's base URLs hold `/v1`, Anthropic's do not."""

_ENDS: Final = {
    "/messages": Api.ANTHROPIC_MESSAGES,
    "/chat/completions": Api.OPENAI_CHAT,
    "/responses": Api.OPENAI_RESPONSES,
}
_READERS: Final[Mapping[Api, Callable[[], StreamReader]]] = {
    Api.ANTHROPIC_MESSAGES: anthropic_messages.MessageStream,
    Api.OPENAI_RESPONSES: openai_responses.ResponseStream,
    Api.OPENAI_CHAT: openai_chat.ChatStream,
}
_BODIES: Final[Mapping[Api, Callable[[Json], ModelReply]]] = {
    Api.ANTHROPIC_MESSAGES: anthropic_messages.read_body,
    Api.OPENAI_RESPONSES: openai_responses.read_body,
    Api.OPENAI_CHAT: openai_chat.read_body,
}
_COUNTS: Final[Mapping[Api, Callable[[Json], Tokens | None]]] = {
    Api.ANTHROPIC_MESSAGES: anthropic_messages.tokens_of,
    Api.OPENAI_RESPONSES: openai_responses.tokens_of,
    Api.OPENAI_CHAT: openai_chat.tokens_of,
}


def api_of(path: str) -> Api | None:
    """Return the API that a path, with or without a query, asks for an answer of; else None."""
    bare = path.partition("?")[0].rstrip("/")
    return next((api for end, api in _ENDS.items() if bare.endswith(end)), None)


def stream_reader(api: Api) -> StreamReader:
    """Return a reader for one stream."""
    return _READERS[api]()


def read_reply(api: Api, data: bytes) -> ModelReply:
    """Return the answer in a response's whole body.

    Raises:
        FailedAnswerError: it is an error.
        MalformedAnswerError: it is no JSON, or not what the API promises.
    """
    try:
        document = read_json(data)
    except NoJsonError as error:
        raise MalformedAnswerError(f"it is not valid JSON ({error})") from None
    return _BODIES[api](document)


def read_stream(api: Api, data: bytes) -> ModelReply:
    """Return the answer in a whole stream.

    Raises:
        FailedAnswerError: it is an error.
        MalformedAnswerError: it is not whole, or not what the API promises.
    """
    reader = stream_reader(api)
    reader.feed(data)
    reader.finish()
    return reader.reply()


def usage_of(api: Api, data: bytes, *, streamed: bool) -> Tokens | None:
    """Return the usage that an answer reports; None when it reports none.

    A cut or broken answer reports what it told before.
    """
    if not streamed:
        try:
            document = read_json(data)
        except NoJsonError:
            return None
        return _COUNTS[api](document.get("usage") if isinstance(document, Mapping) else None)
    reader = stream_reader(api)
    try:
        reader.feed(data)
        reader.finish()
    except (FailedAnswerError, MalformedAnswerError):
        pass
    return reader.tokens
