"""Captured sessions: who reads them, what looks for failures in them, what keeps them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Protocol, TypeAlias

from fairtrial.model.flag import Flag
from fairtrial.model.session import Session, SessionEvent, TranscriptFacts, Unread, Usage
from fairtrial.ports.transcript_files import FoundFile, Line, Place
from fairtrial.query.expression import Expression


class FlagRule(Protocol):
    """Looks for one kind of failure in a session. The same session always gets the same flags.

    A rule is an object of the entry point group `fairtrial.flags`; it is called on every ingest.
    """

    @property
    def name(self) -> str:
        """What its flags are called: letters, digits and dashes."""
        ...

    @property
    def summary(self) -> str:
        """One line: when it flags a session."""
        ...

    def check(
        self, session: Session, events: Sequence[SessionEvent], now: datetime
    ) -> Iterable[Flag]:
        """Return what is wrong with a session; usually nothing.

        Args:
            session: The session.
            events: All its events, in order.
            now: The moment of the ingest.
        """
        ...


Clean: TypeAlias = Callable[[bytes], bytes]
"""Takes secrets out of a line; a reader cleans each line that it looks into."""


class Transcript(Protocol):
    """One file of a session that is being read, from its start or from where it was left."""

    def feed(self, line: bytes) -> Iterable[SessionEvent]:
        """Take the next line without its end, and return what happened; numbers are all 0.

        Never fails: what is not understood is counted.
        """
        ...

    def clipped(self) -> None:
        """Count a line that was too long to be read."""
        ...

    def facts(self) -> TranscriptFacts:
        """Return what is known of the session from all lines so far."""
        ...

    def state(self) -> bytes:
        """Return what `SessionReader.resume` needs to go on after the last line."""
        ...


class TranscriptSource(Protocol):
    """Turns a file into records, one a line: a file of lines, a document, a session in a database.

    It is made for one reading, and may keep what it has read of the file until then.
    """

    def inside(self) -> Sequence[FoundFile]:
        """Return the sessions that the file holds apart from each other, to be read one by one.

        Usually there are none: the file is of one session.

        Raises:
            OSError: the file cannot be read.
        """
        ...

    def lines(self, offset: int) -> Iterator[Line]:
        """Yield the records after those that ended at an offset; 0 is the start.

        Raises:
            OSError: the file cannot be read.
        """
        ...

    def tail(self, offset: int) -> bytes:
        """Return what stays the same as long as reading may go on at an offset.

        Empty when it may not: the file is read from its start whenever it has changed.

        Raises:
            OSError: the file cannot be read.
        """
        ...


class SessionReader(Protocol):
    """Reads the transcripts of one agent. Readers hold nothing; what they know is in the state."""

    @property
    def agent(self) -> str:
        """The agent's name in sessions."""
        ...

    @property
    def version(self) -> int:
        """Grows when the same file would be read otherwise; older readings are done again."""
        ...

    def places(self, environ: Mapping[str, str], home: Path) -> Sequence[Place]:
        """Return where this agent keeps transcripts, for a user's environment and home folder."""
        ...

    def files(self, folder: Path) -> Iterator[FoundFile]:
        """Yield what look like transcripts under a folder, by name alone."""
        ...

    def recognises(self, head: Sequence[Mapping[str, object]]) -> bool:
        """Return whether the first records of a file are of this agent.

        A document is its own only record; of a database the only one is its `tables`.
        """
        ...

    def source(self, path: str) -> TranscriptSource:
        """Return what turns a file into records."""
        ...

    def start(self, path: Path, clean: Clean) -> Transcript:
        """Begin to read a file."""
        ...

    def resume(self, path: Path, clean: Clean, state: bytes) -> Transcript:
        """Go on with a file after the lines that gave this state."""
        ...


PARTIAL: Final = -1
"""The time of change of a file that is not read to its end yet."""


@dataclass(frozen=True, slots=True)
class FileMark:
    """How far a file was read.

    Attributes:
        path: The file.
        inode: Its number in the file system.
        size: Its bytes when it was last looked at.
        changed_ns: When it was last changed then, nanoseconds; -1 while what there was then is not
            read to its end.
        offset: How far it was read: the end of its last whole line; -1 when its session was
            removed.
        tail: What `TranscriptSource.tail` returned for `offset`.
        version: The reader's.
    """

    path: str
    inode: int
    size: int
    changed_ns: int
    offset: int
    tail: bytes
    version: int

    @property
    def is_partial(self) -> bool:
        """Whether more is to be read, although nothing was added."""
        return self.changed_ns == PARTIAL


@dataclass(frozen=True, slots=True)
class PackedEvents:
    """A run of events of one file, ready to be stored.

    Attributes:
        data: The events, compressed.
        count: How many.
        size: Their bytes before they were compressed.
    """

    data: bytes
    count: int
    size: int


@dataclass(frozen=True, slots=True)
class PricedUsage:
    """The tokens of one model call, and what they cost; None is unknown."""

    usage: Usage
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class FileReading:
    """What one file, or a new part of one, brought.

    Attributes:
        mark: How far it is read now.
        facts: What all of the file says.
        state: What the reader needs to go on.
        chunks: What happened in the new part.
        usages: The model calls in the new part; the newest tokens of each.
        prompts: The prompts of the new part, to be searched for.
        repo: Root of the git repository around the folder of the session.
        anew: The file was read from its start: what was kept of it before is replaced.
    """

    mark: FileMark
    facts: TranscriptFacts
    state: bytes
    chunks: Sequence[PackedEvents]
    usages: Sequence[PricedUsage]
    prompts: str
    repo: str | None
    anew: bool


@dataclass(frozen=True, slots=True)
class SessionQuery:
    """Which sessions to return; None does not filter.

    Attributes:
        where: A checked filter.
        since: That ended at this moment or later.
        limit: How many at most.
        before: The id of the last session of the page before.
    """

    where: Expression | None = None
    since: datetime | None = None
    limit: int = 50
    before: str | None = None


@dataclass(frozen=True, slots=True)
class FlaggedSession:
    """A session with the flags that are on it."""

    session: Session
    flags: tuple[Flag, ...]


@dataclass(frozen=True, slots=True)
class SessionTally:
    """How many sessions of one agent a week brought, and what they took.

    Attributes:
        week: Monday of the week, as a date (UTC).
        agent: The agent.
        sessions: How many.
        flagged: How many of them have a flag of level warn.
        flags: How many sessions each flag is on, whatever its level.
        tokens: All tokens that are known.
        cost_usd: The sum of the costs that are known.
        costed: How many sessions that is the cost of.
    """

    week: str
    agent: str
    sessions: int
    flagged: int
    flags: Mapping[str, int]
    tokens: int
    cost_usd: float
    costed: int


class SessionStore(Protocol):
    """Keeps sessions, their events and their flags."""

    def marks(self) -> Mapping[str, FileMark]:
        """Return how far each known file was read, by path; that of a removed session at -1."""
        ...

    def state(self, path: str) -> bytes:
        """Return the reader's state of a file.

        Raises:
            NotFoundError: the file is not known.
        """
        ...

    def pack(self, events: Sequence[SessionEvent]) -> PackedEvents:
        """Return events as they are stored; may be called from any thread."""
        ...

    def save(self, readings: Sequence[FileReading]) -> Sequence[str]:
        """Store what files brought, in one transaction; return the ids of their sessions.

        A model call that another file already told of is not counted again.
        """
        ...

    def flag(self, flags: Mapping[str, Sequence[Flag]]) -> None:
        """Put flags on sessions in place of those that were on them.

        Raises:
            NotFoundError: there is no such session.
        """
        ...

    def find(self, ref: str) -> FlaggedSession:
        """Return the session that an id, a unique prefix (6+ characters), or `latest` names.

        `latest#-1` is the one before the latest, and so on; the agent's own id works too.

        Raises:
            NotFoundError: there is none, or the prefix fits several.
        """
        ...

    def many(self, session_ids: Sequence[str]) -> Sequence[FlaggedSession]:
        """Return sessions by their ids, in that order; those that are not there are left out."""
        ...

    def events(self, session_id: str, *, brief: bool = False) -> Sequence[SessionEvent]:
        """Return all events of a session in order, numbered from 1.

        Those of its threads stand between each other by their times. With `brief`, long texts are
        cut and whole files left out, for sessions that would not fit into memory.

        Raises:
            NotFoundError: there is no such session.
        """
        ...

    def sizes(self, session_ids: Sequence[str]) -> Mapping[str, int]:
        """Return the bytes of the events of sessions, before they were compressed."""
        ...

    def unread(self, limit: int = 1_000) -> Sequence[tuple[str, str | None, Unread]]:
        """Return what was not understood in the newest sessions where something was not.

        Each comes with the agent and its version.
        """
        ...

    def strays(self, limit: int = 1_000) -> Sequence[str]:
        """Return the newest files that were read, but hold nothing that is of a session."""
        ...

    def ids(self, query: SessionQuery, until: datetime | None) -> Sequence[str]:
        """Return the ids of all sessions that a query fits and that ended before a moment."""
        ...

    def flagged(self, session_ids: Sequence[str]) -> int:
        """Return how many of some sessions have a flag of level warn."""
        ...

    def flag_counts(self, query: SessionQuery = SessionQuery()) -> Mapping[str, int]:
        """Return on how many of the sessions that a query fits each flag is, by its name."""
        ...

    def take_off(self, names: Sequence[str]) -> None:
        """Take flags of these names off all sessions."""
        ...

    def children(self, session_id: str) -> Sequence[str]:
        """Return the ids of the sessions that came from one."""
        ...

    def newest(self, query: SessionQuery) -> Sequence[FlaggedSession]:
        """Return sessions, the last ended first."""
        ...

    def tallies(self, query: SessionQuery) -> Sequence[SessionTally]:
        """Return sums by week and agent, oldest week first; the limit is not looked at."""
        ...

    def remove(self, session_ids: Sequence[str]) -> int:
        """Forget sessions for good, with all that is kept of them; return the bytes set free.

        Their files are remembered by path alone, so that they are not read again.
        """
        ...

    def allow_removed(self) -> None:
        """Forget which sessions were removed, so that their files are read again."""
        ...
