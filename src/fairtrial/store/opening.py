"""Opening a store: the one way in."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from fairtrial.model.errors import StoreError
from fairtrial.ports import (
    AnswerCache,
    CallStore,
    DatasetStore,
    ExperimentStore,
    LogbookStore,
    SettingsStore,
    SweepStore,
)
from fairtrial.store.answers import SqlAnswerCache
from fairtrial.store.blobs import Blobs
from fairtrial.store.calls import SqlCallStore
from fairtrial.store.database import Database
from fairtrial.store.datasets import SqlDatasetStore
from fairtrial.store.experiments import SqlExperimentStore
from fairtrial.store.failures import translated
from fairtrial.store.glance import DATABASE_FILE
from fairtrial.store.logbooks import SqlLogbookStore
from fairtrial.store.settings import SqlSettingsStore
from fairtrial.store.sweeps import SqlSweepStore
from fairtrial.store.versioning import check_version, create, ensure_current

if TYPE_CHECKING:
    from fairtrial.ports.keys import KeyStore
    from fairtrial.ports.pruning import Pruner
    from fairtrial.ports.reporting import ReportStore
    from fairtrial.ports.reviews import ReviewStore
    from fairtrial.ports.sessions import SessionStore
    from fairtrial.ports.snapshots import SnapshotStore
    from fairtrial.ports.spans import SpanStore
    from fairtrial.ports.suites import SuiteStore
    from fairtrial.store.changing import ChangeWatch

BLOB_FOLDER = "blobs"
# Apart from the blobs of datasets and trials: what no record names is swept here.
CALL_FOLDER = "call-blobs"
ANSWER_FOLDER = "answer-blobs"
EVAL_FOLDER = "eval-blobs"


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Store:
    """An open store. Threads may share it; a process must not use one it inherited by a fork.

    Attributes:
        home: Its folder.
        datasets: Its datasets.
        experiments: Its experiments.
        settings: Its settings.
        calls: The model calls that a proxy saw.
        answers: Model answers that were kept.
        sweeps: Races of configurations.
        logbooks: Timelines of projects.
    """

    def __init__(self, home: Path, database: Database, clock: Callable[[], datetime]) -> None:
        blobs = Blobs(home / BLOB_FOLDER)
        self._database = database
        self._clock = clock
        self.home = home
        self.datasets: DatasetStore = SqlDatasetStore(database, blobs, clock)
        self.experiments: ExperimentStore = SqlExperimentStore(database, blobs)
        self.settings: SettingsStore = SqlSettingsStore(database)
        self.calls: CallStore = SqlCallStore(database, Blobs(home / CALL_FOLDER))
        self.sweeps: SweepStore = SqlSweepStore(database)
        self.logbooks: LogbookStore = SqlLogbookStore(database)
        self.answers: AnswerCache = SqlAnswerCache(database, Blobs(home / ANSWER_FOLDER), clock)

    @cached_property
    def sessions(self) -> SessionStore:
        """Captured sessions of coding agents."""
        # Its modules take longer to import than most commands can spare.
        from fairtrial.store.sessions import SqlSessionStore  # noqa: PLC0415

        return SqlSessionStore(self._database, self._clock)

    @cached_property
    def snapshots(self) -> SnapshotStore:
        """What is known of snapshots of repositories."""
        from fairtrial.store.snapshots import SqlSnapshotStore  # noqa: PLC0415  # as above

        return SqlSnapshotStore(self._database)

    @cached_property
    def pruner(self) -> Pruner:
        """What removes what is old."""
        from fairtrial.store.pruning import SqlPruner  # noqa: PLC0415  # as above

        return SqlPruner(self._database, self.home, Blobs(self.home / BLOB_FOLDER), self._clock)

    @cached_property
    def suites(self) -> SuiteStore:
        """Eval tasks."""
        from fairtrial.store.suites import SqlSuiteStore  # noqa: PLC0415  # as above

        return SqlSuiteStore(self._database, Blobs(self.home / EVAL_FOLDER))

    @cached_property
    def reviews(self) -> ReviewStore:
        """Rows that wait for a person's look."""
        from fairtrial.store.reviews import SqlReviewStore  # noqa: PLC0415  # pages only

        return SqlReviewStore(self._database)

    @cached_property
    def reports(self) -> ReportStore:
        """Experiments whose trials other programs report."""
        from fairtrial.store.reporting import SqlReportStore  # noqa: PLC0415  # as above

        return SqlReportStore(self._database, Blobs(self.home / BLOB_FOLDER))

    @cached_property
    def keys(self) -> KeyStore:
        """Keys of the HTTP API."""
        from fairtrial.store.keys import SqlKeyStore  # noqa: PLC0415  # only the server needs them

        return SqlKeyStore(self._database)

    @cached_property
    def spans(self) -> SpanStore:
        """What programs told by OpenTelemetry."""
        from fairtrial.store.spans import SqlSpanStore  # noqa: PLC0415  # only the server needs them

        return SqlSpanStore(self._database)

    def check(self) -> None:
        """Look whether this program still knows the store's schema.

        Raises:
            StoreError: a newer program has migrated it meanwhile, or it cannot be read.
        """
        check_version(self._database)

    def watch(self) -> ChangeWatch:
        """Return what sees that anything was written.

        Raises:
            StoreError: the store cannot be read.
        """
        from fairtrial.store.changing import ChangeWatch  # noqa: PLC0415  # only the server watches

        return ChangeWatch(self._database.path)

    def close(self) -> None:
        """Close every connection; a transaction in another thread must have ended."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def open_store(
    home: Path,
    url: str | None = None,
    *,
    clock: Callable[[], datetime] = _utc_now,
    busy_timeout_s: float = 30.0,
) -> Store:
    """Open the store of a folder; make it when there is none, migrate it when it is older.

    Args:
        home: The folder of the database and the blobs; made with mode 0700.
        url: A database elsewhere, `sqlite:////path/to/file`; the blobs stay under `home`.
        clock: When a dataset version is added.
        busy_timeout_s: How long to wait for another process's write.

    Raises:
        StoreError: it cannot be opened: no permission, not a store, damaged, or made by a newer
            fairtrial.
    """
    path = home / DATABASE_FILE if url is None else _path_of(url)
    with translated(home):
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with translated(path):
        create(path)
        database = Database(path, busy_timeout_s)
        try:
            ensure_current(database)
        except BaseException:
            database.close()
            raise
    return Store(home, database, clock)


def _path_of(url: str) -> Path:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise StoreError(
            "the store's address is not a database URL",
            where="FAIRTRIAL_STORE",
            fix="unset it, or use sqlite:////path/to/file",
        ) from error
    if parsed.get_backend_name() != "sqlite" or not parsed.database:
        raise StoreError(
            f"this version cannot keep its store in {parsed.get_backend_name()}",
            where="FAIRTRIAL_STORE",
            fix="unset it, or use sqlite:////path/to/file",
        )
    return Path(parsed.database)
