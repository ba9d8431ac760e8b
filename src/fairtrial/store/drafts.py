"""The cases of an experiment that come with its trials, until they are a dataset version.

A draft is a version whose number is below 0, so that no list shows it and nobody runs on it; only
its experiment knows it, so pages show its cases while it grows.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, delete, func, insert, select, update

from fairtrial.model.case import Case, CaseKey
from fairtrial.model.errors import ConflictError, UsageError
from fairtrial.model.experiment import Experiment
from fairtrial.model.json import canonical_json
from fairtrial.store.blobs import Blobs
from fairtrial.store.codec import from_json, to_json, to_micros, to_packed, to_text
from fairtrial.store.prepared import upsert_of
from fairtrial.store.tables import (
    case_content,
    dataset,
    dataset_version,
    experiment,
    experiment_cases,
    version_case,
)

_INLINE_LIMIT: Final = 64 * 1024
_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True)
class PackedCase:
    """A case as it is stored.

    Attributes:
        case: The case.
        digest: SHA-256 of its content.
        inline: The packed content; None when it is in a file.
        blob: The name of that file.
    """

    case: Case
    digest: bytes
    inline: bytes | None
    blob: str | None


def packed_case(case: Case, blobs: Blobs) -> PackedCase:
    """Return a case as it is stored.

    Raises:
        UsageError: it is no JSON value, or a name in it is not valid Unicode.
    """
    content = case.content()
    try:
        digest = hashlib.sha256(canonical_json(content)).digest()
    except (TypeError, ValueError) as error:
        raise UsageError(f"case {case.id} is no JSON value", why=str(error)) from error
    if any(to_text(word) != word for word in (case.id, case.condition, case.split)):
        raise UsageError(f"case {to_text(case.id)} has a name that is not valid Unicode")
    return PackedCase(case, digest, *blobs.pack(to_json(content), _INLINE_LIMIT))


class Draft:
    """The draft of one experiment, within a transaction that holds the write lock."""

    def __init__(self, connection: Connection, number: int) -> None:
        self._connection = connection
        self._experiment = number

    def make(self, opened: Experiment) -> None:
        """Make an empty draft for an experiment that was just stored."""
        named = select(dataset.c.id).where(dataset.c.name == opened.dataset)
        parent = self._connection.execute(named).scalar_one_or_none()
        if parent is None:
            parent = self._connection.execute(
                insert(dataset).values(name=opened.dataset).returning(dataset.c.id)
            ).scalar_one()
        digest = hashlib.sha256(opened.id.encode()).hexdigest()
        self._connection.execute(
            insert(dataset_version).values(
                dataset_id=parent,
                number=-self._experiment,
                digest=digest,
                created_at=to_micros(opened.created_at),
                n_cases=0,
                splits="{}",
            )
        )
        self._name(-self._experiment, digest)

    def add(self, cases: Mapping[CaseKey, PackedCase], blobs: Blobs) -> int:
        """Add the cases that are new; return how many there are now.

        Raises:
            ConflictError: a case has another content than before.
        """
        version = self._version()
        there = self._digests(version.id, {key.case_id for key in cases})
        for key, packed in cases.items():
            if there.get(key, packed.digest) != packed.digest:
                raise ConflictError(
                    "case_changed",
                    f"case {key} has another content than before",
                    fix="give it another id, or send what was sent first",
                )
        new = [packed for key, packed in cases.items() if key not in there]
        if not new:
            return int(version.n_cases)
        contents = self._contents(new, blobs)
        splits: Counter[str] = Counter(from_json(version.splits))
        splits.update(packed.case.split or "" for packed in new)
        self._connection.execute(
            insert(version_case),
            [
                {
                    "version_id": version.id,
                    "position": version.n_cases + place,
                    "content_id": contents[packed.digest],
                    "case_id": packed.case.id,
                    "condition": packed.case.condition,
                    "split": packed.case.split,
                    "tags": to_json(packed.case.tags).decode() if packed.case.tags else None,
                }
                for place, packed in enumerate(new)
            ],
        )
        n_cases = int(version.n_cases) + len(new)
        self._connection.execute(
            update(dataset_version)
            .where(dataset_version.c.id == version.id)
            .values(n_cases=n_cases, splits=to_json(dict(splits)).decode())
        )
        return n_cases

    def seal(self, now: int) -> None:
        """Make the draft a version, or use the version of the dataset that has the same cases.

        The cases are ordered by id and condition: two experiments on the same cases then have the
        same version, in whatever order their trials came.
        """
        version = self._version()
        rows = self._connection.execute(
            select(version_case, case_content.c.digest)
            .join(case_content, case_content.c.id == version_case.c.content_id)
            .where(version_case.c.version_id == version.id)
            .order_by(version_case.c.case_id, version_case.c.condition)
        ).all()
        hashes = hashlib.sha256()
        for row in rows:
            hashes.update(row.digest.hex().encode())
        digest = hashes.hexdigest()
        of_dataset = (dataset_version.c.dataset_id == version.dataset_id) & (
            dataset_version.c.number > 0
        )
        number = self._connection.execute(
            select(func.max(dataset_version.c.number)).where(
                of_dataset, dataset_version.c.digest == digest
            )
        ).scalar_one()
        self._connection.execute(
            delete(version_case).where(version_case.c.version_id == version.id)
        )
        if number is not None:
            self._connection.execute(
                delete(dataset_version).where(dataset_version.c.id == version.id)
            )
        else:
            newest = select(func.max(dataset_version.c.number)).where(of_dataset)
            number = (self._connection.execute(newest).scalar_one() or 0) + 1
            columns = [column.name for column in version_case.c if column.name != "position"]
            self._connection.execute(
                insert(version_case),
                [
                    {**{name: getattr(row, name) for name in columns}, "position": place}
                    for place, row in enumerate(rows)
                ],
            )
            self._connection.execute(
                update(dataset_version)
                .where(dataset_version.c.id == version.id)
                .values(number=number, digest=digest, created_at=now)
            )
        self._name(number, digest)
        self._connection.execute(
            update(experiment_cases)
            .where(experiment_cases.c.experiment_id == self._experiment)
            .values(positions=to_packed(range(len(rows))))
        )

    def _name(self, number: int, digest: str) -> None:
        self._connection.execute(
            update(experiment)
            .where(experiment.c.id == self._experiment)
            .values(dataset_number=number, dataset_digest=digest)
        )

    def _version(self) -> Any:
        return self._connection.execute(
            select(dataset_version)
            .join(dataset, dataset.c.id == dataset_version.c.dataset_id)
            .join(experiment, experiment.c.dataset == dataset.c.name)
            .where(
                experiment.c.id == self._experiment,
                dataset_version.c.number == experiment.c.dataset_number,
            )
        ).one()

    def _digests(self, version: int, ids: set[str]) -> dict[CaseKey, bytes]:
        wanted = sorted(ids)
        found: dict[CaseKey, bytes] = {}
        for start in range(0, len(wanted), _AT_ONCE):
            rows = self._connection.execute(
                select(version_case.c.case_id, version_case.c.condition, case_content.c.digest)
                .join(case_content, case_content.c.id == version_case.c.content_id)
                .where(
                    version_case.c.version_id == version,
                    version_case.c.case_id.in_(wanted[start : start + _AT_ONCE]),
                )
            )
            found |= {CaseKey(row.case_id, row.condition): row.digest for row in rows}
        return found

    def _contents(self, new: list[PackedCase], blobs: Blobs) -> dict[bytes, int]:
        """Keep contents; return their numbers by digest."""
        for packed in new:
            if packed.blob is not None and not blobs.has(packed.blob):
                # It was swept between packing and this lock.
                blobs.pack(to_json(packed.case.content()), _INLINE_LIMIT)
        statement = upsert_of(self._connection.dialect, case_content).on_conflict_do_nothing(
            index_elements=("digest",)
        )
        self._connection.execute(
            statement,
            [
                {"digest": packed.digest, "inline": packed.inline, "blob": packed.blob}
                for packed in new
            ],
        )
        digests = list({packed.digest for packed in new})
        found: dict[bytes, int] = {}
        for start in range(0, len(digests), _AT_ONCE):
            rows = self._connection.execute(
                select(case_content.c.digest, case_content.c.id).where(
                    case_content.c.digest.in_(digests[start : start + _AT_ONCE])
                )
            )
            found |= {row.digest: row.id for row in rows}
        return found
