"""Removing what is old, so that nothing of it stays on the disk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Column, ColumnElement, func, select

from fairtrial.model.experiment import Status
from fairtrial.ports.pruning import Kept
from fairtrial.store.blobs import Blobs
from fairtrial.store.codec import from_micros, to_micros
from fairtrial.store.database import Database
from fairtrial.store.failures import translated
from fairtrial.store.output_removal import removed_key, strip_outputs
from fairtrial.store.session_tables import session, snapshot
from fairtrial.store.tables import experiment, kept_answer, model_call, setting

_CRASHES = "crashes.log"
_NEVER = datetime(9000, 1, 1, tzinfo=UTC)
"""A moment that everything is older than."""
_measured = func.json_extract(experiment.c.spec, "$.metrics").is_not(None)
_with_outputs = (
    (experiment.c.status != Status.RUNNING.value)
    & ~_measured
    & (removed_key(experiment.c.ref).not_in(select(setting.c.key)))
)
_TIMES: Mapping[Kept, tuple[Column[Any], ColumnElement[bool] | None]] = {
    Kept.SESSIONS: (session.c.sorted_at, None),
    Kept.CALLS: (model_call.c.started_at, model_call.c.experiment.is_(None)),
    Kept.RECORDINGS: (model_call.c.started_at, model_call.c.experiment.is_not(None)),
    Kept.OUTPUTS: (experiment.c.created_at, _with_outputs),
    Kept.CACHE: (kept_answer.c.used_at, None),
    Kept.SNAPSHOTS: (snapshot.c.taken_at, None),
}


class SqlPruner:
    """The `Pruner` of a database and its folder."""

    def __init__(
        self, database: Database, home: Path, blobs: Blobs, clock: Callable[[], datetime]
    ) -> None:
        self._database = database
        self._home = home
        self._blobs = blobs
        self._clock = clock

    def cutoff(self, kept: Kept, before: datetime | None, keep: int | None) -> datetime | None:
        """Return the moment before which a kind is to be removed; see `Pruner`."""
        if keep is None:
            return before
        nth = self._nth_newest(kept, keep)
        if nth is None:
            return None
        return nth if before is None else min(nth, before)

    def _nth_newest(self, kept: Kept, keep: int) -> datetime | None:
        """Return the time of the last one that stays; None when all do."""
        if keep == 0:
            return _NEVER
        if kept is Kept.LEFTOVERS:
            times = sorted((time for _, time in self._leftovers()), reverse=True)
            return times[keep - 1] if keep <= len(times) else None
        column, condition = _TIMES[kept]
        statement = select(column).order_by(column.desc()).limit(1).offset(keep - 1)
        if condition is not None:
            statement = statement.where(condition)
        with self._database.read() as connection:
            found = connection.execute(statement).scalar_one_or_none()
        return None if found is None else from_micros(found)

    def older(self, kept: Kept, cutoff: datetime) -> int:
        """Return how many of a kind are older."""
        if kept is Kept.LEFTOVERS:
            return sum(time < cutoff for _, time in self._leftovers())
        column, condition = _TIMES[kept]
        statement = select(func.count()).select_from(column.table).where(column < to_micros(cutoff))
        if condition is not None:
            statement = statement.where(condition)
        with self._database.read() as connection:
            return int(connection.execute(statement).scalar_one())

    def remove_outputs(self, cutoff: datetime) -> int:
        """Remove the outputs of experiments; see `Pruner`.

        Raises:
            StoreError: the store cannot be written, or a file cannot be removed.
        """
        statement = (
            select(experiment.c.id, experiment.c.ref)
            .where(experiment.c.created_at < to_micros(cutoff), _with_outputs)
            .order_by(experiment.c.id)
        )
        with self._database.read() as connection:
            due = connection.execute(statement).all()
        for found in due:
            strip_outputs(
                self._database, self._blobs, found.id, found.ref, to_micros(self._clock())
            )
        return len(due)

    def without_outputs(self, experiment_id: str) -> bool:
        """Return whether the outputs of an experiment were removed."""
        wanted = select(setting.c.key).where(setting.c.key == removed_key(experiment_id))
        with self._database.read() as connection:
            return connection.execute(wanted).first() is not None

    def remove_leftovers(self, cutoff: datetime) -> int:
        """Remove leftovers; see `Pruner`.

        Raises:
            StoreError: a file cannot be removed.
        """
        removed = 0
        for path, time in self._leftovers():
            if time < cutoff:
                with translated(path):
                    path.unlink(missing_ok=True)
                removed += 1
        return removed

    def _leftovers(self) -> list[tuple[Path, datetime]]:
        name = self._database.path.name
        found = [*self._database.path.parent.glob(f"{name}.schema-*.backup")]
        found += [path for path in (self._home / _CRASHES,) if path.is_file()]
        return [(path, datetime.fromtimestamp(path.stat().st_mtime, UTC)) for path in found]

    def compact(self) -> bool:
        """Write the database anew; see `Pruner`.

        Raises:
            StoreError: the disk failed or is full.
        """
        return self._database.empty_log(anew=True)

    def sizes(self) -> Mapping[str, int]:
        """Return the bytes of each part of the store's folder."""
        sizes: Counter[str] = Counter()
        path = self._database.path
        parts = {path: "database", path.with_name(f"{path.name}-wal"): "log"}
        for part, name in parts.items():
            sizes[name] = part.stat().st_size if part.exists() else 0
        skipped = {*parts, path.with_name(f"{path.name}-shm")}
        for found in self._home.rglob("*"):
            if found not in skipped and found.is_file() and not found.is_symlink():
                try:
                    sizes[found.relative_to(self._home).parts[0]] += found.stat().st_size
                except FileNotFoundError:  # another process removed it
                    continue
        return dict(sizes)
