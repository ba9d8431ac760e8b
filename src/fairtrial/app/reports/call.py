"""What `calls show` says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

from fairtrial.app.reports.calls import call_json
from fairtrial.app.reports.informing import Informing
from fairtrial.model.call import Message, ModelCall, ModelReply
from fairtrial.model.json import Json
from fairtrial.model.recorded_call import CallBody, RecordedCall


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One event of a stream.

    Attributes:
        name: Its name; empty when it has none.
        data: What it holds: decoded JSON, or a text that is none.
    """

    name: str
    data: Json


@dataclass(frozen=True, slots=True)
class CallReport(Informing):
    """A call in full.

    Attributes:
        call: The call.
        body: Its payloads.
        asked: Its request as a conversation; None when it is no request of a model.
        reply: Its answer; None when it holds none.
        trouble: Why it holds none, or why it is no good one.
        part: The part that was asked for; None is all of it.
        request: Its request's body: decoded JSON, or a text that is none.
        response: Its answer's body, likewise; None when `events` has it.
        events: Its answer's events, when it came as a stream.
    """

    schema: ClassVar[str] = "fairtrial.call/1"

    call: RecordedCall
    body: CallBody
    asked: ModelCall | None
    reply: ModelReply | None
    trouble: str | None
    part: str | None
    request: Json
    response: Json
    events: Sequence[StreamEvent] | None

    def json(self) -> dict[str, Json]:
        """Return the call; with a part, its other parts are null."""
        events = None if self.events is None else [asdict(event) for event in self.events]
        return {
            "schema": self.schema,
            "call": call_json(self.call),
            "conversation": None if self.asked is None or self.part else _conversation(self.asked),
            "answer": None if self.reply is None or self.part else _answer(self.reply),
            "trouble": self.trouble,
            "request_headers": [list(pair) for pair in self.body.request_headers],
            "request": self.request if self.part in (None, "request") else None,
            "response_headers": [list(pair) for pair in self.body.response_headers],
            "response": self.response if self.part in (None, "response") else None,
            "events": events if self.part in (None, "events") else None,
        }


def _conversation(asked: ModelCall) -> dict[str, Json]:
    return {
        "system": asked.system,
        "messages": [_message(message) for message in asked.messages],
        "tools": [tool.name for tool in asked.tools],
        "max_tokens": asked.max_tokens,
        "temperature": asked.temperature,
    }


def _message(message: Message) -> dict[str, Json]:
    return {
        "role": message.role,
        "text": message.text,
        "tool_uses": [asdict(use) for use in message.tool_uses],
        "tool_results": [asdict(result) for result in message.tool_results],
    }


def _answer(reply: ModelReply) -> dict[str, Json]:
    return {
        "text": reply.text,
        "model": reply.model,
        "stop": reply.stop.value,
        "tool_uses": [asdict(use) for use in reply.tool_uses],
    }
