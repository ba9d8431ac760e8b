"""Bringing what agents wrote into the store: what is new, and nothing twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from fairtrial.analysis.session_events import in_order
from fairtrial.model.errors import NotFoundError
from fairtrial.model.flag import Flag
from fairtrial.model.session import Session, SessionEvent
from fairtrial.ports.sessions import (
    FileMark,
    FileReading,
    FlagRule,
    SessionStore,
    TranscriptSource,
)
from fairtrial.sessions.finding import NewFile, changed
from fairtrial.sessions.reading import Ways, continues, read_file

_FILES_AT_ONCE: Final = 64
_BYTES_AT_ONCE: Final = 32 * 1024 * 1024
_HELD_AT_ONCE: Final = 32 * 1024 * 1024
_LARGE: Final = 128 * 1024 * 1024
"""Bytes of events of a session beyond which rules see them with their long texts cut."""


@dataclass
class Outcome:
    """What a sync brought.

    Attributes:
        files: Files that were looked at.
        read: Files of which something was read.
        bytes: Bytes that were read.
        sessions: Ids of the sessions that are new or changed, in order.
        troubles: What went wrong, in words; the rest was read all the same.
    """

    files: int = 0
    read: int = 0
    bytes: int = 0
    sessions: list[str] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)


@dataclass
class _Batch:
    """Readings that are saved together, and the events of files that were read from their start."""

    readings: list[FileReading] = field(default_factory=list)
    events: dict[str, Sequence[SessionEvent]] = field(default_factory=dict)
    packed: int = 0
    held: int = 0

    def add(self, reading: FileReading, events: Sequence[SessionEvent] | None) -> None:
        self.readings.append(reading)
        self.packed += sum(len(chunk.data) for chunk in reading.chunks)
        if reading.anew and events is not None and self.held < _HELD_AT_ONCE:
            self.held += sum(chunk.size for chunk in reading.chunks)
            self.events[reading.mark.path] = events

    def is_full(self) -> bool:
        return len(self.readings) >= _FILES_AT_ONCE or self.packed > _BYTES_AT_ONCE


class Syncer:
    """Reads files into a store, and lets rules look at the sessions that this changes."""

    def __init__(
        self,
        store: SessionStore,
        ways: Ways,
        rules: Sequence[FlagRule],
        now: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._ways = ways
        self._rules = rules
        self._now = now

    def sync(
        self,
        files: Sequence[NewFile],
        progress: Callable[[int, int], None],
        *,
        anew: bool = False,
    ) -> Outcome:
        """Read files; what goes wrong with one is told, and the others are read.

        Args:
            files: What `changed` returned.
            progress: Told how many of how many files are done.
            anew: Read all of them from their start.
        """
        outcome = Outcome()
        marks = self._store.marks() if files and not anew else {}
        files, around = self._opened(files, marks, outcome)
        failed: set[str | None] = set()
        batch = _Batch()
        for place, file in enumerate(files, 1):
            path = file.found.path
            reading = None if path in failed else self._read(file, marks.get(path), outcome)
            if reading is None:
                failed.add(around.get(path))
            else:
                batch.add(*reading)
            if batch.is_full():
                self._save(batch, outcome)
                batch = _Batch()
                progress(place, len(files))
        self._save(batch, outcome)
        progress(len(files), len(files))
        outcome.sessions = list(dict.fromkeys(outcome.sessions))
        return outcome

    def _opened(
        self, files: Sequence[NewFile], marks: Mapping[str, FileMark], outcome: Outcome
    ) -> tuple[list[NewFile], dict[str, str]]:
        """Return files, before each the new or changed sessions in it, and which file each is in.

        The file comes after them, and only if all were read: else it is looked into again.
        """
        known = {path: _as_known(mark) for path, mark in marks.items()}
        opened: list[NewFile] = []
        around: dict[str, str] = {}
        for file in files:
            try:
                inside = file.reader.source(file.found.path).inside()
            except OSError as error:
                outcome.troubles.append(f"{file.found.path}: {error.strerror or error}")
                continue
            within = changed((NewFile(file.reader, found) for found in inside), known)
            around.update((one.found.path, file.found.path) for one in within)
            opened += [*within, file]
        return opened, around

    def _read(
        self, file: NewFile, mark: FileMark | None, outcome: Outcome
    ) -> tuple[FileReading, Sequence[SessionEvent] | None] | None:
        try:
            source = file.reader.source(file.found.path)
            before = self._before(file, source, mark)
            reading, events = read_file(file.reader, source, file.found, self._ways, before)
        except OSError as error:
            outcome.troubles.append(f"{file.found.path}: {error.strerror or error}")
            return None
        except Exception as error:  # noqa: BLE001  # one odd file must not cost all the others
            trouble = f"{file.found.path}: not read, for a mistake in fairtrial: {error!r}"
            outcome.troubles.append(trouble)
            return None
        outcome.read += 1
        outcome.bytes += reading.mark.offset - (0 if before is None else before[0].offset)
        return reading, events

    def _before(
        self, file: NewFile, source: TranscriptSource, mark: FileMark | None
    ) -> tuple[FileMark, bytes] | None:
        if mark is None or not continues(source, file.found, mark, file.reader.version):
            return None
        try:
            return mark, self._store.state(mark.path)
        except NotFoundError:
            return None

    def _save(self, batch: _Batch, outcome: Outcome) -> None:
        if not batch.readings:
            return
        saved = self._store.save(batch.readings)
        outcome.sessions += saved
        self._flag(saved, outcome, batch.events)

    def flag(self, sessions: Sequence[str], outcome: Outcome) -> None:
        """Let the rules look at sessions, and keep what they find."""
        self._flag(sessions, outcome, {})

    def _flag(
        self,
        sessions: Sequence[str],
        outcome: Outcome,
        just_read: Mapping[str, Sequence[SessionEvent]],
    ) -> None:
        if not self._rules or not sessions:
            return
        sizes = self._store.sizes(sessions)
        now = self._now()
        flags: dict[str, list[Flag]] = {}
        for found in self._store.many(sessions):
            session = found.session
            events = None
            if len(session.files) == 1:  # else other files hold events of it too
                events = just_read.get(session.files[0])
            if events is None:
                large = sizes.get(session.id, 0) > _LARGE
                events = self._store.events(session.id, brief=large)
            else:
                events = in_order([events])
            flags[session.id] = self._flags(session, events, now, outcome)
        self._store.flag(flags)

    def _flags(
        self, session: Session, events: Sequence[SessionEvent], now: datetime, outcome: Outcome
    ) -> list[Flag]:
        found: list[Flag] = []
        for rule in self._rules:
            try:
                found += rule.check(session, events, now)
            except Exception as error:  # noqa: BLE001  # a user's rule may fail in any way
                trouble = f"the flag rule {rule.name} failed at {session.id}: {error!r}"
                outcome.troubles.append(trouble)
        return found


def _as_known(mark: FileMark) -> tuple[int, int, int, int, int]:
    return mark.inode, mark.size, mark.changed_ns, mark.offset, mark.version
