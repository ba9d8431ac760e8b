"""Bringing what agents wrote into the store: what is new, and nothing twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

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
from fairtrial.sessions.flagging import flags_of
from fairtrial.sessions.reading import PART, Ways, continues, priced, read_file

if TYPE_CHECKING:  # only when there is much to read
    from fairtrial.sessions.reading_ahead import ReadingAhead, Task

_FILES_AT_ONCE: Final = 64
_BYTES_AT_ONCE: Final = 32 * 1024 * 1024
_HELD_AT_ONCE: Final = 32 * 1024 * 1024
_LARGE: Final = 48 * 1024 * 1024
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
    """Readings that are saved together, and the events of files that were read from their start.

    Those of files that another process read are held by that one, under a key.
    """

    readings: list[FileReading] = field(default_factory=list)
    events: dict[str, Sequence[SessionEvent]] = field(default_factory=dict)
    keys: dict[str, int] = field(default_factory=dict)
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
        part: int = PART,
    ) -> None:
        """Keep what reading needs; `part` is how many bytes of a file are read at once."""
        self._store = store
        self.ways = ways
        self._rules = rules
        self._now = now
        self._part = part

    def sync(
        self,
        files: Sequence[NewFile],
        progress: Callable[[int, int], None],
        *,
        anew: bool = False,
        ahead: ReadingAhead | None = None,
    ) -> Outcome:
        """Read files; what goes wrong with one is told, and the others are read.

        Args:
            files: What `changed` returned.
            progress: Told how many of how many files are done.
            anew: Read all of them from their start.
            ahead: Processes that read files before they are asked for; the result is the same.
        """
        outcome = Outcome()
        marks = self._store.marks() if files and not anew else {}
        files, around = self._opened(files, marks, outcome)
        if ahead is not None:
            together = {*around, *around.values()}
            ahead.begin(self._tasks(files, marks, together))
        failed: set[str | None] = set()
        batch = _Batch()
        for place, file in enumerate(files, 1):
            path = file.found.path
            mark = marks.get(path)
            brought = None if ahead is None else self._brought(place, mark, outcome, ahead)
            if brought is not None:
                batch.add(brought, None)
                batch.keys[path] = place
            else:
                reading = None if path in failed else self._read(file, mark, outcome)
                if reading is not None and reading[0].mark.is_partial:
                    self._save(batch, outcome, ahead)
                    batch = _Batch()
                    reading = self._rest(file, reading[0], outcome)
                if reading is None:
                    failed.add(around.get(path))
                else:
                    batch.add(*reading)
            if batch.is_full():
                self._save(batch, outcome, ahead)
                batch = _Batch()
                progress(place, len(files))
        self._save(batch, outcome, ahead)
        progress(len(files), len(files))
        outcome.sessions = list(dict.fromkeys(outcome.sessions))
        if ahead is not None:
            outcome.troubles += ahead.troubles
        return outcome

    def _tasks(
        self, files: Sequence[NewFile], marks: Mapping[str, FileMark], together: set[str]
    ) -> Iterator[Task]:
        """Yield what other processes read; what hangs together, as in a database, is read here."""
        for key, file in enumerate(files, 1):
            path = file.found.path
            if path in together or file.found.size > self._part:
                yield key, None, None
                continue
            try:
                before = self._before(file, file.reader.source(path), marks.get(path))
            except OSError:
                yield key, None, None  # it is told when it is read here
            else:
                yield key, file, before

    def _brought(
        self, key: int, mark: FileMark | None, outcome: Outcome, ahead: ReadingAhead
    ) -> FileReading | None:
        """Return what another process has read; None if the file is to be read here."""
        reading = ahead.reading(key)
        if reading is None:
            return None
        outcome.read += 1
        before = 0 if reading.anew or mark is None else mark.offset
        outcome.bytes += reading.mark.offset - before
        usages = (found.usage for found in reading.usages)
        return replace(reading, usages=priced(usages, self.ways.prices))

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
            if not _is_text(file.found.path):
                told = file.found.path.encode("utf-8", "backslashreplace").decode()
                outcome.troubles.append(f"{told}: not read, its name is no UTF-8; rename it")
                continue
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
            # What cannot go on where it ended is read at once.
            lost = mark is not None and mark.is_partial and before is None
            most = None if lost else self._part
            reading, events = read_file(file.reader, source, file.found, self.ways, before, most)
        except OSError as error:
            outcome.troubles.append(f"{file.found.path}: {error.strerror or error}")
            return None
        except Exception as error:  # noqa: BLE001  # one odd file must not cost all the others
            trouble = f"{file.found.path}: not read, for a mistake in fairtrial: {error!r}"
            outcome.troubles.append(trouble)
            return None
        if not reading.mark.is_partial:
            outcome.read += 1
        outcome.bytes += reading.mark.offset - (0 if before is None else before[0].offset)
        return reading, events

    def _rest(
        self, file: NewFile, reading: FileReading, outcome: Outcome
    ) -> tuple[FileReading, Sequence[SessionEvent] | None] | None:
        """Save the parts of a file but the last, and return that one."""
        rest: tuple[FileReading, Sequence[SessionEvent] | None] | None = reading, None
        while rest is not None and rest[0].mark.is_partial:
            saved, mark = self._store.save([rest[0]]), rest[0].mark
            outcome.sessions += saved
            rest = None  # a part is not kept while the next one is read
            rest = self._read(file, mark, outcome)
            if rest is None:
                self.flag(saved, outcome)
        return rest

    def _before(
        self, file: NewFile, source: TranscriptSource, mark: FileMark | None
    ) -> tuple[FileMark, bytes] | None:
        if mark is None or not continues(source, file.found, mark, file.reader.version):
            return None
        try:
            return mark, self._store.state(mark.path)
        except NotFoundError:
            return None

    def _save(self, batch: _Batch, outcome: Outcome, ahead: ReadingAhead | None) -> None:
        if not batch.readings:
            return
        saved = self._store.save(batch.readings)
        outcome.sessions += saved
        self._flag(saved, outcome, batch, ahead)
        if ahead is not None:
            for key in batch.keys.values():
                ahead.drop(key)

    def flag(self, sessions: Sequence[str], outcome: Outcome) -> None:
        """Let the rules look at sessions, and keep what they find."""
        self._flag(sessions, outcome, _Batch(), None)

    def _flag(
        self,
        sessions: Sequence[str],
        outcome: Outcome,
        batch: _Batch,
        ahead: ReadingAhead | None,
    ) -> None:
        if not self._rules or not sessions:
            return
        now = self._now()
        flags: dict[str, list[Flag]] = {}
        found = [one.session for one in self._store.many(sessions)]
        looked = {} if ahead is None else self._looked_at(found, batch, now, ahead)
        sizes = self._store.sizes([one.id for one in found if one.id not in looked])
        for session in found:
            findings = None
            if ahead is not None and session.id in looked:
                findings = ahead.findings(looked[session.id])
            if findings is None:
                large = sizes.get(session.id, 0) > _LARGE
                events = self._events(session, batch.events, large=large)
                findings = flags_of(self._rules, session, events, now)
            flags[session.id] = findings[0]
            outcome.troubles += findings[1]
        self._store.flag(flags)

    def _looked_at(
        self, sessions: Sequence[Session], batch: _Batch, now: datetime, ahead: ReadingAhead
    ) -> dict[str, int]:
        """Let sessions be looked at where all their events are held; return under which keys."""
        asked: dict[str, int] = {}
        for session in sessions:
            key = batch.keys.get(session.files[0]) if len(session.files) == 1 else None
            if key is not None and ahead.holds(key):
                ahead.look(key, session, now)
                asked[session.id] = key
        return asked

    def _events(
        self, session: Session, just_read: Mapping[str, Sequence[SessionEvent]], *, large: bool
    ) -> Sequence[SessionEvent]:
        events = None
        if len(session.files) == 1:  # else other files hold events of it too
            events = just_read.get(session.files[0])
        if events is None:
            return self._store.events(session.id, brief=large)
        return in_order([events])


def _as_known(mark: FileMark) -> tuple[int, int, int, int, int]:
    return mark.inode, mark.size, mark.changed_ns, mark.offset, mark.version


def _is_text(path: str) -> bool:
    """Return whether a path can be stored: a file system may hold any bytes."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
