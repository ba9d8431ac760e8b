"""Spans in the database."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, delete, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from fairtrial.ports.spans import Received, SpanPart, SpanSession
from fairtrial.store.database import Database
from fairtrial.store.server_tables import span_part, span_session, span_trace
from fairtrial.store.session_folding import session_ref
from fairtrial.store.session_writing import remove_sessions
from fairtrial.store.span_removal import REMOVED

_AT_ONCE = 500
_ZSTD_LEVEL = 3
_MOST_PARTS = 50_000
_MOST_BYTES = 512 * 1024 * 1024


class SqlSpanStore:
    """The `SpanStore` of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, parts: Sequence[SpanPart]) -> Received:
        """Keep parts; see `SpanStore`."""
        import zstandard  # noqa: PLC0415  # 30 ms that only the server needs

        pack = zstandard.ZstdCompressor(_ZSTD_LEVEL).compress
        packed = {part.key: pack(part.data) for part in parts}
        with self._database.write() as connection:
            adding = _Adding(connection, packed)
            received = adding.add(parts)
            remove_sessions(connection, adding.moved)
            return received

    def untold(self) -> Sequence[SpanSession]:
        """Return the sessions that got parts since they were last told."""
        columns = (span_session.c[name] for name in ("agent", "native_id", "version", "size"))
        statement = select(*columns).where(span_session.c.version > span_session.c.told)
        with self._database.read() as connection:
            return [SpanSession(*row) for row in connection.execute(statement)]

    def parts(self, native_id: str) -> Iterator[bytes]:
        """Yield the parts of a session, as JSON, in any order."""
        import zstandard  # noqa: PLC0415  # as above

        unpack = zstandard.ZstdDecompressor().decompress
        statement = (
            select(span_part.c.data)
            .join(span_session, span_session.c.id == span_part.c.session_id)
            .where(span_session.c.native_id == native_id)
            .execution_options(yield_per=_AT_ONCE)
        )
        with self._database.read() as connection:
            for row in connection.execute(statement):
                yield unpack(row.data)

    def told(self, session: SpanSession) -> None:
        """Note that a session was told as of this version."""
        with self._database.write() as connection:
            connection.execute(
                update(span_session)
                .where(span_session.c.native_id == session.native_id)
                .values(told=session.version)
            )


@dataclass
class _Adding:
    """What is found and done while parts are added."""

    connection: Connection
    packed: dict[str, bytes]
    traces: dict[str, int] = field(default_factory=dict)
    sessions: dict[str, dict[str, Any]] = field(default_factory=dict)
    moved: list[str] = field(default_factory=list)

    def add(self, parts: Sequence[SpanPart]) -> Received:
        """Put each part to its session."""
        known = self._known(part.key for part in parts)
        new = list({part.key: part for part in parts if part.key not in known}.values())
        self._find(new)
        for part in new:
            self._settle(part)
        homes: dict[int, list[SpanPart]] = defaultdict(list)
        for part in new:
            home = self._home(part)
            if home is not None:
                homes[home].append(part)
        housed = sum(map(len, homes.values()))
        put = [self._put(home, found) for home, found in homes.items()]
        kept = sum(count for count, _ in put)
        removed = sum(count for _, count in put)
        return Received(
            kept=kept,
            again=len(parts) - len(new) + removed,
            homeless=len(new) - housed,
            refused=housed - kept - removed,
        )

    def _known(self, keys: Iterable[str]) -> set[str]:
        statement = select(span_part.c.key)
        return {
            key
            for page in _pages(list(keys))
            for key in self.connection.execute(statement.where(span_part.c.key.in_(page))).scalars()
        }

    def _find(self, parts: Sequence[SpanPart]) -> None:
        traces = list({part.trace for part in parts if part.trace})
        for page in _pages(traces):
            found = self.connection.execute(
                select(span_trace.c.trace, span_trace.c.session_id).where(
                    span_trace.c.trace.in_(page)
                )
            )
            self.traces |= {row.trace: row.session_id for row in found}
        names = list({part.session for part in parts if part.session} | set(traces))
        for page in _pages(names):
            rows = self.connection.execute(
                select(span_session).where(span_session.c.native_id.in_(page))
            ).mappings()
            self.sessions |= {row["native_id"]: dict(row) for row in rows}

    def _settle(self, part: SpanPart) -> None:
        """Find, or make, the session that a part tells of."""
        if self._gone(part.trace) is not None:
            return
        if part.session is not None:
            home = self._made(part.session, part.agent)
            if part.trace:
                self._lead(part.trace, home)
        elif part.begins and part.trace and part.trace not in self.traces:
            self._lead(part.trace, self._made(part.trace, part.agent))

    def _made(self, native_id: str, agent: str) -> int:
        if native_id not in self.sessions:
            row = {
                "agent": agent,
                "native_id": native_id,
                **dict.fromkeys(("version", "told", "parts", "size"), 0),
            }
            key = self.connection.execute(span_session.insert(), row).inserted_primary_key
            self.sessions[native_id] = {**row, "id": key[0] if key else None}
        made: int = self.sessions[native_id]["id"]
        return made

    def _lead(self, trace: str, home: int) -> None:
        """Let a trace lead to a session; what stood for the trace alone moves there."""
        before = self.traces.get(trace)
        own = self.sessions.get(trace)
        if before is not None and (own is None or own["id"] != before or before == home):
            return  # the first session that a trace names stays its own
        statement = upsert(span_trace)
        self.connection.execute(
            statement.on_conflict_do_update(
                index_elements=[span_trace.c.trace],
                set_={"session_id": statement.excluded.session_id},
            ),
            {"trace": trace, "session_id": home},
        )
        self.traces[trace] = home
        if own is not None and before is not None:
            self._move(trace, own, home)

    def _move(self, trace: str, own: dict[str, Any], home: int) -> None:
        self.connection.execute(
            update(span_part).where(span_part.c.session_id == own["id"]).values(session_id=home)
        )
        self._grow(home, own["parts"], own["size"])
        self.connection.execute(delete(span_session).where(span_session.c.id == own["id"]))
        del self.sessions[trace]
        self.moved.append(session_ref(own["agent"], trace))

    def _gone(self, trace: str) -> int | None:
        """Return the session that stood for a trace alone and was removed; usually None.

        Whatever else comes of that trace, under whichever name, is of what was removed.
        """
        own = self.sessions.get(trace)
        return None if own is None or own["parts"] != REMOVED else int(own["id"])

    def _home(self, part: SpanPart) -> int | None:
        gone = self._gone(part.trace)
        if gone is not None:
            return gone
        if part.session is not None:
            found = self.sessions.get(part.session)
            return None if found is None else int(found["id"])
        return self.traces.get(part.trace)

    def _put(self, home: int, parts: Sequence[SpanPart]) -> tuple[int, int]:
        """Keep parts of a session, for which there may be too many.

        Returns how many are kept, and how many are not because the session was removed.
        """
        chosen = select(span_session.c.parts, span_session.c.size)
        row = self.connection.execute(chosen.where(span_session.c.id == home)).one()
        if row.parts == REMOVED:
            return 0, len(parts)
        rows: list[dict[str, Any]] = []
        size = row.size
        for part in parts:
            if row.parts + len(rows) >= _MOST_PARTS or size + len(part.data) > _MOST_BYTES:
                break
            size += len(part.data)
            rows.append({"key": part.key, "session_id": home, "data": self.packed[part.key]})
        if rows:
            self.connection.execute(span_part.insert(), rows)
            self._grow(home, len(rows), size - row.size)
        return len(rows), 0

    def _grow(self, home: int, parts: int, size: int) -> None:
        grown = span_session.c
        self.connection.execute(
            update(span_session)
            .where(grown.id == home)
            .values(
                version=grown.version + parts, parts=grown.parts + parts, size=grown.size + size
            )
        )


def _pages(values: Sequence[Any]) -> list[Sequence[Any]]:
    return [values[at : at + _AT_ONCE] for at in range(0, len(values), _AT_ONCE)]
