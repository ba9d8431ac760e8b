"""Captured sessions in the database."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import Connection, Select, and_, case, delete, func, or_, select

from fairtrial.analysis.session_events import in_order
from fairtrial.model.errors import NotFoundError
from fairtrial.model.flag import Flag, FlagLevel
from fairtrial.model.session import (
    MAIN,
    Counts,
    Relation,
    Session,
    SessionEvent,
    SessionState,
    Unread,
)
from fairtrial.model.task import Tokens
from fairtrial.ports.sessions import (
    FileMark,
    FileReading,
    FlaggedSession,
    PackedEvents,
    SessionQuery,
    SessionTally,
)
from fairtrial.store.codec import from_json, from_micros, to_micros
from fairtrial.store.database import Database
from fairtrial.store.filtering import condition
from fairtrial.store.finding import the_one, with_prefix
from fairtrial.store.session_events import Unpacker, pack_events
from fairtrial.store.session_filter import SESSIONS
from fairtrial.store.session_folding import unpack_facts
from fairtrial.store.session_tables import (
    session,
    session_body,
    session_chunk,
    session_file,
    session_flag,
)
from fairtrial.store.session_writing import (
    allow_removed,
    put_flags,
    remove_sessions,
    save_readings,
)
from fairtrial.store.tables import TOKEN_PARTS

_LATEST = "latest"
_ID_PREFIX = "ses_"
_SHORTEST_PREFIX = 6
_AT_ONCE = 500
_LISTING = "`fairtrial sessions list` shows the newest"
_NEWEST_FIRST = (session.c.sorted_at.desc(), session.c.id.desc())
_WEEK_MICROS = 7 * 86_400 * 1_000_000
# 1970-01-01 was a Thursday; weeks begin on Mondays.
_MONDAY_MICROS = 3 * 86_400 * 1_000_000


class SqlSessionStore:
    """The `SessionStore` of a database."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    def marks(self) -> Mapping[str, FileMark]:
        """Return how far each known file was read; see `SessionStore`."""
        names = ("path", "inode", "size", "changed_ns", "offset", "tail", "version")
        statement = select(*(session_file.c[name] for name in names))
        with self._database.read() as connection:
            return {row.path: FileMark(*row) for row in connection.execute(statement)}

    def state(self, path: str) -> bytes:
        """Return the reader's state of a file.

        Raises:
            NotFoundError: the file is not known, or its session was removed.
        """
        statement = select(session_file.c.state).where(session_file.c.path == path)
        with self._database.read() as connection:
            found = connection.execute(statement).scalar_one_or_none()
        if found is None:
            raise NotFoundError(f"no session was read from {path}")
        return bytes(found)

    def pack(self, events: Sequence[SessionEvent]) -> PackedEvents:
        """Return events as they are stored."""
        return pack_events(events)

    def save(self, readings: Sequence[FileReading]) -> Sequence[str]:
        """Store what files brought; see `SessionStore`.

        Raises:
            StoreError: the store cannot be written.
        """
        if not readings:
            return []
        with self._database.write() as connection:
            return save_readings(connection, readings, to_micros(self._clock()))

    def flag(self, flags: Mapping[str, Sequence[Flag]]) -> None:
        """Put flags on sessions; see `SessionStore`.

        Raises:
            NotFoundError: there is no such session.
        """
        with self._database.write() as connection:
            put_flags(connection, flags)

    def find(self, ref: str) -> FlaggedSession:
        """Return the session that is meant; see `SessionStore`.

        Raises:
            NotFoundError: there is none, or the prefix fits several.
        """
        with self._database.read() as connection:
            found = _found(connection, ref)
            if found is None:
                raise NotFoundError(f"there is no session {ref}", fix=_LISTING)
            return _whole(connection, [found])[0]

    def many(self, session_ids: Sequence[str]) -> Sequence[FlaggedSession]:
        """Return sessions by their ids, in that order; those that are not there are left out."""
        found: dict[str, FlaggedSession] = {}
        with self._database.read() as connection:
            for at in range(0, len(session_ids), _AT_ONCE):
                page = session_ids[at : at + _AT_ONCE]
                rows = connection.execute(select(session).where(session.c.ref.in_(page)))
                whole = _whole(connection, [dict(row) for row in rows.mappings()])
                found.update((one.session.id, one) for one in whole)
        return [found[ref] for ref in session_ids if ref in found]

    def events(self, session_id: str, *, brief: bool = False) -> Sequence[SessionEvent]:
        """Return all events of a session; see `SessionStore`.

        Raises:
            NotFoundError: there is no such session.
            StoreError: they are damaged.
        """
        unpacker = Unpacker(brief=brief)
        with self._database.read() as connection:
            key = connection.execute(
                select(session.c.id).where(session.c.ref == session_id)
            ).scalar_one_or_none()
            if key is None:
                raise NotFoundError(f"there is no session {session_id}", fix=_LISTING)
            files: dict[int, list[SessionEvent]] = defaultdict(list)
            statement = (
                select(session_chunk.c.file_id, session_chunk.c.data)
                .join(session_file, session_file.c.id == session_chunk.c.file_id)
                .where(session_file.c.session_id == key)
                .order_by(session_chunk.c.file_id, session_chunk.c.id)
                .execution_options(yield_per=8)
            )
            for row in connection.execute(statement):
                files[row.file_id] += unpacker.events(row.data, session_id)
        return in_order(list(files.values()))

    def sizes(self, session_ids: Sequence[str]) -> Mapping[str, int]:
        """Return the bytes of the events of sessions, before they were compressed."""
        statement = (
            select(session.c.ref, func.sum(session_chunk.c.size))
            .join(session_file, session_file.c.session_id == session.c.id)
            .join(session_chunk, session_chunk.c.file_id == session_file.c.id)
            .where(session.c.ref.in_(session_ids))
            .group_by(session.c.ref)
        )
        with self._database.read() as connection:
            return {ref: int(size) for ref, size in connection.execute(statement)}

    def ids(self, query: SessionQuery, until: datetime | None) -> Sequence[str]:
        """Return the ids of all sessions that a query fits; see `SessionStore`."""
        statement = _wanted(select(session.c.ref), query)
        if until is not None:
            statement = statement.where(session.c.sorted_at < to_micros(until))
        with self._database.read() as connection:
            return list(connection.execute(statement.order_by(*_NEWEST_FIRST)).scalars())

    def flagged(self, session_ids: Sequence[str]) -> int:
        """Return how many of some sessions have a flag of level warn."""
        wanted = set(session_ids)
        statement = (
            select(session.c.ref)
            .join(session_flag, session_flag.c.session_id == session.c.id)
            .where(session_flag.c.level == FlagLevel.WARN.value)
            .distinct()
        )
        with self._database.read() as connection:
            return sum(ref in wanted for ref in connection.execute(statement).scalars())

    def flag_counts(
        self,
        query: SessionQuery = SessionQuery(),  # noqa: B008  # it is immutable
    ) -> Mapping[str, int]:
        """Return on how many of the sessions that a query fits each flag is."""
        count = func.count(session_flag.c.session_id.distinct())
        statement = select(session_flag.c.name, count).group_by(session_flag.c.name)
        if query != SessionQuery():
            statement = _wanted(
                statement.join(session, session.c.id == session_flag.c.session_id), query
            )
        with self._database.read() as connection:
            return {name: int(found) for name, found in connection.execute(statement)}

    def take_off(self, names: Sequence[str]) -> None:
        """Take flags of these names off all sessions."""
        with self._database.write() as connection:
            connection.execute(delete(session_flag).where(session_flag.c.name.in_(names)))

    def children(self, session_id: str) -> Sequence[str]:
        """Return the ids of the sessions that came from one."""
        statement = (
            select(session.c.ref).where(session.c.parent == session_id).order_by(*_NEWEST_FIRST)
        )
        with self._database.read() as connection:
            return list(connection.execute(statement).scalars())

    def newest(self, query: SessionQuery) -> Sequence[FlaggedSession]:
        """Return sessions, the last ended first.

        Raises:
            NotFoundError: there is no session that `before` names.
        """
        with self._database.read() as connection:
            statement = _wanted(select(session), query)
            if query.before is not None:
                last = _found(connection, query.before)
                if last is None:
                    raise NotFoundError(f"there is no session {query.before}", fix=_LISTING)
                earlier = session.c.sorted_at < last["sorted_at"]
                same = and_(session.c.sorted_at == last["sorted_at"], session.c.id < last["id"])
                statement = statement.where(or_(earlier, same))
            rows = connection.execute(statement.order_by(*_NEWEST_FIRST).limit(query.limit))
            return _whole(connection, [dict(row) for row in rows.mappings()])

    def tallies(self, query: SessionQuery) -> Sequence[SessionTally]:
        """Return sums by week and agent; see `SessionStore`."""
        week = _week()
        with self._database.read() as connection:
            sums = connection.execute(_wanted(_summed(week), query)).all()
            counts: dict[tuple[int, str], dict[str, int]] = defaultdict(dict)
            for found in connection.execute(_wanted(_flag_counts(week), query)):
                counts[found.week, found.agent][found.name] = found.sessions
        return [
            SessionTally(
                week=(
                    datetime(1970, 1, 1, tzinfo=UTC)
                    + timedelta(microseconds=found.week * _WEEK_MICROS - _MONDAY_MICROS)
                )
                .date()
                .isoformat(),
                agent=found.agent,
                sessions=found.sessions,
                flagged=found.flagged or 0,
                flags=counts[found.week, found.agent],
                tokens=found.tokens or 0,
                cost_usd=found.cost_usd or 0.0,
                costed=found.costed,
            )
            for found in sums
        ]

    def unread(self, limit: int = 1_000) -> Sequence[tuple[str, str | None, Unread]]:
        """Return what was not understood in the newest sessions where something was not.

        Each comes with the agent and its version.
        """
        statement = (
            select(session.c.agent, session.c.agent_version, session_body.c.unread)
            .join(session_body, session_body.c.session_id == session.c.id)
            .where(session_body.c.troubled)
            .order_by(session.c.id.desc())
            .limit(limit)
        )
        with self._database.read() as connection:
            return [
                (row.agent, row.agent_version, msgspec.convert(from_json(row.unread), Unread))
                for row in connection.execute(statement)
            ]

    def strays(self, limit: int = 1_000) -> Sequence[str]:
        """See `SessionStore.strays`."""
        file = session_file.c
        # Copies have facts, what was removed has no offset, what is empty has none beyond 0.
        stray = file.session_id.is_(None) & file.facts.is_(None) & (file.offset > 0)
        statement = select(file.path).where(stray).order_by(file.id.desc()).limit(limit)
        with self._database.read() as connection:
            return list(connection.execute(statement).scalars())

    def remove(self, session_ids: Sequence[str]) -> int:
        """Forget sessions for good; see `SessionStore`.

        Raises:
            StoreError: the store cannot be written.
        """
        with self._database.write() as connection:
            freed = remove_sessions(connection, session_ids)
        # It must not stay in the log either. Another process may read at this moment; then the
        # log is emptied at the next chance.
        self._database.empty_log()
        return freed

    def allow_removed(self) -> None:
        """Forget which sessions were removed, so that their files are read again."""
        with self._database.write() as connection:
            allow_removed(connection)


def _wanted(statement: Select[Any], query: SessionQuery) -> Select[Any]:
    if query.where is not None:
        statement = statement.where(condition(query.where, SESSIONS))
    if query.since is not None:
        statement = statement.where(session.c.sorted_at >= to_micros(query.since))
    return statement


def _week() -> Any:
    return ((session.c.sorted_at + _MONDAY_MICROS) // _WEEK_MICROS).label("week")


def _summed(week: Any) -> Select[Any]:
    warned = select(session_flag.c.session_id).where(session_flag.c.level == FlagLevel.WARN.value)
    return (
        select(
            week,
            session.c.agent,
            func.count().label("sessions"),
            func.sum(case((session.c.id.in_(warned), 1), else_=0)).label("flagged"),
            func.sum(session.c.tokens_total).label("tokens"),
            func.sum(session.c.cost_usd).label("cost_usd"),
            func.count(session.c.cost_usd).label("costed"),
        )
        .group_by(week, session.c.agent)
        .order_by(week, session.c.agent)
    )


def _flag_counts(week: Any) -> Select[Any]:
    return (
        select(
            week,
            session.c.agent,
            session_flag.c.name,
            func.count(session.c.id.distinct()).label("sessions"),
        )
        .join(session_flag, session_flag.c.session_id == session.c.id)
        .group_by(week, session.c.agent, session_flag.c.name)
        .order_by(session_flag.c.name)
    )


def _found(connection: Connection, ref: str) -> Mapping[str, Any] | None:
    name, hash_sign, place = ref.partition("#")
    if name == _LATEST:
        return _latest(connection, place if hash_sign else "0", ref)
    for column in (session.c.ref, session.c.native_id):
        row = (
            connection.execute(
                select(session).where(column == ref).order_by(*_NEWEST_FIRST).limit(1)
            )
            .mappings()
            .first()
        )
        if row is not None:
            return dict(row)
    if len(ref) < _SHORTEST_PREFIX:
        return None
    lower = ref.lower()
    start = lower if lower.startswith(_ID_PREFIX) else _ID_PREFIX + lower
    for column, prefix in ((session.c.ref, start), (session.c.native_id, ref)):
        fitting = with_prefix(connection, column, prefix)
        if fitting:
            return _found(connection, the_one(ref, fitting, "sessions"))
    return None


def _latest(connection: Connection, place: str, ref: str) -> Mapping[str, Any] | None:
    try:
        back = -int(place)
    except ValueError:
        back = -1
    if back < 0:
        raise NotFoundError(
            f"there is no session {ref}", fix="latest#-1 is the one before the latest"
        )
    statement = select(session).order_by(*_NEWEST_FIRST).limit(1).offset(back)
    row = connection.execute(statement).mappings().first()
    return None if row is None else dict(row)


def _whole(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> list[FlaggedSession]:
    keys = [row["id"] for row in rows]
    bodies = {
        row.session_id: row
        for row in connection.execute(
            select(session_body).where(session_body.c.session_id.in_(keys))
        )
    }
    files: dict[int, list[str]] = defaultdict(list)
    trees: dict[int, str | None] = {}
    for row in connection.execute(
        select(session_file.c.session_id, session_file.c.path, session_file.c.facts)
        .where(session_file.c.session_id.in_(keys))
        .order_by(session_file.c.id)
    ):
        own = files[row.session_id]
        facts = unpack_facts(row.facts)
        main = facts.thread == MAIN
        own.insert(0 if main else len(own), row.path)
        if main:
            trees[row.session_id] = facts.start_tree
    flags: dict[int, list[Flag]] = defaultdict(list)
    for row in connection.execute(
        select(session_flag)
        .where(session_flag.c.session_id.in_(keys))
        .order_by(session_flag.c.session_id, session_flag.c.position)
    ):
        flags[row.session_id].append(_flag(row))
    return [
        FlaggedSession(
            _session(row, bodies.get(row["id"]), files[row["id"]], trees.get(row["id"])),
            tuple(flags[row["id"]]),
        )
        for row in rows
    ]


def _flag(row: Any) -> Flag:
    evidence = tuple(from_json(row.evidence))
    return Flag(row.name, FlagLevel(row.level), row.summary, evidence, from_json(row.detail))


def _session(
    row: Mapping[str, Any], body: Any, files: Sequence[str], start_tree: str | None
) -> Session:
    parts = {part: row[f"tokens_{part}"] for part in TOKEN_PARTS}
    known = any(count is not None for count in parts.values())
    unread = Unread() if body is None else msgspec.convert(from_json(body.unread), Unread)
    return Session(
        id=row["ref"],
        agent=row["agent"],
        agent_version=row["agent_version"],
        native_id=row["native_id"],
        files=tuple(files),
        cwd=row["cwd"],
        repo=row["repo"],
        branch=row["branch"],
        commit=row["commit"],
        models=tuple(from_json(row["models"])),
        started_at=None if row["started_at"] is None else from_micros(row["started_at"]),
        ended_at=None if row["ended_at"] is None else from_micros(row["ended_at"]),
        state=SessionState(row["state"]),
        counts=Counts(
            row["turns"],
            row["calls"],
            row["failures"],
            row["denials"],
            row["changed_files"],
            row["compactions"],
        ),
        tokens=Tokens(**parts) if known else None,
        cost_usd=row["cost_usd"],
        first_prompt=None if body is None else body.first_prompt,
        final_text=None if body is None else body.final_text,
        parent_id=row["parent"],
        relation=None if row["relation"] is None else Relation(row["relation"]),
        unread=unread,
        parser_version=row["parser_version"],
        start_tree=start_tree,
    )
