"""Answers that the proxy itself makes, as the bytes that go to the client."""

from __future__ import annotations

import json
from dataclasses import dataclass
from http import HTTPStatus

from fairtrial.recording.exchange import ServedAnswer

SERVED_FROM = "x-fairtrial-served-from"

# What belongs to the bytes on the wire then, or to one connection; not to the answer.
_NOT_SERVED_AGAIN = frozenset(
    {
        "alt-svc",
        "connection",
        "content-encoding",
        "content-length",
        "date",
        "keep-alive",
        "set-cookie",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not passed on.

    Attributes:
        status: HTTP status.
        message: What is wrong and what to do, for the user behind the client.
        headers: Further headers.
    """

    status: HTTPStatus
    message: str
    headers: tuple[tuple[str, str], ...] = ()


def refusal_bytes(refusal: Refusal, *, keep: bool) -> bytes:
    """Return a whole answer in a form that the clients of both APIs show to their user."""
    content = {
        "type": "error",
        "error": {"type": "fairtrial_proxy", "code": None, "message": refusal.message},
    }
    body = json.dumps(content).encode()
    fields = [
        ("content-type", "application/json"),
        ("content-length", str(len(body))),
        *refusal.headers,
    ]
    if not keep:
        fields.append(("connection", "close"))
    return _head(refusal.status, fields) + body


def served_bytes(answer: ServedAnswer, *, head_only: bool) -> bytes:
    """Return a recorded answer: its status, its headers as far as they are about it, its body."""
    body = b"" if head_only else answer.body.response
    fields = [
        (name, value)
        for name, value in answer.body.response_headers
        if name.lower() not in _NOT_SERVED_AGAIN
    ]
    fields += [("content-length", str(len(answer.body.response))), (SERVED_FROM, answer.call.id)]
    return _head(answer.call.status or HTTPStatus.OK, fields) + body


def _head(status: int, fields: list[tuple[str, str]]) -> bytes:
    try:
        reason = HTTPStatus(status).phrase
    except ValueError:
        reason = ""
    lines = [f"HTTP/1.1 {int(status)} {reason}", *(f"{name}: {value}" for name, value in fields)]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")
