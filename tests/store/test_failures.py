"""Whatever goes wrong with the disk or the database is told as what, where, why and fix."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NoReturn

import pytest
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from fairtrial.model.case import Case
from fairtrial.model.errors import StoreError
from fairtrial.store.failures import translated
from fairtrial.store.opening import Store, open_store
from fairtrial.testing.store.facts import NOON, a_trial, an_experiment, assert_aggregates

_NOISE = "".join(f"{n * n:x}" for n in range(20_000))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path, busy_timeout_s=0.05) as store:
        store.experiments.open_experiment(an_experiment(), [1])
        yield store


def _sqlite(store: Store, pragma: str) -> None:
    """Set a pragma on the pooled connection that the next transaction gets."""
    connection = store._database.engine.raw_connection()
    connection.cursor().execute(f"PRAGMA {pragma}")
    connection.close()


def test_a_lock_that_stays_is_told(store: Store) -> None:
    store.experiments.record(an_experiment().id, [a_trial()], NOON)
    with closing(sqlite3.connect(store.home / "fairtrial.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="locked by another process") as caught:
            store.experiments.record(an_experiment().id, [a_trial("b")], NOON)
        with pytest.raises(StoreError, match="locked by another process"):
            store.datasets.add_version("d", [])
        assert caught.value.where == str(store.home / "fairtrial.db")
        # Reads do not wait for the lock.
        assert_aggregates(store.experiments, an_experiment(), [a_trial()])
        other.execute("ROLLBACK")
    store.experiments.record(an_experiment().id, [a_trial("b")], NOON)


def test_a_full_disk_is_told_and_loses_nothing(store: Store) -> None:
    store.experiments.record(an_experiment().id, [a_trial()], NOON)
    _sqlite(store, "max_page_count = 1")
    with pytest.raises(StoreError, match="the disk is full"):
        store.experiments.record(
            an_experiment().id, [a_trial(f"{n}", output="x" * 5_000) for n in range(99)], NOON
        )
    with pytest.raises(StoreError, match="the disk is full"):
        store.datasets.add_version("d", (Case(f"{n}", "x" * 5_000) for n in range(99)))
    assert_aggregates(store.experiments, an_experiment(), [a_trial()])
    assert store.datasets.versions() == []
    _sqlite(store, "max_page_count = 1000000")
    store.experiments.record(an_experiment().id, [a_trial("b")], NOON)


@pytest.mark.parametrize(
    ("number", "what"),
    [(errno.ENOSPC, "the disk is full"), (errno.EIO, "the disk failed"), (errno.EACCES, "may not")],
)
def test_a_blob_that_cannot_be_written_is_told(
    store: Store, monkeypatch: pytest.MonkeyPatch, number: int, what: str
) -> None:
    def fail(_: int) -> NoReturn:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(StoreError, match=what) as caught:
        store.experiments.record(an_experiment().id, [a_trial(output=_NOISE)], NOON)
    assert str(store.home / "blobs") in str(caught.value.where)
    assert caught.value.why == os.strerror(number)
    assert not [path for path in (store.home / "blobs").rglob("*") if path.is_file()]
    assert_aggregates(store.experiments, an_experiment(), [])


def test_a_database_that_may_not_be_written_is_told(store: Store) -> None:
    _sqlite(store, "query_only = ON")
    with pytest.raises(StoreError, match="may not be read or written"):
        store.experiments.record(an_experiment().id, [a_trial()], NOON)


def test_a_blob_that_is_gone_or_torn_is_told(store: Store) -> None:
    store.experiments.record(an_experiment().id, [a_trial(output=_NOISE)], NOON)
    (blob,) = (store.home / "blobs").glob("*/*.zst")
    blob.write_bytes(blob.read_bytes()[:-1])
    with pytest.raises(StoreError, match="damaged") as caught:
        list(store.experiments.trials(an_experiment().id))
    assert caught.value.where == str(blob)
    blob.unlink()
    with pytest.raises(StoreError, match="damaged") as caught:
        list(store.experiments.trials(an_experiment().id))
    assert caught.value.why == "the file is missing"


def test_too_many_readers_are_told() -> None:
    with pytest.raises(StoreError, match="locked"), translated(Path("x")):
        raise PoolTimeout


@pytest.mark.parametrize(
    "error",
    [
        sqlite3.IntegrityError("UNIQUE constraint failed"),
        sqlite3.ProgrammingError("closed"),
    ],
)
def test_a_defect_is_not_disguised(error: sqlite3.Error) -> None:
    with pytest.raises(type(error)), translated(Path("x")):
        raise error
    with pytest.raises(IntegrityError), translated(Path("x")):
        raise IntegrityError("", (), error)
    with pytest.raises(DBAPIError), translated(Path("x")):
        raise DBAPIError("", (), error)
