"""Answers of models in the database, by the hash of the whole question."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from sqlalchemy import Connection, bindparam, delete, func, select, update

from fairtrial.model.recorded_call import KeptAnswer
from fairtrial.store.blobs import Blobs
from fairtrial.store.codec import from_json, to_json, to_micros, to_text
from fairtrial.store.database import Database
from fairtrial.store.prepared import upsert_of
from fairtrial.store.tables import kept_answer

# A use is noted once an hour: a write for every read would queue up behind the run's own.
_NOTED_EVERY = timedelta(hours=1)
_HOUR = int(_NOTED_EVERY.total_seconds() * 1e6)
# Answers forgotten in one transaction.
_AT_ONCE = 1_000
# Shorter ones hardly shrink.
_PLAIN_LIMIT = 200

_BY_KEY = select(kept_answer).where(kept_answer.c.key == bindparam("wanted"))


class SqlAnswerCache:
    """The `AnswerCache` of a database. Uses are noted to the hour."""

    def __init__(self, database: Database, blobs: Blobs, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._blobs = blobs
        self._clock = clock

    def get(self, key: str) -> KeptAnswer | None:
        """Return the answer kept under a key, and note that it was used.

        Raises:
            StoreError: the store cannot be read, or the answer is damaged.
        """
        with self._database.read() as connection:
            found = connection.execute(_BY_KEY, {"wanted": key}).one_or_none()
        if found is None:
            return None
        now = to_micros(self._clock())
        if now - found.used_at >= _HOUR:
            with self._database.write() as connection:
                connection.execute(
                    update(kept_answer).where(kept_answer.c.id == found.id).values(used_at=now)
                )
        reply = from_json(self._blobs.unpack(found.inline, found.blob))
        return KeptAnswer(found.key, found.provider, found.model, reply)

    def keep(self, answer: KeptAnswer, now: datetime) -> None:
        """Keep an answer; one under the same key stays as it was.

        Raises:
            StoreError: the store cannot be written.
        """
        payload = to_json(answer.reply)
        inline, blob = self._blobs.pack(payload, plain_limit=_PLAIN_LIMIT)
        row = {
            "key": answer.key,
            "provider": to_text(answer.provider),
            "model": to_text(answer.model),
            "bytes": self._blobs.stored_bytes(inline, blob),
            "created_at": to_micros(now),
            "used_at": to_micros(now),
            "inline": inline,
            "blob": blob,
        }
        insert = upsert_of(self._database.engine.dialect, kept_answer)
        with self._database.write() as connection:
            if blob is not None and not self._blobs.has(blob):
                # It was pruned between the packing and the lock.
                self._blobs.pack(payload, plain_limit=_PLAIN_LIMIT)
            connection.execute(insert.on_conflict_do_nothing(index_elements=["key"]), row)

    def prune(
        self, now: datetime, older_than_s: float | None, largest_bytes: int | None
    ) -> tuple[int, int]:
        """Forget answers unused for so long, then the longest unused ones beyond a total size.

        Returns:
            How many were forgotten, and their bytes.

        Raises:
            StoreError: the store cannot be written, or a file cannot be removed.
        """
        forgotten = freed = 0
        if older_than_s is not None:
            before = to_micros(now - timedelta(seconds=older_than_s))
            with self._database.write() as connection:
                old = kept_answer.c.used_at < before
                forgotten, freed = _size(connection, old)
                connection.execute(delete(kept_answer).where(old))
        if largest_bytes is not None:
            more, bytes_more = self._shrink(largest_bytes)
            forgotten, freed = forgotten + more, freed + bytes_more
        # A file goes only when the record that named it is gone for good.
        with self._database.write() as connection:
            names = connection.execute(
                select(kept_answer.c.blob).where(kept_answer.c.blob.is_not(None))
            )
            self._blobs.keep_only(set(names.scalars()))
        return forgotten, freed

    def _shrink(self, largest_bytes: int) -> tuple[int, int]:
        forgotten = freed = 0
        longest_unused = (
            select(kept_answer.c.id, kept_answer.c.bytes)
            .order_by(kept_answer.c.used_at, kept_answer.c.id)
            .limit(_AT_ONCE)
        )
        while True:
            with self._database.write() as connection:
                over = _size(connection)[1] - largest_bytes
                gone = []
                for found in connection.execute(longest_unused).all():
                    if over <= 0:
                        break
                    gone.append(found.id)
                    over -= found.bytes
                    freed += found.bytes
                if not gone:
                    return forgotten, freed
                connection.execute(delete(kept_answer).where(kept_answer.c.id.in_(gone)))
                forgotten += len(gone)

    def size(self) -> tuple[int, int]:
        """Return how many answers there are, and their bytes."""
        with self._database.read() as connection:
            return _size(connection)


def _size(connection: Connection, *where: object) -> tuple[int, int]:
    statement = select(func.count(), func.coalesce(func.sum(kept_answer.c.bytes), 0))
    count, size = connection.execute(statement.select_from(kept_answer).where(*where)).one()  # type: ignore[arg-type]
    return int(count), int(size)
