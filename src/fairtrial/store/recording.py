"""Recording trials: the hot path of every run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy.engine.interfaces import DBAPICursor

from fairtrial.model.errors import NotFoundError
from fairtrial.model.task import Reused
from fairtrial.model.trial import Trial
from fairtrial.store.blobs import Blobs
from fairtrial.store.codec import to_json, to_micros, to_text
from fairtrial.store.database import Database
from fairtrial.store.folding import Decided, ExperimentSum, RowSum, TrialFacts
from fairtrial.store.statements import Statements
from fairtrial.store.superseding import Superseder
from fairtrial.store.tables import TRIALS_A_ROW

Body = tuple[bytes | None, str | None]
"""What is kept in the table, or the name of the file that has it."""
_RowKey = tuple[str, str, str]


class Recorder:
    """Writes batches of trials, each in one transaction with all aggregates."""

    def __init__(self, database: Database, blobs: Blobs) -> None:
        self._database = database
        self._blobs = blobs
        self._statements = Statements(database.engine.dialect)

    def record(self, experiment: str, trials: Sequence[Trial], now: datetime) -> None:
        """Store trials of an experiment; see `ExperimentStore.record`.

        Raises:
            NotFoundError: there is no such experiment.
            StoreError: nothing was written.
        """
        # Encoding and writing blobs take time, so they come before the write lock.
        ready = [(trial, self.pack(trial)) for trial in trials]
        with self._database.write_fast() as cursor:
            found = self._statements.experiment_id.first(cursor, (experiment,))
            if found is None:
                raise NotFoundError(f"there is no experiment {experiment}")
            self.write(cursor, found[0], ready, now)

    def pack(self, trial: Trial) -> Body:
        """Return the body of a trial as it is stored; a long one is written to its file."""
        return self._blobs.pack(_body(trial))

    def write(
        self,
        cursor: DBAPICursor,
        experiment: int,
        ready: Sequence[tuple[Trial, Body]],
        now: datetime,
    ) -> None:
        """Write packed trials within a transaction that holds the write lock.

        Args:
            cursor: Of that transaction.
            experiment: The number of the experiment in the database.
            ready: Trials with their bodies.
            now: The time.
        """
        # A file that was there when it was packed may have been removed before the lock.
        there = [
            (trial, body if body[1] is None or self._blobs.has(body[1]) else self.pack(trial))
            for trial, body in ready
        ]
        for distinct in _distinct(there):
            _Batch(self._statements, cursor, experiment, now).write(distinct)


def _body(trial: Trial) -> bytes:
    optional = {
        "metrics": trial.metrics,
        "at_fault": trial.at_fault,
        "spans": trial.spans,
        "process": trial.process,
        "tokens": trial.tokens,
        "replay": trial.replay,
        "attempts": trial.attempts,
        "reruns": trial.reruns,
        "copied": trial.copied,
    }
    body: dict[str, Any] = {"output": trial.output}
    # Empty ones are left out, too: most trials have none of them.
    body |= {key: value for key, value in optional.items() if value not in (None, (), {})}
    judged = [
        {"at": ordinal, "cost_usd": score.cost_usd, "detail": score.detail}
        for ordinal, score in enumerate(trial.scores)
        if score.cost_usd != 0.0 or score.detail is not None
    ]
    if judged:
        body["judged"] = judged
    return to_json(body)


def _distinct(ready: list[tuple[Trial, Body]]) -> Iterator[list[tuple[Trial, Body]]]:
    """Split a batch so that no part holds a key twice; a later part supersedes an earlier one."""
    if len({trial.key for trial, _ in ready}) == len(ready):
        yield ready
        return
    part: dict[tuple[Any, ...], tuple[Trial, Body]] = {}
    for item in ready:
        if item[0].key in part:
            yield list(part.values())
            part.clear()
        part[item[0].key] = item
    yield list(part.values())


class _Written(NamedTuple):
    """A row after its new trials were added to its sums."""

    id: int
    arm: str
    before: Decided | None
    after: Decided


class _Batch:
    """One batch inside a transaction; no key is in it twice."""

    def __init__(
        self, statements: Statements, cursor: DBAPICursor, experiment: int, now: datetime
    ) -> None:
        self._run = statements
        self._cursor = cursor
        self._experiment = experiment
        self._now = to_micros(now)
        self._sum = ExperimentSum()
        self._graders: dict[str, int] = dict(statements.graders.all(cursor, (experiment,)))
        self._superseder = Superseder(statements, cursor, self._sum, self._now)
        self._trials: list[tuple[Any, ...]] = []
        self._scores: list[tuple[Any, ...]] = []
        self._bodies: list[tuple[Any, ...]] = []

    def write(self, ready: Sequence[tuple[Trial, Body]]) -> None:
        rows: dict[_RowKey, list[tuple[Trial, Body]]] = {}
        for item in ready:
            rows.setdefault(item[0].key[:3], []).append(item)
        changed = [self._add_row(key, items) for key, items in rows.items()]
        self._run.add_trial.run_many(self._cursor, self._trials)
        self._run.add_score.run_many(self._cursor, self._scores)
        self._run.add_body.run_many(self._cursor, self._bodies)
        for row in changed:
            after = row.after
            if row.id in self._superseder.rows:
                after = self._superseder.recount_row(row.id)
            self._sum.change_row(row.arm, row.before, after)
        self._add_totals()

    def _add_row(self, key: _RowKey, items: Sequence[tuple[Trial, Body]]) -> _Written:
        added = RowSum()
        for trial, _ in items:
            added.add(
                TrialFacts(
                    trial.key.trial,
                    trial.verdict,
                    trial.score,
                    trial.duration_s,
                    trial.cost_usd,
                    None if trial.tokens is None else trial.tokens.total,
                    to_text(trial.reason),
                )
            )
        self._sum.add_trials(added)
        row, passed, failed, undecided = self._run.add_to_row.first(
            self._cursor, (self._experiment, *key, *added.columns())
        )
        known = passed + failed + undecided > len(items)
        for trial, body in items:
            trial_id = row * TRIALS_A_ROW + trial.key.trial
            if known:
                self._superseder.move_away(trial_id)
            self._add_trial(row, trial_id, trial, body)
        return _Written(
            id=row,
            arm=key[2],
            before=(passed - added.passed, failed - added.failed) if known else None,
            after=(passed, failed),
        )

    def _add_trial(self, row: int, trial_id: int, trial: Trial, body: Body) -> None:
        if not 0 < trial.key.trial < TRIALS_A_ROW:
            raise ValueError(f"trial number {trial.key.trial} is not in 1 to {TRIALS_A_ROW - 1}")
        if trial.cause is not None:
            self._sum.add_cause(trial.cause.value, 1)
        self._trials.append(
            (
                trial_id,
                row,
                self._experiment,
                trial.key.trial,
                trial.verdict.value,
                None if trial.cause is None else trial.cause.value,
                to_text(trial.reason),
                trial.score,
                to_micros(trial.started_at),
                trial.duration_s,
                trial.tries,
                str(trial.seed),
                trial.cost_usd,
                None if trial.tokens is None else trial.tokens.total,
                trial.grading_cost_usd,
                None if trial.reused is None else self._reused(trial.reused),
            )
        )
        if trial.grading_cost_usd is not None:
            self._sum.add_grading(trial.grading_cost_usd)
        self._bodies.append((trial_id, *body))
        for ordinal, score in enumerate(trial.scores):
            grader = self._graders.setdefault(score.grader, len(self._graders))
            self._sum.grader(grader).add(score.value, passed=score.passed)
            self._scores.append(
                (
                    trial_id,
                    ordinal,
                    grader,
                    score.value,
                    score.passed,
                    to_text(score.reason),
                    score.required,
                    score.weight,
                )
            )

    def _reused(self, reused: Reused) -> str:
        self._sum.reuse(reused.source).add(reused)
        return to_json(reused).decode()

    def _add_totals(self) -> None:
        total = self._sum
        cost, duration, grading = self._run.add_to_tally.first(
            self._cursor,
            (
                self._now,
                total.passed,
                total.failed,
                total.undecided,
                total.rows,
                total.flaky_rows,
                total.cost_usd,
                total.costed,
                total.duration_s,
                total.timed,
                total.grading_cost_usd,
                total.grading_costed,
                self._experiment,
            ),
        )
        self._superseder.settle(self._experiment, cost, duration)
        self._superseder.settle_grading(self._experiment, grading)
        self._run.add_to_reuse.run_many(
            self._cursor,
            [(self._experiment, source, *sums.columns()) for source, sums in total.reuses.items()],
        )
        self._run.add_to_cause.run_many(
            self._cursor,
            [(self._experiment, cause, trials) for cause, trials in total.causes.items()],
        )
        self._run.add_to_outcome.run_many(
            self._cursor,
            [(self._experiment, *key, rows) for key, rows in total.outcomes.items() if rows],
        )
        names = {position: name for name, position in self._graders.items()}
        for position, grader in total.graders.items():
            value_sum = self._run.add_to_grader.first(
                self._cursor,
                (
                    self._experiment,
                    position,
                    names[position],
                    grader.scored,
                    grader.total,
                    grader.value_sum,
                    grader.passed,
                ),
            )[0]
            self._superseder.settle_grader(self._experiment, position, value_sum)
