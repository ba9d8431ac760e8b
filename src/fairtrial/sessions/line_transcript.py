"""What every transcript that is written line by line has in common."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import ClassVar, Generic, Protocol, TypeVar

import msgspec

from fairtrial.model.session import Result, SessionEvent, TranscriptFacts
from fairtrial.ports.sessions import Clean
from fairtrial.sessions.account import Account
from fairtrial.sessions.amounts import sound
from fairtrial.sessions.tolerant import unglued


class Progress(Protocol):
    """What a reader must remember between two lines, and so from one sync to the next."""

    account: Account


S = TypeVar("S", bound=Progress)


class LineTranscript(ABC, Generic[S]):
    """Reads one record a line, and counts the lines that hold none. See `Transcript`.

    Attributes:
        agent: Who writes such transcripts.
        skip: How lines begin that tell nothing; they are not even decoded.
    """

    agent: ClassVar[str]
    skip: ClassVar[re.Pattern[bytes] | None] = None

    def __init__(self, clean: Clean, state: S) -> None:
        self._clean = clean
        self._state = state
        self._account = state.account

    @abstractmethod
    def _read(self, line: bytes) -> list[SessionEvent] | None:
        """Return the events of a line; None when it holds no record."""

    def feed(self, line: bytes) -> list[SessionEvent]:
        """See `Transcript.feed`."""
        self._account.records += 1
        if self.skip is not None and self.skip.match(line):
            return []
        line = self._clean(line)
        events = self._noted(line)
        return self._unread(line) if events is None else events

    def clipped(self) -> None:
        """See `Transcript.clipped`."""
        self._account.records += 1
        self._account.clipped_lines += 1

    def facts(self) -> TranscriptFacts:
        """See `Transcript.facts`."""
        return self._account.facts(self.agent)

    def state(self) -> bytes:
        """See `Transcript.state`."""
        return msgspec.msgpack.encode(self._state)

    def _noted(self, line: bytes) -> list[SessionEvent] | None:
        events = self._read(line)
        if events is None:
            return None
        return [self._accounted(event) for event in events]

    def _accounted(self, event: SessionEvent) -> SessionEvent:
        event = sound(event)
        if isinstance(event, Result) and event.changes:
            event = self._first_told(event)
        self._account.note(event)
        return event

    def _first_told(self, event: Result) -> Result:
        """Return a result that tells what a file was only where it was changed for the first time.

        What stood in it later is of the agent's own making.
        """
        known = self._account.changed
        if not any(change.path in known for change in event.changes):
            return event
        changes = tuple(
            replace(change, before=None, created=False) if change.path in known else change
            for change in event.changes
        )
        return replace(event, changes=changes)

    def _unread(self, line: bytes) -> list[SessionEvent]:
        if not line.strip(b"\0\r\t "):
            self._account.records -= 1
            return []
        self._account.bad_lines += 1
        found: list[SessionEvent] = []
        for part in unglued(line):
            self._account.records += 1
            found += self._noted(part) or ()
        return found
