"""How much a body unfolds to, before it is: two bytes of it can be a message of a hundred."""

from __future__ import annotations

from typing import Any, Final

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_SIZES: Final = {_FIXED64: 8, _FIXED32: 4}


def has_more_messages(descriptor: Any, body: bytes, most: int) -> bool:
    """Return whether a body in protobuf's wire format holds more messages than so many.

    Of what is torn only the part before is counted; it is refused by whoever reads it.

    Args:
        descriptor: The descriptor of the body's message.
        body: The body.
        most: So many messages within it are not too many.
    """
    waiting = [(_messages_of(descriptor), 0, len(body))]
    known = {descriptor.full_name: waiting[0][0]}
    found = 0
    while waiting:
        fields, at, end = waiting.pop()
        while at < end:
            key = body[at]
            at += 1
            if key > 0x7F:  # of more bytes than one
                key, at = _number(body, at - 1, end)
            wire = key & 7
            if wire != _BYTES:
                at = _number(body, at, end)[1] if wire == _VARINT else at + _SIZES.get(wire, 0)
                continue
            length, at = _number(body, at, end)
            inner = fields.get(key >> 3)
            if inner is not None:
                found += 1
                if found > most:
                    return True
                if length:
                    if inner.full_name not in known:
                        known[inner.full_name] = _messages_of(inner)
                    waiting.append((known[inner.full_name], at, min(end, at + length)))
            at += length
    return False


def _messages_of(descriptor: Any) -> dict[int, Any]:
    """Return the descriptors of the fields that are messages, by their numbers."""
    return {
        field.number: field.message_type
        for field in descriptor.fields
        if field.message_type is not None
    }


def _number(body: bytes, at: int, end: int) -> tuple[int, int]:
    """Return the varint at a place, and the place after it."""
    if at < end and body[at] < 0x80:
        return body[at], at + 1
    found = shift = 0
    while at < end:
        byte = body[at]
        at += 1
        found |= (byte & 0x7F) << shift
        if byte < 0x80 or shift > 63:
            break
        shift += 7
    return found, at
