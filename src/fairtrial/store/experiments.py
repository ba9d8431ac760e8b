"""Experiments in the database: how they are opened, found, listed and closed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property

from sqlalchemy import Connection, bindparam, select, text, update
from sqlalchemy.exc import IntegrityError

from fairtrial.model.case import CaseKey
from fairtrial.model.columns import PairedRows
from fairtrial.model.comparison import FlipCounts
from fairtrial.model.errors import NotFoundError, RefusedError, StoreError
from fairtrial.model.experiment import Experiment, ExperimentState, GraderTotals, Status
from fairtrial.model.json import Json
from fairtrial.model.row import Row, RowGlance
from fairtrial.model.trial import Trial, TrialKey
from fairtrial.model.verdict import Cause
from fairtrial.ports import RowQuery, TrialFilter
from fairtrial.query.expression import Expression
from fairtrial.store import flips, grader_rows, pairing, reading
from fairtrial.store.blobs import Blobs
from fairtrial.store.codec import from_packed, to_json, to_micros, to_packed, to_text
from fairtrial.store.database import Database
from fairtrial.store.experiment_order import IN_PLACE, NUMBERS, ordered
from fairtrial.store.filtering import condition
from fairtrial.store.finding import find_experiment
from fairtrial.store.grader_sums import grader_totals
from fairtrial.store.owner import Owner, this_process
from fairtrial.store.prepared import Prepared
from fairtrial.store.recording import Recorder
from fairtrial.store.states import STATE, columns_of, no_scores, no_trials, owner_of, states
from fairtrial.store.tables import (
    experiment,
    experiment_cases,
    grader_tally,
    outcome_tally,
    tally,
)
from fairtrial.store.trying import n_tried, note_tried

# Written as the partial index is, so that it is used.
_UNFINISHED = text("experiment.status <> 'finished'")


class SqlExperimentStore:
    """The `ExperimentStore` of a database."""

    def __init__(self, database: Database, blobs: Blobs) -> None:
        self._database = database
        self._blobs = blobs
        self._numbers: dict[str, int] = {}

    @cached_property
    def _by_ref(self) -> Prepared:
        wanted = select(experiment.c.id).where(experiment.c.ref == bindparam("ref"))
        return Prepared(wanted, self._database.engine.dialect, ["ref"])

    @cached_property
    def _recorder(self) -> Recorder:
        # Most commands only read; its statements take some milliseconds to prepare.
        return Recorder(self._database, self._blobs)

    def open_experiment(self, opened: Experiment, positions: Sequence[int]) -> None:
        """Store a new experiment as running; see `ExperimentStore`.

        Raises:
            StoreError: an experiment of this id exists, or the store cannot be written.
        """
        with self._database.write() as connection:
            try:
                number = connection.execute(
                    experiment.insert().values(columns_of(opened)).returning(experiment.c.id)
                ).scalar_one()
            except IntegrityError as error:
                raise StoreError(f"there is an experiment {opened.id} already") from error
            connection.execute(
                experiment_cases.insert(),
                {"experiment_id": number, "positions": to_packed(positions)},
            )
            connection.execute(tally.insert(), no_trials(number, opened.created_at))
            graders = no_scores(number, opened.spec)
            if graders:
                connection.execute(grader_tally.insert(), graders)
            note_tried(connection, opened)

    def reopen(self, experiment_id: str, policy: Mapping[str, Json], now: datetime) -> None:
        """Mark an experiment as running again; see `ExperimentStore`.

        Raises:
            NotFoundError: there is no such experiment.
            RefusedError: another process is at it and lives.
        """
        with self._database.write() as connection:
            number, status, owner = self._head(connection, experiment_id)
            me = this_process()
            if status == Status.RUNNING and owner not in {None, me} and owner.alive():
                raise RefusedError(
                    f"{experiment_id} is being run by another process",
                    why=f"process {owner.pid} on this machine is at it",
                    fix=f"wait for it, or stop it with `kill -INT {owner.pid}`",
                )
            self._end(
                connection,
                number,
                now,
                status=Status.RUNNING.value,
                status_reason=None,
                finished_at=None,
                policy=to_json(policy).decode(),
                owner=to_json(me).decode(),
            )

    def close_experiment(
        self, experiment_id: str, status: Status, reason: str | None, now: datetime
    ) -> None:
        """Record how an experiment ended; see `ExperimentStore`.

        Raises:
            NotFoundError: there is no such experiment.
        """
        with self._database.write() as connection:
            number, _, _ = self._head(connection, experiment_id)
            self._end(
                connection,
                number,
                now,
                status=status.value,
                status_reason=to_text(reason),
                finished_at=None if status is Status.RUNNING else to_micros(now),
                owner=None,
            )

    def record(self, experiment_id: str, trials: Sequence[Trial], now: datetime) -> None:
        """Store trials with their scores and all aggregates; see `ExperimentStore`.

        Raises:
            NotFoundError: there is no such experiment.
            StoreError: nothing was written.
        """
        self._recorder.record(experiment_id, trials, now)

    def find(self, ref: str) -> ExperimentState:
        """Return the experiment that an id, a unique prefix or a name means.

        Raises:
            NotFoundError: there is none, or the prefix fits several.
        """
        with self._database.read() as connection:
            wanted = find_experiment(connection, ref)
            return states(connection, STATE.where(experiment.c.ref == wanted))[0]

    def unfinished(self, identity: str | None = None) -> Sequence[ExperimentState]:
        """Return experiments that are not finished, newest first; those of one identity."""
        statement = STATE.where(_UNFINISHED).order_by(experiment.c.ref.desc())
        if identity is not None:
            statement = statement.where(experiment.c.identity == identity)
        with self._database.read() as connection:
            return states(connection, statement)

    def newest(
        self,
        limit: int,
        before: str | None = None,
        dataset: str | None = None,
        series: str | None = None,
        where: Expression | None = None,
        *,
        order: str = "newest",
    ) -> Sequence[ExperimentState]:
        """Return the newest experiments, newest first; see `ExperimentStore`."""
        in_place = order in IN_PLACE
        statement = STATE.limit(limit) if in_place else NUMBERS.limit(limit)
        if series is not None:
            statement = statement.where(experiment.c.series == series)
        if dataset is not None:
            statement = statement.where(experiment.c.dataset == dataset)
        if where is not None:
            from fairtrial.store.experiment_filter import EXPERIMENTS  # noqa: PLC0415  # rarely asked

            statement = statement.where(condition(where, EXPERIMENTS))
        with self._database.read() as connection:
            statement = ordered(connection, statement, order, before)
            if not in_place:
                # Numbers alone are sorted: whole experiments take their long specs along.
                statement = STATE.where(experiment.c.id.in_(statement))
                statement = ordered(connection, statement, order, None)
            return states(connection, statement)

    def n_tried(self, dataset: str) -> int:
        """Return how many configurations were run on any version of a dataset."""
        return n_tried(self._database, dataset)

    def positions(self, experiment_id: str) -> Sequence[int]:
        """Return the resolved cases as dataset positions.

        Raises:
            NotFoundError: there is no such experiment.
        """
        number = self._number(experiment_id)
        statement = select(experiment_cases.c.positions).where(
            experiment_cases.c.experiment_id == number
        )
        with self._database.read() as connection:
            return from_packed(connection.execute(statement).scalar_one())

    def recorded_keys(
        self, experiment_id: str, causes: frozenset[Cause] | None = None
    ) -> set[TrialKey]:
        """Return the keys on record; with `causes`, only those whose trial has such a cause.

        Raises:
            NotFoundError: there is no such experiment.
        """
        return reading.keys(self._database, self._number(experiment_id), causes)

    def grader_totals(self, experiment_id: str) -> Sequence[GraderTotals]:
        """Return each grader's totals in the order of the spec.

        Raises:
            NotFoundError: there is no such experiment.
        """
        return grader_totals(self._database, [self._number(experiment_id)])[0]

    def grader_totals_of(self, experiment_ids: Sequence[str]) -> Sequence[Sequence[GraderTotals]]:
        """Return the totals of each experiment's graders; see `ExperimentStore`.

        Raises:
            NotFoundError: there is no such experiment.
        """
        return grader_totals(self._database, [self._number(ref) for ref in experiment_ids])

    def outcome_counts(
        self, experiment_id: str, arm: str | None = None
    ) -> Mapping[tuple[int, int], int]:
        """Return how many rows have so many passed and so many decided trials.

        Raises:
            NotFoundError: there is no such experiment.
        """
        statement = select(outcome_tally).where(
            outcome_tally.c.experiment_id == self._number(experiment_id), outcome_tally.c.rows > 0
        )
        if arm is not None:
            statement = statement.where(outcome_tally.c.arm == arm)
        counts: Counter[tuple[int, int]] = Counter()
        with self._database.read() as connection:
            for found in connection.execute(statement):
                counts[found.passed, found.passed + found.failed] += found.rows
        return dict(counts)

    def rows(self, experiment_id: str, query: RowQuery) -> Sequence[Row]:
        """Return rows of an experiment.

        Raises:
            NotFoundError: there is no such experiment.
        """
        return reading.rows(self._database, self._blobs, self._number(experiment_id), query)

    def n_rows(self, experiment_id: str, query: RowQuery) -> int:
        """Return how many rows a query has, whatever its limit and page.

        Raises:
            NotFoundError: there is no such experiment.
        """
        return reading.n_rows(self._database, self._blobs, self._number(experiment_id), query)

    def glances(
        self, experiment_id: str, keys: Sequence[tuple[str, str, str]]
    ) -> Sequence[RowGlance]:
        """Return rows with what a table shows of them; see `ExperimentStore`.

        Raises:
            NotFoundError: there is no such experiment.
        """
        from fairtrial.store.row_glances import row_glances  # noqa: PLC0415  # pages only

        return row_glances(self._database, self._blobs, self._number(experiment_id), keys)

    def undecided_reasons(self, experiment_id: str, limit: int) -> Sequence[tuple[str | None, int]]:
        """Return why rows are undecided and how many each; see `ExperimentStore`.

        Raises:
            NotFoundError: there is no such experiment.
        """
        return reading.undecided_reasons(self._database, self._number(experiment_id), limit)

    def paired_rows(self, a: tuple[str, str], b: tuple[str, str]) -> PairedRows:
        """Return the rows of two arms, joined by key; see `ExperimentStore`.

        Raises:
            NotFoundError: there is no such experiment.
        """
        return pairing.paired_rows(self._database, a, b)

    def flip_counts(self, a: tuple[str, str], b: tuple[str, str]) -> FlipCounts:
        """Return how many shared rows were fixed and broken; see `ExperimentStore`.

        Raises:
            NotFoundError: there is no such experiment.
        """
        return flips.flip_counts(self._database, a, b)

    def grader_passes(
        self, experiment_id: str, arm: str, grader: str
    ) -> Mapping[CaseKey, tuple[int, int]]:
        """Return for each row how many trials passed a grader, and how many it scored.

        Raises:
            NotFoundError: there is no such experiment.
        """
        return grader_rows.passes(self._database, self._number(experiment_id), arm, grader)

    def trials(
        self,
        experiment_id: str,
        where: TrialFilter = TrialFilter(),  # noqa: B008  # it is immutable
    ) -> Iterator[Trial]:
        """Yield whole trials ordered by case, condition, arm and trial, a page at a time.

        Raises:
            NotFoundError: there is no such experiment.
        """
        number = self._number(experiment_id)
        return iter(reading.TrialReader(self._database, self._blobs, number, where))

    def _number(self, experiment_id: str) -> int:
        number = self._numbers.get(experiment_id)
        if number is None:
            with self._database.read_fast() as cursor:
                found = self._by_ref.first(cursor, (experiment_id,))
            if found is None:
                raise NotFoundError(f"there is no experiment {experiment_id}")
            # No experiment is ever deleted, so its number stays its own.
            number = self._numbers[experiment_id] = int(found[0])
        return number

    def _head(self, connection: Connection, experiment_id: str) -> tuple[int, str, Owner | None]:
        found = connection.execute(
            select(experiment.c.id, experiment.c.status, experiment.c.owner).where(
                experiment.c.ref == experiment_id
            )
        ).one_or_none()
        if found is None:
            raise NotFoundError(f"there is no experiment {experiment_id}")
        return found.id, found.status, owner_of(found.owner)

    def _end(
        self, connection: Connection, number: int, now: datetime, **columns: str | int | None
    ) -> None:
        connection.execute(update(experiment).where(experiment.c.id == number).values(columns))
        connection.execute(
            update(tally).where(tally.c.experiment_id == number).values(heartbeat_at=to_micros(now))
        )
