"""Spans and records on their way into the store: chosen, named, without secrets."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import msgspec

from fairtrial.model.span import Span
from fairtrial.ports.spans import SpanPart
from fairtrial.sessions.spans.kinds import Kind, agent_name, kind_of, session_name

_BEGINS = frozenset({Kind.MODEL, Kind.TOOL, Kind.AGENT})
_OWN = frozenset({Kind.CLAUDE_CODE, Kind.CODEX})
_ENCODE = msgspec.json.Encoder().encode
_DECODER = msgspec.json.Decoder(Span)
_RESOURCE = (
    "host.name",
    "process.working_directory",
    "service.name",
    "service.version",
    "vcs.ref.head.name",
    "vcs.ref.head.revision",
)
"""What of the program is looked at; the rest is not kept."""
_KIND = ("event.name", "gen_ai.operation.name")
"""What tells of which kind a span is, and is kept of all."""


def parts_of(spans: Iterable[Span], clean: Callable[[bytes], bytes]) -> Sequence[SpanPart]:
    """Return what is to be kept of spans and records.

    Args:
        spans: They, as they came.
        clean: Takes secrets out of a text.
    """
    return [_part(span, clean) for span in spans]


def span_of(data: bytes) -> Span:
    """Return the span that a part was made of."""
    return _DECODER.decode(data)


def _part(span: Span, clean: Callable[[bytes], bytes]) -> SpanPart:
    kind = kind_of(span)
    resource = {name: span.resource[name] for name in _RESOURCE if name in span.resource}
    kept = replace(span, resource=resource)
    if kind in (Kind.UNKNOWN, Kind.SILENT):  # where it stands, and that it was there
        attributes = {name: span.attributes[name] for name in _KIND if name in span.attributes}
        kept = replace(kept, attributes=attributes, body=None, events=())
    # What is of no session by itself, e.g. a request of a web server, takes no name from it.
    named = kind in _BEGINS or kind in _OWN or kind is Kind.MESSAGE
    raw = _ENCODE(kept)
    data = clean(raw)
    told = span if data == raw else span_of(data)  # names are kept too
    return SpanPart(
        key=_key(span),
        trace=span.trace,
        session=session_name(told) if named else None,
        agent=agent_name(told, kind),
        begins=kind in _BEGINS,
        data=data,
    )


def _key(span: Span) -> str:
    """Return what is the same when a span or a record is sent again."""
    if not span.log and span.trace and span.id:
        return f"{span.trace}:{span.id}"
    # Two records of one moment that say the same are one that was sent twice.
    told = (span.trace, span.id, span.name, span.at, span.attributes, span.body)
    return "log:" + hashlib.blake2b(_ENCODE(told), digest_size=16).hexdigest()
