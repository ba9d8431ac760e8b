"""Where the cases of a new dataset version wait until all of them are there."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Integer,
    LargeBinary,
    MetaData,
    Select,
    String,
    Table,
    func,
    literal,
    select,
)
from sqlalchemy.engine.interfaces import DBAPICursor

from fairtrial.model.case import Case, CaseKey
from fairtrial.model.errors import UsageError
from fairtrial.model.json import canonical_json
from fairtrial.store.blobs import Blobs
from fairtrial.store.codec import to_json, to_text
from fairtrial.store.database import Database
from fairtrial.store.failures import translated
from fairtrial.store.prepared import Prepared, upsert_of
from fairtrial.store.tables import case_content, version_case

_CASES_AT_ONCE = 200
# A compressed case of up to this many bytes stays in the database. More than for an output:
# a file costs a wait for the disk, and a dataset is written all at once.
_INLINE_LIMIT = 64 * 1024

# In SQLite, a temporary table lives in a file of its own connection and locks nobody out.
_staged = Table(
    "staged_case",
    MetaData(),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("case_id", String, nullable=False),
    Column("condition", String, nullable=False),
    Column("split", String),
    Column("tags", String),
    Column("digest", LargeBinary, nullable=False),
    Column("inline", LargeBinary),
    Column("blob", String),
    prefixes=["TEMPORARY"],
)


class Staging:
    """Cases in their order, hashed and stored aside; `digest` and the counts are over them."""

    def __init__(self, database: Database, connection: Connection, blobs: Blobs) -> None:
        self._database = database
        self._connection = connection
        self._blobs = blobs
        self._hashes = hashlib.sha256()
        self._insert = Prepared(
            _staged.insert().inline(), connection.dialect, [column.name for column in _staged.c]
        )
        self.splits: Counter[str] = Counter()
        self.n_cases = 0

    @property
    def digest(self) -> str:
        """The content hash of the version."""
        return self._hashes.hexdigest()

    def fill(self, cases: Iterable[Case]) -> None:
        """Take all cases, a few hundred at a time.

        Raises:
            UsageError: a case is not valid, or is there twice.
            StoreError: they cannot be written.
        """
        waiting = iter(cases)
        # The caller's iterator runs outside: its own errors must not look like the store's.
        # Each case is let go when it is packed, because one may take megabytes.
        while rows := [self._row(case) for case in islice(waiting, _CASES_AT_ONCE)]:
            with self._transaction() as cursor:
                self._insert.run_many(cursor, rows)
        self._refuse_twins()

    def move(self, version: int) -> None:
        """Copy the cases into a version; content that is on record already is shared."""
        contents = upsert_of(self._connection.dialect, case_content).from_select(
            ["digest", "inline", "blob"],
            # Without a condition, SQLite takes ON CONFLICT for a part of a join.
            select(_staged.c.digest, _staged.c.inline, _staged.c.blob)
            .where(literal(value=True))
            .order_by(_staged.c.position),
        )
        self._connection.execute(contents.on_conflict_do_nothing(index_elements=["digest"]))
        self._connection.execute(
            version_case.insert().from_select(
                ["version_id", "position", "content_id", "case_id", "condition", "split", "tags"],
                self._cases(version),
            )
        )

    def _cases(self, version: int) -> Select[Any]:
        return select(
            literal(version),
            _staged.c.position,
            case_content.c.id,
            _staged.c.case_id,
            _staged.c.condition,
            _staged.c.split,
            _staged.c.tags,
        ).join(case_content, case_content.c.digest == _staged.c.digest)

    def _row(self, case: Case) -> tuple[Any, ...]:
        content = case.content()
        try:
            digest = hashlib.sha256(canonical_json(content))
        except (TypeError, ValueError) as error:
            raise UsageError(
                f"case {case.id} is no JSON value",
                why=str(error),
                fix="use numbers that are finite, texts, lists and objects",
            ) from error
        if any(to_text(word) != word for word in (case.id, case.condition, case.split)):
            raise UsageError(
                f"case {to_text(case.id)} has a name that is not valid Unicode",
                fix="give it another id, condition or split",
            )
        self._hashes.update(digest.hexdigest().encode())
        self.splits[case.split or ""] += 1
        position = self.n_cases
        self.n_cases += 1
        # Kept as written, not as hashed, so that the keys of an input stay in their order.
        inline, blob = self._blobs.pack(to_json(content), _INLINE_LIMIT)
        tags = to_json(case.tags).decode() if case.tags else None
        named = (position, case.id, case.condition, case.split, tags)
        return (*named, digest.digest(), inline, blob)

    def _refuse_twins(self) -> None:
        statement = (
            select(_staged.c.case_id, _staged.c.condition)
            .group_by(_staged.c.case_id, _staged.c.condition)
            .having(func.count() > 1)
            .limit(1)
        )
        with translated(self._database.path), self._connection.begin():
            twin = self._connection.execute(statement).one_or_none()
        if twin is not None:
            raise UsageError(
                f"case {CaseKey(twin.case_id, twin.condition)} is there more than once",
                why="results are kept by case id and condition",
                fix="give each case its own id, or remove the copies",
            )

    @contextmanager
    def _transaction(self) -> Iterator[DBAPICursor]:
        with translated(self._database.path), self._connection.begin():
            cursor = self._connection.connection.cursor()
            yield cursor
            cursor.close()


@contextmanager
def staging(database: Database, blobs: Blobs) -> Iterator[tuple[Staging, Connection]]:
    """Give an empty staging and the connection that sees it; it is emptied at the end."""
    with database.engine.connect() as connection:
        with translated(database.path), connection.begin():
            _staged.create(connection)
        try:
            yield Staging(database, connection, blobs), connection
        finally:
            with translated(database.path), connection.begin():
                _staged.drop(connection)
