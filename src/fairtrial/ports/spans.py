"""What keeps the spans that sessions are made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class SpanPart:
    """A span or a record, ready to be kept.

    Attributes:
        key: The same when it is sent again.
        trace: Its trace; empty for a record outside of any.
        session: What the program calls the session; None when this part does not tell.
        agent: What the program is called.
        begins: Whether a session is made for its trace; else it is kept only with one that is
            there, or comes with it.
        data: The part as JSON, without secrets.
    """

    key: str
    trace: str
    session: str | None
    agent: str
    begins: bool
    data: bytes


@dataclass(frozen=True, slots=True)
class Received:
    """What became of parts.

    Attributes:
        kept: How many were new and are kept.
        again: How many were there already, or are of a session that was removed.
        homeless: How many belong to no session.
        refused: How many were too many for their session.
    """

    kept: int = 0
    again: int = 0
    homeless: int = 0
    refused: int = 0


@dataclass(frozen=True, slots=True)
class SpanSession:
    """A session that spans tell of.

    Attributes:
        agent: What the program is called.
        native_id: What it calls the session; else the id of the trace.
        version: Grows with each part.
        size: Bytes of its parts, before they were compressed.
    """

    agent: str
    native_id: str
    version: int
    size: int


class SpanStore(Protocol):
    """Keeps spans as they came, each once; those of a session are found together.

    A trace that nobody names a session of is a session by itself, until a part of it does; what was
    told of it is removed then.
    """

    def add(self, parts: Sequence[SpanPart]) -> Received:
        """Keep parts, in one transaction.

        Raises:
            StoreError: the store cannot be written.
        """
        ...

    def untold(self) -> Sequence[SpanSession]:
        """Return the sessions that got parts since they were last told."""
        ...

    def parts(self, native_id: str) -> Iterator[bytes]:
        """Yield the parts of a session, as JSON, in any order."""
        ...

    def told(self, session: SpanSession) -> None:
        """Note that a session was told as of this version."""
        ...
