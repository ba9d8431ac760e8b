"""From the database of OpenCode, or an export of one session, to records: one for each message."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from fairtrial.model.json import Json
from fairtrial.ports.sessions import TranscriptSource
from fairtrial.ports.transcript_files import FoundFile, Line
from fairtrial.sessions.databases import MAGIC, Connection, looked_into
from fairtrial.sessions.documents import Document, line_of
from fairtrial.sessions.lines import LONGEST_LINE
from fairtrial.sessions.tolerant import plain

_MARK: Final = "#"
_NS: Final = 1_000_000
_CHANGES: Final = """
    SELECT session.id, session.time_updated, count(rows.at), max(rows.at)
    FROM session LEFT JOIN (
        SELECT session_id, time_updated AS at FROM message
        UNION ALL SELECT session_id, time_updated FROM part
    ) AS rows ON rows.session_id = session.id
    GROUP BY session.id ORDER BY session.time_created, session.id
"""
_MESSAGES: Final = """
    SELECT message.id, message.data, part.data
    FROM message LEFT JOIN part ON part.message_id = message.id
    WHERE message.session_id = ?
    ORDER BY message.time_created, message.id, part.id
"""
# A fork has the messages of its origin with their times, so they are older than itself.
_COPIED: Final = """
    SELECT min(time_created) FROM message WHERE session_id = ? AND time_created < ?
"""
_ORIGIN: Final = """
    SELECT session.id FROM message JOIN session ON session.id = message.session_id
    WHERE message.time_created = ? AND session.time_created < ?
    ORDER BY session.time_created LIMIT 1
"""


def source_of(path: str) -> TranscriptSource:
    """Return what turns a database, one session in it, or an export into records."""
    file, mark, session = path.rpartition(_MARK)
    if mark and not Path(path).exists() and Path(file).is_file():
        return SessionRows(Path(file), session)
    try:
        with Path(path).open("rb") as opened:
            database = opened.read(len(MAGIC)) == MAGIC
    except OSError:
        database = False  # whoever reads it is told why
    return Database(Path(path)) if database else Document(path, exported)


class Database:
    """A database, which tells nothing beside its sessions. See `TranscriptSource`."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def inside(self) -> list[FoundFile]:
        """See `TranscriptSource.inside`: what it holds of a session tells whether it changed."""
        with looked_into(self._path) as connection:
            rows = connection.execute(_CHANGES).fetchall()
        return [
            FoundFile(
                f"{self._path}{_MARK}{_text(name)}", 0, _whole(count), _newest(updated, last) * _NS
            )
            for name, updated, count, last in rows
        ]

    def lines(self, offset: int) -> Iterator[Line]:  # noqa: ARG002  # there are none
        """See `TranscriptSource.lines`."""
        yield from ()

    def tail(self, offset: int) -> bytes:  # noqa: ARG002  # nothing stays as it is
        """See `TranscriptSource.tail`."""
        return b""


class SessionRows:
    """One session in a database: it is read anew when it changed. See `TranscriptSource`."""

    def __init__(self, path: Path, session: str) -> None:
        self._path = path
        self._session = session

    def inside(self) -> tuple[FoundFile, ...]:
        """See `TranscriptSource.inside`."""
        return ()

    def tail(self, offset: int) -> bytes:  # noqa: ARG002  # nothing stays as it is
        """See `TranscriptSource.tail`: messages are changed after they were written."""
        return b""

    def lines(self, offset: int) -> Iterator[Line]:
        """See `TranscriptSource.lines`."""
        end = offset
        with looked_into(self._path) as connection:
            for record in self._records(connection):
                line = record if isinstance(record, bytes) else line_of(record, 0).data
                end += LONGEST_LINE if line is None else len(line)
                yield Line(line, end)

    def _records(self, connection: Connection) -> Iterator[Json | bytes]:
        asked = connection.execute("SELECT * FROM session WHERE id = ?", (self._session,))
        row = asked.fetchone()
        if row is None:
            return
        told = dict(zip((column[0] for column in asked.description), row, strict=True))
        created = told.get("time_created")
        yield {
            "session": {
                "id": self._session,
                "parentID": _text(told.get("parent_id")),
                "directory": _text(told.get("directory")),
                "version": _text(told.get("version")),
                "time": {"created": created if isinstance(created, int | float) else None},
                "origin": self._origin(connection, created),
            }
        }
        rows = connection.execute(_MESSAGES, (self._session,))
        for (name, data), group in groupby(rows, key=lambda row: (row[0], row[1])):
            parts = [part for _, _, part in group]
            yield from _message(name, data, parts)

    def _origin(self, connection: Connection, created: Any) -> str | None:
        """Return the session that this one is a fork of, which OpenCode does not write down."""
        (first,) = connection.execute(_COPIED, (self._session, _whole(created))).fetchone()
        if first is None:
            return None
        found = connection.execute(_ORIGIN, (first, created)).fetchone()
        return None if found is None else _text(found[0])


def _message(name: Any, data: Any, parts: list[Any]) -> Iterator[Json | bytes]:
    """Yield the record of a message; what of it is no JSON comes as it stands, to be counted."""
    info = plain(_raw(data))
    if info is None:
        yield _raw(data) or b"?"
        return
    found: list[Json] = []
    for part in parts:
        told = None if part is None else plain(_raw(part))
        if told is not None:
            found.append(told)
        elif part is not None:
            yield _raw(part) or b"?"
    yield {"message": {**info, "id": _text(name)}, "parts": found}


def exported(document: Mapping[str, Json]) -> Iterator[Json]:
    """Yield the records of a session that `opencode export` printed."""
    yield {"session": document.get("info")}
    messages = document.get("messages")
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, Mapping):
            yield {"message": message.get("info"), "parts": message.get("parts")}
        else:
            yield message


def _raw(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


def _text(value: Any) -> str | None:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return None if value is None else str(value)


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and abs(value) < 2**52 else 0


def _newest(*times: Any) -> int:
    """Return the newest of some times that may be anything, in milliseconds."""
    return max((_whole(time) for time in times), default=0)
