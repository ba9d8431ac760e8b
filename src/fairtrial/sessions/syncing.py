"""Bringing what agents wrote into the store: what is new, and nothing twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from fairtrial.model.errors import NotFoundError
from fairtrial.model.flag import Flag
from fairtrial.model.session import SessionEvent
from fairtrial.ports.sessions import (
    FileMark,
    FileReading,
    FlagRule,
    SessionStore,
)
from fairtrial.sessions.finding import NewFile
from fairtrial.sessions.reading import Ways, continues, read_file

_FILES_AT_ONCE: Final = 64
_BYTES_AT_ONCE: Final = 32 * 1024 * 1024
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
        batch: list[FileReading] = []
        size = 0
        for place, file in enumerate(files, 1):
            reading = self._read(file, marks.get(file.found.path), outcome)
            if reading is not None:
                batch.append(reading)
                size += sum(len(chunk.data) for chunk in reading.chunks)
            if len(batch) >= _FILES_AT_ONCE or size > _BYTES_AT_ONCE:
                self._save(batch, outcome)
                batch, size = [], 0
                progress(place, len(files))
        self._save(batch, outcome)
        progress(len(files), len(files))
        outcome.sessions = list(dict.fromkeys(outcome.sessions))
        return outcome

    def _read(self, file: NewFile, mark: FileMark | None, outcome: Outcome) -> FileReading | None:
        try:
            before = self._before(file, mark)
            reading = read_file(file.reader, file.found, self._ways, before)
        except OSError as error:
            outcome.troubles.append(f"{file.found.path}: {error.strerror or error}")
            return None
        outcome.read += 1
        outcome.bytes += reading.mark.offset - (0 if before is None else before[0].offset)
        if not reading.facts.native_id:
            # Nothing in it tells whose it is; it is looked at again when it changes.
            return None
        return reading

    def _before(self, file: NewFile, mark: FileMark | None) -> tuple[FileMark, bytes] | None:
        if mark is None or not continues(file.found, mark, file.reader.version):
            return None
        try:
            return mark, self._store.state(mark.path)
        except NotFoundError:
            return None

    def _save(self, batch: Sequence[FileReading], outcome: Outcome) -> None:
        if not batch:
            return
        saved = self._store.save(batch)
        outcome.sessions += saved
        self.flag(saved, outcome)

    def flag(self, sessions: Sequence[str], outcome: Outcome) -> None:
        """Let the rules look at sessions, and keep what they find."""
        if not self._rules or not sessions:
            return
        sizes = self._store.sizes(sessions)
        now = self._now()
        flags: dict[str, list[Flag]] = {}
        for session_id in sessions:
            large = sizes.get(session_id, 0) > _LARGE
            events = self._store.events(session_id, brief=large)
            flags[session_id] = self._flags(session_id, events, now, outcome)
        self._store.flag(flags)

    def _flags(
        self, session_id: str, events: Sequence[SessionEvent], now: datetime, outcome: Outcome
    ) -> list[Flag]:
        session = self._store.find(session_id).session
        found: list[Flag] = []
        for rule in self._rules:
            try:
                found += rule.check(session, events, now)
            except Exception as error:  # noqa: BLE001  # a user's rule may fail in any way
                trouble = f"the flag rule {rule.name} failed at {session_id}: {error!r}"
                outcome.troubles.append(trouble)
        return found
