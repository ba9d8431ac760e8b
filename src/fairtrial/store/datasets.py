"""Datasets in the database: immutable versions that share the content of their cases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, func, select

from fairtrial.model.case import Case
from fairtrial.model.dataset import DatasetVersion
from fairtrial.model.errors import NotFoundError
from fairtrial.ports import CaseOutline
from fairtrial.store.blobs import Blobs
from fairtrial.store.case_lookup import named
from fairtrial.store.codec import from_json, from_micros, to_json, to_micros
from fairtrial.store.database import WRITES, Database
from fairtrial.store.failures import translated
from fairtrial.store.finding import not_found
from fairtrial.store.staging import Staging, staging
from fairtrial.store.tables import case_content, dataset, dataset_version, version_case

# A case in the database takes up to 64 KB.
_CASES_A_PAGE = 128
_OUTLINES_A_PAGE = 2_000
_SHORTEST_DIGEST = 6
_LONGEST_NUMBER = 18

_VERSION = select(dataset.c.name, dataset_version).join(
    dataset, dataset.c.id == dataset_version.c.dataset_id
)
# A draft is numbered below 0 and known only to the experiment whose cases it gathers.
_NO_DRAFT = dataset_version.c.number > 0
# Made once: a statement made anew for each page took a fifth of what a short trial takes.
_CONTENT = (
    select(version_case.c.position, case_content.c.inline, case_content.c.blob)
    .join(case_content, case_content.c.id == version_case.c.content_id)
    .where(
        version_case.c.version_id == bindparam("version"),
        version_case.c.position.in_(bindparam("page", expanding=True)),
    )
)


class SqlDatasetStore:
    """The `DatasetStore` of a database."""

    def __init__(self, database: Database, blobs: Blobs, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._blobs = blobs
        self._clock = clock

    def add_version(self, name: str, cases: Iterable[Case]) -> tuple[DatasetVersion, bool]:
        """Store cases as the newest version of a dataset; see `DatasetStore`.

        The cases are read while nothing is locked, then stored in one transaction.

        Raises:
            UsageError: a case is not valid, or is there twice; nothing is stored.
            StoreError: the store cannot be written; nothing is stored.
        """
        with staging(self._database, self._blobs) as (staged, connection):
            staged.fill(cases)
            connection.execution_options(**{WRITES: True})
            with translated(self._database.path), connection.begin():
                newest = _newest(connection, name)
                if newest is not None and newest.digest == staged.digest:
                    return newest, False
                number = 1 if newest is None else newest.number + 1
                return self._store(connection, name, number, staged), True

    def _store(
        self, connection: Connection, name: str, number: int, staged: Staging
    ) -> DatasetVersion:
        named = select(dataset.c.id).where(dataset.c.name == name)
        parent = connection.execute(named).scalar_one_or_none()
        if parent is None:
            created = dataset.insert().values(name=name).returning(dataset.c.id)
            parent = connection.execute(created).scalar_one()
        version = DatasetVersion(
            dataset=name,
            number=number,
            digest=staged.digest,
            created_at=from_micros(to_micros(self._clock())),
            n_cases=staged.n_cases,
            splits=dict(staged.splits),
        )
        inserted = dataset_version.insert().values(
            dataset_id=parent,
            number=number,
            digest=version.digest,
            created_at=to_micros(version.created_at),
            n_cases=version.n_cases,
            splits=to_json(version.splits).decode(),
        )
        staged.move(connection.execute(inserted.returning(dataset_version.c.id)).scalar_one())
        return version

    def version(self, ref: str) -> DatasetVersion:
        """Return the version that `NAME`, `NAME@NUMBER` or `NAME@DIGEST` names.

        Raises:
            NotFoundError: there is none, or the digits fit several.
        """
        with self._database.read() as connection:
            newest = _newest(connection, ref)
            if newest is not None:
                return newest
            name, at, pin = ref.rpartition("@")
            if pin.startswith("-"):
                draft = _draft(connection, name, pin)
                if draft is not None:
                    return draft
            newest = _newest(connection, name) if at else None
            if newest is not None:
                return _pinned(connection, newest, pin)
            names = connection.execute(select(dataset.c.name)).scalars().all()
            raise not_found("dataset", name if at else ref, names, "`fairtrial dataset list`")

    def versions(self, name: str | None = None) -> Sequence[DatasetVersion]:
        """Return the newest version of every dataset by name, or all of one, newest first."""
        if name is None:
            last = (
                select(dataset_version.c.dataset_id, func.max(dataset_version.c.number).label("n"))
                .where(_NO_DRAFT)
                .group_by(dataset_version.c.dataset_id)
                .subquery()
            )
            statement = _VERSION.join(
                last,
                (last.c.dataset_id == dataset_version.c.dataset_id)
                & (last.c.n == dataset_version.c.number),
            ).order_by(dataset.c.name)
        else:
            statement = _VERSION.where(dataset.c.name == name, _NO_DRAFT).order_by(
                dataset_version.c.number.desc()
            )
        with self._database.read() as connection:
            return [_version(row) for row in connection.execute(statement)]

    def cases(
        self, version: DatasetVersion, positions: Sequence[int] | None = None
    ) -> Iterator[Case]:
        """Yield cases in dataset order, or those at the given positions in the given order.

        Raises:
            NotFoundError: there is no such version, or no case at a position.
        """
        number = self._number(version)
        return self._cases(
            version, number, range(version.n_cases) if positions is None else positions
        )

    def _cases(
        self, version: DatasetVersion, number: int, positions: Sequence[int]
    ) -> Iterator[Case]:
        for start in range(0, len(positions), _CASES_A_PAGE):
            page = positions[start : start + _CASES_A_PAGE]
            with self._database.read() as connection:
                rows = connection.execute(_CONTENT, {"version": number, "page": page})
                found = {position: packed for position, *packed in rows}
            for position in page:
                if position not in found:
                    raise NotFoundError(f"there is no case {position} in {version.ref}")
                yield _case(from_json(self._blobs.unpack(*found[position])))

    def cases_of_id(self, version: DatasetVersion, case_id: str) -> Sequence[Case]:
        """Return the cases with an id, one a condition; see `DatasetStore`.

        Raises:
            NotFoundError: there is no such version.
        """
        statement = (
            select(case_content.c.inline, case_content.c.blob)
            .join(version_case, case_content.c.id == version_case.c.content_id)
            .where(named(self._number(version), [case_id]))
            .order_by(version_case.c.position)
        )
        with self._database.read() as connection:
            found = connection.execute(statement).all()
        return [_case(from_json(self._blobs.unpack(*packed))) for packed in found]

    def outline(self, version: DatasetVersion) -> Iterator[CaseOutline]:
        """Yield what selection needs of every case, in dataset order, without its content.

        Raises:
            NotFoundError: there is no such version.
        """
        return self._outline(self._number(version))

    def _outline(self, number: int) -> Iterator[CaseOutline]:
        statement = (
            select(
                version_case.c.position,
                version_case.c.case_id,
                version_case.c.condition,
                version_case.c.split,
                case_content.c.digest,
            )
            .join(case_content, case_content.c.id == version_case.c.content_id)
            .where(version_case.c.version_id == number)
            .order_by(version_case.c.position)
            .limit(_OUTLINES_A_PAGE)
        )
        page = statement
        while True:
            with self._database.read() as connection:
                found = connection.execute(page).all()
            for position, case_id, condition, split, digest in found:
                yield CaseOutline(position, case_id, condition, split, digest.hex())
            if len(found) < _OUTLINES_A_PAGE:
                return
            page = statement.where(version_case.c.position > found[-1].position)

    def _number(self, version: DatasetVersion) -> int:
        statement = (
            select(dataset_version.c.id)
            .join(dataset, dataset.c.id == dataset_version.c.dataset_id)
            .where(dataset.c.name == version.dataset, dataset_version.c.number == version.number)
        )
        with self._database.read() as connection:
            number = connection.execute(statement).scalar_one_or_none()
        if number is None:
            raise NotFoundError(f"there is no dataset version {version.ref}")
        return int(number)


def _newest(connection: Connection, name: str) -> DatasetVersion | None:
    statement = (
        _VERSION.where(dataset.c.name == name, _NO_DRAFT)
        .order_by(dataset_version.c.number.desc())
        .limit(1)
    )
    found = connection.execute(statement).one_or_none()
    return None if found is None else _version(found)


def _draft(connection: Connection, name: str, pin: str) -> DatasetVersion | None:
    """Return the draft with a number below 0."""
    if not (pin[1:].isascii() and pin[1:].isdecimal() and len(pin) <= _LONGEST_NUMBER):
        return None
    numbered = _VERSION.where(dataset.c.name == name, dataset_version.c.number == int(pin))
    found = connection.execute(numbered).one_or_none()
    return None if found is None else _version(found)


def _pinned(connection: Connection, newest: DatasetVersion, pin: str) -> DatasetVersion:
    """Return the version with a number, or the newest whose digest begins with these digits."""
    of_dataset = _VERSION.where(dataset.c.name == newest.dataset, _NO_DRAFT)
    if pin.isdecimal() and int(pin) <= newest.number:
        numbered = of_dataset.where(dataset_version.c.number == int(pin))
        found = connection.execute(numbered).one_or_none()
        if found is not None:
            return _version(found)
    fitting: dict[str, DatasetVersion] = {}
    if len(pin) >= _SHORTEST_DIGEST:
        hashed = of_dataset.where(
            dataset_version.c.digest.startswith(pin.lower(), autoescape=True)
        ).order_by(dataset_version.c.number)
        fitting = {row.digest: _version(row) for row in connection.execute(hashed)}
    if len(fitting) == 1:
        return fitting.popitem()[1]
    if fitting:
        raise NotFoundError(
            f"@{pin} fits several versions of {newest.dataset}",
            why=", ".join(f"@{version.number} {digest}" for digest, version in fitting.items()),
            fix="give more digits, or the number",
        )
    raise NotFoundError(
        f"there is no version {pin} of {newest.dataset}",
        fix=f"its newest is {newest.ref} ({newest.digest[:12]}); "
        f"`fairtrial dataset list {newest.dataset}` shows all",
    )


def _version(row: Row[Any]) -> DatasetVersion:
    return DatasetVersion(
        dataset=row.name,
        number=row.number,
        digest=row.digest,
        created_at=from_micros(row.created_at),
        n_cases=row.n_cases,
        splits=from_json(row.splits),
    )


def _case(content: dict[str, Any]) -> Case:
    return Case(**{**content, "tags": tuple(content["tags"])})
