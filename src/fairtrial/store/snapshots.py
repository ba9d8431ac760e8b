"""What is known of snapshots, in the database."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import msgspec
from sqlalchemy import Select, delete, select

from fairtrial.model.errors import NotFoundError
from fairtrial.model.snapshot import Snapshot
from fairtrial.store.codec import from_json, to_json, to_micros
from fairtrial.store.database import Database
from fairtrial.store.finding import the_one, with_id_prefix
from fairtrial.store.session_tables import snapshot

_ID_PREFIX = "snap_"
_AT_ONCE = 500


class SqlSnapshotStore:
    """The `SnapshotStore` of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, snapshots: Iterable[Snapshot]) -> None:
        """Keep snapshots; those that are known already stay as they are."""
        rows = {one.id: _row(one) for one in snapshots}
        if not rows:
            return
        with self._database.write() as connection:
            known = select(snapshot.c.ref).where(snapshot.c.ref.in_(rows))
            for ref in connection.execute(known).scalars().all():
                del rows[ref]
            if rows:
                connection.execute(snapshot.insert(), list(rows.values()))

    def of_session(self, agent: str, native_id: str) -> Sequence[Snapshot]:
        """Return the snapshots of a session, the first taken first."""
        statement = select(snapshot.c.body).where(
            snapshot.c.native_id == native_id, snapshot.c.agent == agent
        )
        return self._found(statement.order_by(snapshot.c.ref))

    def find(self, ref: str) -> Snapshot:
        """Return the snapshot that an id or a unique prefix names; see `SnapshotStore`."""
        with self._database.read() as connection:
            fitting = with_id_prefix(connection, snapshot.c.ref, _ID_PREFIX, ref)
        if not fitting:
            raise NotFoundError(
                f"there is no snapshot {ref}", fix="`fairtrial sessions show` tells a session's"
            )
        name = ref if ref in fitting else the_one(ref, fitting, "snapshots")
        return self._found(select(snapshot.c.body).where(snapshot.c.ref == name))[0]

    def newest(self, limit: int) -> Sequence[Snapshot]:
        """Return the last taken ones, the last first."""
        return self._found(select(snapshot.c.body).order_by(snapshot.c.ref.desc()).limit(limit))

    def forget(self, snapshots: Iterable[Snapshot]) -> None:
        """Remove what is known of snapshots."""
        ids = [one.id for one in snapshots]
        with self._database.write() as connection:
            for start in range(0, len(ids), _AT_ONCE):
                some = ids[start : start + _AT_ONCE]
                connection.execute(delete(snapshot).where(snapshot.c.ref.in_(some)))

    def _found(self, statement: Select[Any]) -> list[Snapshot]:
        with self._database.read() as connection:
            bodies = connection.execute(statement).scalars().all()
        return [msgspec.convert(from_json(body), Snapshot) for body in bodies]


def _row(one: Snapshot) -> dict[str, Any]:
    return {
        "ref": one.id,
        "agent": one.agent,
        "native_id": one.native_id,
        "moment": one.moment.value,
        "taken_at": to_micros(one.taken_at),
        "body": to_json({**asdict(one), "taken_at": one.taken_at.isoformat()}).decode(),
    }
