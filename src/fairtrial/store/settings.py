"""Settings in the database: a JSON value under each key."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import delete, select

from fairtrial.model.json import Json
from fairtrial.store.codec import from_json, to_json, to_micros
from fairtrial.store.database import Database
from fairtrial.store.tables import setting


class SqlSettingsStore:
    """The `SettingsStore` of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, key: str) -> Json:
        """Return the value under a key; None when there is none."""
        with self._database.read() as connection:
            found = connection.execute(select(setting.c.value).where(setting.c.key == key))
            text = found.scalar_one_or_none()
        return None if text is None else from_json(text)

    def set(self, key: str, value: Json, now: datetime) -> None:
        """Keep a value in place of the one before."""
        row = {"key": key, "value": to_json(value).decode(), "set_at": to_micros(now)}
        with self._database.write() as connection:
            connection.execute(delete(setting).where(setting.c.key == key))
            connection.execute(setting.insert(), row)

    def delete(self, key: str) -> bool:
        """Forget a value; return whether there was one."""
        with self._database.write() as connection:
            return connection.execute(delete(setting).where(setting.c.key == key)).rowcount > 0
