"""Experiments whose trials other programs report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Final

from sqlalchemy import Connection, delete, insert, select, update

from fairtrial.model.case import Case, CaseKey
from fairtrial.model.errors import ConflictError, NotFoundError, UsageError
from fairtrial.model.experiment import Experiment, Status
from fairtrial.model.reported import NEXT_TRIAL, Project, Receipt, ReportedTrial, Taken
from fairtrial.model.trial import Trial, TrialKey
from fairtrial.store.blobs import Blobs
from fairtrial.store.codec import from_json, from_micros, to_json, to_micros, to_packed, to_text
from fairtrial.store.database import Database
from fairtrial.store.drafts import Draft, PackedCase, packed_case
from fairtrial.store.recording import Body, Recorder
from fairtrial.store.report_tables import project, receipt
from fairtrial.store.states import columns_of, no_scores, no_trials
from fairtrial.store.tables import (
    TRIALS_A_ROW,
    dataset,
    dataset_version,
    experiment,
    experiment_cases,
    grader_tally,
    tally,
    trial,
    trial_row,
    version_case,
)
from fairtrial.store.trying import note_tried

_KEPT: Final = timedelta(days=7)
"""How long a receipt is kept at least."""
_AT_ONCE: Final = 500
"""Names in one statement."""


class SqlReportStore:
    """The `ReportStore` of a database."""

    def __init__(self, database: Database, blobs: Blobs) -> None:
        self._database = database
        self._blobs = blobs

    @cached_property
    def _recorder(self) -> Recorder:
        return Recorder(self._database, self._blobs)

    def open(self, opened: Experiment, given: Receipt | None) -> tuple[str, bool]:
        """Store a new experiment as running; see `ReportStore`.

        Raises:
            ConflictError: the receipt's key belongs to another request.
            NotFoundError: there is no such dataset version.
            StoreError: it cannot be written.
        """
        with self._database.write() as connection:
            now = to_micros(opened.created_at)
            outdated = receipt.c.kept_at < to_micros(opened.created_at - _KEPT)
            connection.execute(delete(receipt).where(outdated))
            known = _known(connection, "", given)
            known = known or _alike(connection, opened)
            if known is not None:
                return str(known), True
            # Nobody's process is at it, so none can be found dead.
            columns = {**columns_of(opened), "owner": None}
            number = connection.execute(
                insert(experiment).values(columns).returning(experiment.c.id)
            ).scalar_one()
            n_cases = 0
            if opened.dataset_number == 0:
                Draft(connection, number).make(opened)
            else:
                n_cases = _version(connection, opened)[1]
            connection.execute(
                insert(experiment_cases).values(
                    experiment_id=number, positions=to_packed(range(n_cases))
                )
            )
            connection.execute(insert(tally), no_trials(number, opened.created_at))
            graders = no_scores(number, opened.spec)
            if graders:
                connection.execute(insert(grader_tally), graders)
            note_tried(connection, opened)
            _keep(connection, "", given, opened.id, now)
            return opened.id, False

    def take(
        self,
        experiment_id: str,
        reported: Sequence[ReportedTrial],
        given: Receipt | None,
        now: datetime,
    ) -> Taken:
        """Store reported trials with their cases; see `ReportStore`.

        Raises:
            NotFoundError: there is no such experiment.
            ConflictError: it does not go with what is on record; nothing is written.
            UsageError: a case is not in the given dataset; nothing is written.
            StoreError: nothing was written.
        """
        # Packing takes time, so it comes before the write lock.
        cases = _distinct_cases(reported, self._blobs)
        bodies = [self._recorder.pack(one.trial) for one in reported]
        with self._database.write() as connection:
            head = _head(connection, experiment_id)
            known = _known(connection, experiment_id, given)
            if known is not None:
                return Taken(tuple(TrialKey(*key) for key in known), again=True)
            _require_open(head)
            if head.dataset_number < 0:
                n_cases = Draft(connection, head.id).add(cases, self._blobs)
            else:
                n_cases = head.n_cases
                _require_known(connection, head, cases)
            ready = _numbered(connection, head.id, [one.trial for one in reported], bodies)
            cursor = connection.connection.cursor()
            self._recorder.write(cursor, head.id, ready, now)
            cursor.close()
            most = max(found.key.trial for found, _ in ready)
            connection.execute(
                update(experiment)
                .where(experiment.c.id == head.id)
                .values(n_cases=n_cases, trials=max(most, head.trials))
            )
            if n_cases != head.n_cases:
                _set_positions(connection, head.id, n_cases)
            keys = tuple(found.key for found, _ in ready)
            _keep(connection, experiment_id, given, [list(key) for key in keys], to_micros(now))
            return Taken(keys)

    def finish(self, experiment_id: str, status: Status, reason: str | None, now: datetime) -> None:
        """End an experiment; see `ReportStore`.

        Raises:
            NotFoundError: there is no such experiment.
            ConflictError: no trial was reported, or it is no experiment of reported trials.
            StoreError: nothing was written.
        """
        with self._database.write() as connection:
            head = _head(connection, experiment_id)
            if head.status != Status.RUNNING and head.finished_at is not None:
                return
            _require_open(head)
            rows = select(tally.c.rows).where(tally.c.experiment_id == head.id)
            # On stored cases there is nothing to gather, so it may end before it had any row.
            needs_rows = head.dataset_number < 0 or status is Status.FINISHED
            if needs_rows and not connection.execute(rows).scalar_one():
                raise ConflictError(
                    "no_rows",
                    f"{experiment_id} has no row yet",
                    fix="post rows before it is finished",
                )
            if head.dataset_number < 0:
                Draft(connection, head.id).seal(to_micros(now))
            connection.execute(
                update(experiment)
                .where(experiment.c.id == head.id)
                .values(
                    status=status.value, status_reason=to_text(reason), finished_at=to_micros(now)
                )
            )

    def add_project(self, given: Project) -> Project:
        """Keep a project, or return the one that has its name; see `ReportStore`."""
        with self._database.write() as connection:
            found = connection.execute(
                select(project).where(project.c.name == given.name)
            ).one_or_none()
            if found is not None:
                return _project(found)
            connection.execute(
                insert(project).values(
                    ref=given.id,
                    name=given.name,
                    folder=given.folder,
                    created_at=to_micros(given.created_at),
                )
            )
        return given

    def projects(self) -> Sequence[Project]:
        """Return all projects by name."""
        with self._database.read() as connection:
            found = connection.execute(select(project).order_by(project.c.name)).all()
        return [_project(row) for row in found]


def _alike(connection: Connection, opened: Experiment) -> str | None:
    """Return the reported experiment that has the same identity; None when there is none."""
    return connection.execute(
        select(experiment.c.ref)
        .where(experiment.c.identity == opened.identity)
        .order_by(experiment.c.id.desc())
        .limit(1)
    ).scalar_one_or_none()


def _project(row: Any) -> Project:
    return Project(row.ref, row.name, row.folder, from_micros(row.created_at))


def _head(connection: Connection, experiment_id: str) -> Any:
    found = connection.execute(
        select(experiment).where(experiment.c.ref == experiment_id)
    ).one_or_none()
    if found is None:
        raise NotFoundError(f"there is no experiment {experiment_id}")
    return found


def _require_open(head: Any) -> None:
    if "reported" not in from_json(head.spec):
        raise ConflictError(
            "not_reported",
            f"{head.ref} takes no rows: it was run, not reported",
            fix="open one with POST /v2/experiments",
        )
    if head.status != Status.RUNNING:
        raise ConflictError(
            "experiment_ended",
            f"{head.ref} is {head.status} and takes no more rows",
            fix="open another one with POST /v2/experiments",
        )


def _known(connection: Connection, scope: str, given: Receipt | None) -> Any:
    """Return what was answered under a receipt; None when it is new."""
    if given is None:
        return None
    found = connection.execute(
        select(receipt).where(receipt.c.scope == scope, receipt.c.key == given.key)
    ).one_or_none()
    if found is None:
        return None
    if found.digest != given.digest:
        raise ConflictError(
            "idempotency_key_reused",
            "another request was sent with this key",
            where="Idempotency-Key",
            fix="give each request a key of its own, and send it again only unchanged",
        )
    return from_json(found.answer)


def _keep(connection: Connection, scope: str, given: Receipt | None, answer: Any, now: int) -> None:
    if given is not None:
        connection.execute(
            insert(receipt).values(
                scope=scope,
                key=given.key,
                digest=given.digest,
                answer=to_json(answer).decode(),
                kept_at=now,
            )
        )


def _version(connection: Connection, opened: Experiment) -> tuple[int, int]:
    """Return the number in the database, and the number of cases, of an experiment's dataset."""
    found = connection.execute(
        select(dataset_version.c.id, dataset_version.c.n_cases)
        .join(dataset, dataset.c.id == dataset_version.c.dataset_id)
        .where(dataset.c.name == opened.dataset, dataset_version.c.number == opened.dataset_number)
    ).one_or_none()
    if found is None:
        raise NotFoundError(f"there is no dataset version {opened.dataset}@{opened.dataset_number}")
    return found.id, found.n_cases


def _set_positions(connection: Connection, number: int, n_cases: int) -> None:
    connection.execute(
        update(experiment_cases)
        .where(experiment_cases.c.experiment_id == number)
        .values(positions=to_packed(range(n_cases)))
    )


def _distinct_cases(
    reported: Sequence[ReportedTrial], blobs: Blobs
) -> Mapping[CaseKey, PackedCase]:
    found: dict[CaseKey, Case] = {}
    for one in reported:
        before = found.setdefault(one.case.key, one.case)
        if before is not one.case and before.content() != one.case.content():
            raise UsageError(
                f"case {one.case.key} has two contents in one batch",
                fix="give each case an id of its own",
            )
    return {key: packed_case(case, blobs) for key, case in found.items()}


def _require_known(connection: Connection, head: Any, cases: Mapping[CaseKey, PackedCase]) -> None:
    """Check that all cases are in the dataset version of an experiment."""
    version = (
        select(dataset_version.c.id)
        .join(dataset, dataset.c.id == dataset_version.c.dataset_id)
        .where(dataset.c.name == head.dataset, dataset_version.c.number == head.dataset_number)
    ).scalar_subquery()
    missing = set(cases)
    ids = list({key.case_id for key in cases})
    for start in range(0, len(ids), _AT_ONCE):
        found = connection.execute(
            select(version_case.c.case_id, version_case.c.condition).where(
                version_case.c.version_id == version,
                version_case.c.case_id.in_(ids[start : start + _AT_ONCE]),
            )
        )
        missing -= {CaseKey(*row) for row in found}
    if missing:
        raise UsageError(
            f"case {min(missing)} is not in {head.dataset}@{head.dataset_number}",
            fix="give ids or inputs of its cases, or open an experiment without `dataset_version`",
        )


def _numbered(
    connection: Connection, number: int, trials: Sequence[Trial], bodies: Sequence[Body]
) -> list[tuple[Trial, Body]]:
    """Return trials with their bodies, each with a number of its own.

    Raises:
        ConflictError: a trial of a given number is on record, or is there twice.
    """
    taken = _recorded(connection, number, {found.key.case_id for found in trials})
    given = {found.key[:3]: set(taken.get(found.key[:3], ())) for found in trials}
    for found in trials:
        if found.key.trial == NEXT_TRIAL:
            continue
        if found.key.trial in given[found.key[:3]]:
            raise ConflictError(
                "trial_recorded",
                f"trial {found.key.trial} of case {found.key.case_key}, arm {found.key.arm}, is "
                "on record",
                fix="leave `trial` out for the next number; to send a batch again, give it the "
                "same Idempotency-Key",
            )
        given[found.key[:3]].add(found.key.trial)
    ready = []
    for found, body in zip(trials, bodies, strict=True):
        key = found.key
        if key.trial == NEXT_TRIAL:
            following = max(given[key[:3]], default=0) + 1
            if following >= TRIALS_A_ROW:
                raise ConflictError("too_many_trials", f"case {key.case_key} has too many trials")
            given[key[:3]].add(following)
            found = replace(found, key=key._replace(trial=following))  # noqa: PLW2901
        ready.append((found, body))
    return ready


def _recorded(
    connection: Connection, number: int, cases: set[str]
) -> dict[tuple[str, str, str], set[int]]:
    """Return the numbers of the trials on record of each row of some cases."""
    ids = sorted(cases)
    found: dict[tuple[str, str, str], set[int]] = {}
    for start in range(0, len(ids), _AT_ONCE):
        rows = connection.execute(
            select(trial_row.c.case_id, trial_row.c.condition, trial_row.c.arm, trial.c.number)
            .join(trial, trial.c.row_id == trial_row.c.id)
            .where(
                trial_row.c.experiment_id == number,
                trial_row.c.case_id.in_(ids[start : start + _AT_ONCE]),
            )
        )
        for case_id, condition, arm, trial_number in rows:
            found.setdefault((case_id, condition, arm), set()).add(trial_number)
    return found
