"""The bodies of OTLP over HTTP: two encodings, perhaps compressed, answered in the same one."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any, Final, TypeVar

from fastapi.responses import Response
from google.protobuf import json_format
from google.protobuf.message import DecodeError, Message

from fairtrial.http.otlp.measuring import has_more_messages

PROTOBUF: Final = "application/x-protobuf"
JSON: Final = "application/json"
_LARGEST: Final = 64 * 1024 * 1024
"""Bytes of a body when it is no longer compressed."""
_MOST_MESSAGES: Final = 400_000
"""Spans, attributes, values and the like of a body: each takes a hundred bytes, however short."""
_MOST_AT_ONCE: Final = 50_000
_IDS: Final = frozenset({"traceId", "spanId", "parentSpanId"})
_DEEPEST: Final = 200
_CODES: Final = {HTTPStatus.BAD_REQUEST: 3, HTTPStatus.REQUEST_ENTITY_TOO_LARGE: 8}
_UNAVAILABLE: Final = 14

_NO_MESSAGE: Final = (
    DecodeError,
    json_format.Error,
    AttributeError,
    RecursionError,
    TypeError,
    ValueError,
)

_M = TypeVar("_M", bound=Message)


class BodyError(Exception):
    """A body that is not taken.

    Attributes:
        status: The HTTP status.
        reason: Why.
    """

    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


def encoding_of(content_type: str) -> str:
    """Return the encoding that a content type names.

    Raises:
        BodyError: it is none of the two.
    """
    named = content_type.partition(";")[0].strip().lower()
    if named not in (PROTOBUF, JSON):
        raise BodyError(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            f"the content type is {named or 'not told'}; {PROTOBUF} and {JSON} are taken",
        )
    return named


def unpacked(body: bytes, coding: str) -> bytes:
    """Return a body that is no longer compressed.

    Raises:
        BodyError: the coding is not known, the body is torn, or it unpacks to too much.
    """
    named = coding.strip().lower()
    if named in ("", "identity"):
        return body
    if named not in ("gzip", "deflate"):
        raise BodyError(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"the coding {named} is not taken; gzip is"
        )
    # 32 more than the window: gzip and zlib are told apart by their head.
    unpacking = zlib.decompressobj(zlib.MAX_WBITS + 32)
    try:
        found = unpacking.decompress(body, _LARGEST + 1)
    except zlib.error as error:
        raise BodyError(HTTPStatus.BAD_REQUEST, f"the body is no {named}: {error}") from None
    if len(found) > _LARGEST:
        raise BodyError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"the body unpacks to more than {_LARGEST:,} bytes",
        )
    if not unpacking.eof:
        raise BodyError(HTTPStatus.BAD_REQUEST, f"the {named} of the body is torn")
    return found


def decoded(kind: type[_M], body: bytes, encoding: str) -> _M:
    """Return the message of a body.

    Raises:
        BodyError: it is none.
    """
    message = kind()
    if _is_crowded(kind, body, encoding):
        raise BodyError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"the body holds more than {_MOST_MESSAGES:,} objects; send smaller batches",
        )
    try:
        if encoding == PROTOBUF:
            message.ParseFromString(body)
        else:
            found = json.loads(body)
            if not isinstance(found, dict):
                raise TypeError("it is no object")  # told as what does not fit is
            json_format.ParseDict(_with_ids(found, _DEEPEST), message, ignore_unknown_fields=True)
    except _NO_MESSAGE as error:
        raise BodyError(
            HTTPStatus.BAD_REQUEST, f"the body is no {kind.DESCRIPTOR.name}: {str(error)[:200]}"
        ) from None
    return message


def check_count(counts: Iterable[int]) -> None:
    """Refuse more spans or records at once than are read while a client waits.

    Raises:
        BodyError: there are too many.
    """
    if sum(counts) > _MOST_AT_ONCE:
        raise BodyError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"the body holds more than {_MOST_AT_ONCE:,} spans or records; send smaller batches",
        )


def _is_crowded(kind: type[Message], body: bytes, encoding: str) -> bool:
    if encoding == PROTOBUF:
        return has_more_messages(kind.DESCRIPTOR, body, _MOST_MESSAGES)
    return body.count(b"{") + body.count(b"[") > _MOST_MESSAGES


def _with_ids(value: Any, depth: int) -> Any:
    """Return JSON as protobuf reads it: ids are base64 there, and a text has no half of a pair.

    OTLP writes ids hexadecimal; programs that cut texts short leave such halves.
    """
    if depth == 0:
        raise ValueError("it is nested too deeply")
    if isinstance(value, str):
        return whole_text(value)
    if isinstance(value, list):
        return [_with_ids(item, depth - 1) for item in value]
    if isinstance(value, dict):
        return {
            whole_text(name): _id(item) if name in _IDS else _with_ids(item, depth - 1)
            for name, item in value.items()
        }
    return value


def whole_text(text: str) -> str:
    """Return a text that can be kept: half a surrogate pair becomes `?`."""
    return text.encode("utf-8", "replace").decode()


def _id(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return base64.b64encode(binascii.unhexlify(value)).decode()
    except (binascii.Error, ValueError):
        raise ValueError(f"{value[:40]!r} is no hexadecimal id") from None


def encoded(message: Message, encoding: str, status: HTTPStatus = HTTPStatus.OK) -> Response:
    """Return a message as an answer in an encoding."""
    if encoding == PROTOBUF:
        return Response(message.SerializeToString(), status, media_type=PROTOBUF)
    text = json_format.MessageToJson(message, indent=None)
    return Response(text, status, media_type=JSON)


def refusal(error: BodyError, encoding: str) -> Response:
    """Return the answer to a body that is not taken: a `google.rpc.Status`."""
    return status_answer(error.status, error.reason, encoding)


def status_answer(status: HTTPStatus, reason: str, encoding: str) -> Response:
    """Return a `google.rpc.Status`; it has two fields, and they are written here."""
    code = _CODES.get(status, _UNAVAILABLE if status >= 500 else 3)
    if encoding == JSON:
        return Response(json.dumps({"code": code, "message": reason}), status, media_type=JSON)
    text = reason.encode("utf-8", "replace")
    body = b"\x08" + _varint(code) + b"\x12" + _varint(len(text)) + text
    return Response(body, status, media_type=PROTOBUF)


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    found.append(number)
    return bytes(found)
