"""A session that spans tell of, read as transcripts are: whole, each time that something came."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from errno import ENOENT
from pathlib import Path
from typing import Final

import msgspec

from fairtrial.model.session import (
    MAIN,
    SessionEvent,
    TranscriptFacts,
    TurnEnd,
    TurnEndReason,
    Usage,
)
from fairtrial.model.span import Span
from fairtrial.ports.sessions import Clean, Transcript, TranscriptSource
from fairtrial.ports.spans import SpanSession, SpanStore
from fairtrial.ports.transcript_files import FoundFile, Line, Place
from fairtrial.sessions.account import Account
from fairtrial.sessions.finding import NewFile
from fairtrial.sessions.spans.incoming import span_of
from fairtrial.sessions.spans.kinds import (
    CODEX,
    Kind,
    count,
    event_name,
    is_claude_span,
    kind_of,
    text,
)
from fairtrial.sessions.spans.own_records import record_events
from fairtrial.sessions.spans.telling import events_of

PATH: Final = "otel:"
"""What stands for the file of such a session; its own id follows."""

MOVED: Final = "its spans moved to another session"

_VERSION: Final = 1


def files_of(store: SpanStore, sessions: Iterable[SpanSession]) -> list[NewFile]:
    """Return sessions as files for a `Syncer`."""
    return [
        NewFile(SpanReader(store, session), FoundFile(f"{PATH}{session.native_id}", 0, 0, 0))
        for session in sessions
    ]


class SpanReader:
    """Reads one session. See `SessionReader`; it has no files and recognises none."""

    version = _VERSION

    def __init__(self, store: SpanStore, session: SpanSession) -> None:
        self._store = store
        self._session = session
        self.agent = session.agent

    def places(self, environ: Mapping[str, str], home: Path) -> Sequence[Place]:
        """Return nothing: spans are in the store."""
        del environ, home
        return ()

    def files(self, folder: Path) -> Iterator[FoundFile]:
        """Yield nothing."""
        del folder
        return iter(())

    def recognises(self, head: Sequence[Mapping[str, object]]) -> bool:
        """Return False."""
        del head
        return False

    def source(self, path: str) -> TranscriptSource:
        """Return what yields the spans."""
        del path
        return _Spans(self._store, self._session)

    def start(self, path: Path, clean: Clean) -> Transcript:
        """Begin to read the session. Secrets were taken out before it was kept."""
        del path, clean
        return _SpanTranscript(self._session)

    def resume(self, path: Path, clean: Clean, state: bytes) -> Transcript:
        """Begin again."""
        del state
        return self.start(path, clean)


class _Spans:
    """The spans of a session as the only record of a transcript."""

    def __init__(self, store: SpanStore, session: SpanSession) -> None:
        self._store = store
        self._session = session

    def inside(self) -> Sequence[FoundFile]:
        return ()

    def lines(self, offset: int) -> Iterator[Line]:
        del offset
        parts = b",".join(self._store.parts(self._session.native_id))
        if not parts:
            raise FileNotFoundError(ENOENT, MOVED)
        # The offset is small: where a transcript of the same session is known too, it counts more.
        yield Line(b"[" + parts + b"]", 1)

    def tail(self, offset: int) -> bytes:
        del offset
        return b""


class _SpanTranscript:
    """Reads all spans of a session at once."""

    def __init__(self, session: SpanSession) -> None:
        self._agent = session.agent
        self._account = Account(native_id=session.native_id)

    def feed(self, line: bytes) -> Iterable[SessionEvent]:
        """Return what happened."""
        spans = [span_of(bytes(part)) for part in _PARTS.decode(line)]
        spans.sort(key=_place)
        self._account.records += len(spans)
        for span in spans:
            self._look(span)
        own = list(self._own(spans))
        events = [*own, *events_of([span for span in spans if not (own and is_claude_span(span))])]
        for event in events:
            self._account.seen_at(event.at)
            self._account.note(event)
        return events

    def _look(self, span: Span) -> None:
        account, resource = self._account, span.resource
        version = text(resource, "service.version") or text(span.attributes, "app.version")
        account.agent_version = version or account.agent_version
        account.cwd = account.cwd or text(resource, "process.working_directory")
        account.branch = account.branch or text(resource, "vcs.ref.head.name")
        account.commit = account.commit or text(resource, "vcs.ref.head.revision")
        if kind_of(span) is Kind.UNKNOWN:
            account.unknown_record(event_name(span) or "a record without a name")

    def _own(self, spans: Sequence[Span]) -> Iterator[SessionEvent]:
        last: SessionEvent | None = None
        for place, span in enumerate(spans):
            if kind_of(span) in (Kind.CLAUDE_CODE, Kind.CODEX):
                events = record_events(span, place)
                if events is None:
                    self._account.unknown_record(event_name(span))
                for event in events or ():
                    last = event
                    yield event
        if self._agent == CODEX and isinstance(last, Usage):
            # Codex does not tell what it said. An answer that calls no tool is its last word.
            yield TurnEnd(0, last.at, MAIN, TurnEndReason.COMPLETED)

    def clipped(self) -> None:
        """Count nothing: there are no lines."""

    def facts(self) -> TranscriptFacts:
        """Return what is known of the session."""
        return self._account.facts(self._agent)

    def state(self) -> bytes:
        """Return nothing: it is read whole each time."""
        return b""


_PARTS: Final = msgspec.json.Decoder(list[msgspec.Raw])


def _place(span: Span) -> tuple[float, int, float, str]:
    """Return where a span stands: by its time, then by the number that some programs give."""
    sequence = count(span.attributes, "event.sequence") or 0
    return span.at or 0.0, sequence, span.ended_at or 0.0, span.id
