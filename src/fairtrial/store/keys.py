"""Keys of the HTTP API in the database."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select, update

from fairtrial.model.api_key import ApiKey, KeyScope
from fairtrial.model.errors import UsageError
from fairtrial.store.codec import from_micros, to_micros
from fairtrial.store.database import Database
from fairtrial.store.finding import not_found, the_one, with_id_prefix
from fairtrial.store.server_tables import api_key

_GOOD = api_key.c.revoked_at.is_(None)


class SqlKeyStore:
    """The `KeyStore` of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, key: ApiKey, digest: bytes) -> None:
        """Keep a key.

        Raises:
            UsageError: a key that is good has this name already.
        """
        row = {
            "ref": key.id,
            "name": key.name,
            "scope": key.scope.value,
            "digest": digest,
            "created_at": to_micros(key.created_at),
            "project": key.project,
        }
        with self._database.write() as connection:
            same = select(api_key.c.ref).where(api_key.c.name == key.name, _GOOD)
            if connection.execute(same).first() is not None:
                raise UsageError(
                    f"there is a key {key.name!r} already",
                    fix=f"fairtrial key revoke {key.name}, or choose another name",
                )
            connection.execute(insert(api_key), row)

    def all(self) -> Sequence[ApiKey]:
        """Return all keys, the newest first, revoked ones included."""
        statement = select(api_key).order_by(api_key.c.id.desc())
        with self._database.read() as connection:
            return [_key(row) for row in connection.execute(statement)]

    def good(self, digest: bytes) -> ApiKey | None:
        """Return the key whose text has this hash; None when there is none that is good."""
        statement = select(api_key).where(api_key.c.digest == digest, _GOOD)
        with self._database.read() as connection:
            row = connection.execute(statement).first()
        return None if row is None else _key(row)

    def revoke(self, ref: str, now: datetime) -> ApiKey:
        """Revoke a good key; see `KeyStore`.

        Raises:
            NotFoundError: there is none, or the prefix fits several.
        """
        with self._database.write() as connection:
            rows = connection.execute(select(api_key).where(_GOOD)).all()
            exact = [row.ref for row in rows if ref in (row.ref, row.name)]
            good = {row.ref for row in rows}
            fitting = exact or [
                found
                for found in with_id_prefix(connection, api_key.c.ref, "key_", ref)
                if found in good
            ]
            if not fitting:
                names = [row.name for row in rows]
                raise not_found("good key", ref, names, "`fairtrial key list`")
            chosen = the_one(ref, fitting, "keys")
            connection.execute(
                update(api_key).where(api_key.c.ref == chosen).values(revoked_at=to_micros(now))
            )
            row = connection.execute(select(api_key).where(api_key.c.ref == chosen)).one()
        return _key(row)


def _key(row: Any) -> ApiKey:
    return ApiKey(
        id=row.ref,
        name=row.name,
        scope=KeyScope(row.scope),
        created_at=from_micros(row.created_at),
        revoked_at=None if row.revoked_at is None else from_micros(row.revoked_at),
        project=row.project,
    )
