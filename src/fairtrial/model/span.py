"""What a program told by OpenTelemetry: a span, or a record of a log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fairtrial.model.json import Json


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """Something that happened within a span.

    Attributes:
        name: What.
        at: When, seconds since 1970; None is unknown.
        attributes: What is told of it.
    """

    name: str
    at: float | None
    attributes: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Span:
    """A span, or a record of a log.

    Attributes:
        name: Its name; of a record that of its event.
        trace: Id of its trace, hexadecimal; empty for a record outside of any.
        id: Its id, hexadecimal; of a record that of the span that it belongs to, or empty.
        parent: Id of the span around it; None at the top.
        log: It is a record of a log.
        at: When it began, seconds since 1970; None is unknown.
        ended_at: When it ended; of a record None.
        attributes: What is told of it.
        body: Of a record, what it says.
        error: What went wrong; None when nothing did, as far as it tells.
        events: What happened within it.
        resource: What is told of the program.
        scope: The library that told.
    """

    name: str
    trace: str = ""
    id: str = ""
    parent: str | None = None
    log: bool = False
    at: float | None = None
    ended_at: float | None = None
    attributes: Mapping[str, Json] = field(default_factory=dict)
    body: Json = None
    error: str | None = None
    events: tuple[SpanEvent, ...] = ()
    resource: Mapping[str, Json] = field(default_factory=dict)
    scope: str = ""
