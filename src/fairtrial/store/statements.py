"""Every statement of the hot path, compiled once for a database."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    Column,
    Dialect,
    Table,
    bindparam,
    case,
    delete,
    func,
    literal_column,
    or_,
    select,
    update,
)

from fairtrial.store.prepared import Prepared, upsert_of
from fairtrial.store.tables import (
    cause_tally,
    experiment,
    grader_tally,
    outcome_tally,
    reuse_tally,
    score,
    superseded,
    tally,
    trial,
    trial_body,
    trial_row,
)

ROW_KEY = ("experiment_id", "case_id", "condition", "arm")
ROW_SUMS = (
    "passed",
    "failed",
    "undecided",
    "score_sum",
    "scored",
    "duration_s",
    "timed",
    "cost_usd",
    "costed",
    "tokens",
    "tokened",
    "first_trial",
    "first_reason",
)
TALLY_SUMS = (
    "passed",
    "failed",
    "undecided",
    "rows",
    "flaky_rows",
    "cost_usd",
    "costed",
    "duration_s",
    "timed",
    "grading_cost_usd",
    "grading_costed",
)
REUSE_SUMS = ("trials", "calls", "tokens", "tokened", "cost_usd", "costed")
GRADER_SUMS = ("scored", "total", "value_sum", "passed")


class Statements:
    """The statements of the hot path; each takes its parameters in the order of its comment."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        # experiment ref
        self.experiment_id = self._where(select(experiment.c.id), experiment.c.ref)
        # experiment
        self.graders = self._where(
            select(grader_tally.c.grader, grader_tally.c.position), grader_tally.c.experiment_id
        )
        # ROW_KEY, ROW_SUMS; returns id, passed, failed, undecided after the sums were added
        self.add_to_row = self._add_to_row()
        # ROW_SUMS, row
        self.set_row = Prepared(
            update(trial_row)
            .values({name: bindparam(f"new_{name}") for name in ROW_SUMS})
            .where(trial_row.c.id == bindparam("row")),
            dialect,
            [*(f"new_{name}" for name in ROW_SUMS), "row"],
        )
        # columns of the table
        self.add_trial = self._insert(trial)
        self.add_score = self._insert(score)
        self.add_body = self._insert(trial_body)
        # heartbeat, TALLY_SUMS, experiment; returns cost_usd, duration_s, grading_cost_usd
        self.add_to_tally = Prepared(
            update(tally)
            .values(
                {
                    "heartbeat_at": bindparam("now"),
                    **{name: tally.c[name] + bindparam(f"more_{name}") for name in TALLY_SUMS},
                }
            )
            .where(tally.c.experiment_id == bindparam("experiment"))
            .returning(tally.c.cost_usd, tally.c.duration_s, tally.c.grading_cost_usd),
            dialect,
            ["now", *(f"more_{name}" for name in TALLY_SUMS), "experiment"],
        )
        # experiment, cause, trials
        self.add_to_cause = self._add_to_cause()
        # experiment, arm, passed, failed, rows
        self.add_to_outcome = self._add_to_outcome()
        # experiment, source, REUSE_SUMS
        self.add_to_reuse = self._add_to_reuse()
        # experiment, position, grader, GRADER_SUMS; returns value_sum
        self.add_to_grader = self._add_to_grader()
        self._prepare_superseding()

    def _prepare_superseding(self) -> None:
        # trial
        self.trial = self._where(select(trial), trial.c.id)
        self.scores = self._where(select(score), score.c.trial_id)
        self.body = self._where(
            select(trial_body.c.inline, trial_body.c.blob), trial_body.c.trial_id
        )
        self.delete_scores = self._where(delete(score), score.c.trial_id)
        self.delete_body = self._where(delete(trial_body), trial_body.c.trial_id)
        self.delete_trial = self._where(delete(trial), trial.c.id)
        # row, number, superseded_at, record, inline, blob
        names = [column.name for column in superseded.c if column.name != "id"]
        self.archive = Prepared(superseded.insert().inline(), self._dialect, names)
        # first and last trial id
        self.row_trials = Prepared(
            select(
                trial.c.number,
                trial.c.verdict,
                trial.c.score,
                trial.c.duration_s,
                trial.c.cost_usd,
                trial.c.tokens,
                trial.c.reason,
            ).where(trial.c.id.between(bindparam("first"), bindparam("last"))),
            self._dialect,
            ["first", "last"],
        )
        self._prepare_recount()

    def _prepare_recount(self) -> None:
        # experiment
        self.sum_rows = self._where(
            select(func.sum(trial_row.c.cost_usd), func.sum(trial_row.c.duration_s)),
            trial_row.c.experiment_id,
        )
        # experiment
        self.sum_grading = Prepared(
            select(func.coalesce(func.sum(trial.c.grading_cost_usd), literal_column("0.0")))
            .join(trial_row, trial_row.c.id == trial.c.row_id)
            .where(trial_row.c.experiment_id == bindparam("experiment")),
            self._dialect,
            ["experiment"],
        )
        # grading_cost_usd, experiment
        self.set_grading_sum = Prepared(
            update(tally)
            .values(grading_cost_usd=bindparam("cost"))
            .where(tally.c.experiment_id == bindparam("experiment")),
            self._dialect,
            ["cost", "experiment"],
        )
        # cost_usd, duration_s, experiment
        self.set_tally_sums = Prepared(
            update(tally)
            .values(cost_usd=bindparam("cost"), duration_s=bindparam("duration"))
            .where(tally.c.experiment_id == bindparam("experiment")),
            self._dialect,
            ["cost", "duration", "experiment"],
        )
        # experiment, position
        self.sum_grader = Prepared(
            select(func.sum(score.c.value))
            .join(trial, trial.c.id == score.c.trial_id)
            .join(trial_row, trial_row.c.id == trial.c.row_id)
            .where(
                trial_row.c.experiment_id == bindparam("experiment"),
                score.c.grader == bindparam("position"),
            ),
            self._dialect,
            ["experiment", "position"],
        )
        # value_sum, experiment, position
        self.set_grader_sum = Prepared(
            update(grader_tally)
            .values(value_sum=bindparam("sum"))
            .where(
                grader_tally.c.experiment_id == bindparam("experiment"),
                grader_tally.c.position == bindparam("at"),
            ),
            self._dialect,
            ["sum", "experiment", "at"],
        )

    def _where(self, statement: Any, column: Column[Any]) -> Prepared:
        """Prepare a statement that takes the value of one column."""
        return Prepared(statement.where(column == bindparam("wanted")), self._dialect, ["wanted"])

    def _insert(self, table: Table) -> Prepared:
        return Prepared(table.insert().inline(), self._dialect, [column.name for column in table.c])

    def _add_to_row(self) -> Prepared:
        insert = upsert_of(self._dialect, trial_row)
        new = insert.excluded
        earlier = or_(trial_row.c.first_trial.is_(None), new.first_trial < trial_row.c.first_trial)
        statement = insert.on_conflict_do_update(
            index_elements=ROW_KEY,
            set_={
                **{name: trial_row.c[name] + new[name] for name in ROW_SUMS[:-2]},
                **{
                    name: case((earlier, new[name]), else_=trial_row.c[name])
                    for name in ROW_SUMS[-2:]
                },
            },
        ).returning(trial_row.c.id, trial_row.c.passed, trial_row.c.failed, trial_row.c.undecided)
        return Prepared(statement, self._dialect, [*ROW_KEY, *ROW_SUMS])

    def _add_to_cause(self) -> Prepared:
        insert = upsert_of(self._dialect, cause_tally)
        statement = insert.on_conflict_do_update(
            index_elements=("experiment_id", "cause"),
            set_={"trials": cause_tally.c.trials + insert.excluded.trials},
        )
        return Prepared(statement, self._dialect, [column.name for column in cause_tally.c])

    def _add_to_outcome(self) -> Prepared:
        insert = upsert_of(self._dialect, outcome_tally)
        statement = insert.on_conflict_do_update(
            index_elements=("experiment_id", "arm", "passed", "failed"),
            set_={"rows": outcome_tally.c.rows + insert.excluded.rows},
        )
        return Prepared(statement, self._dialect, [column.name for column in outcome_tally.c])

    def _add_to_reuse(self) -> Prepared:
        insert = upsert_of(self._dialect, reuse_tally)
        statement = insert.on_conflict_do_update(
            index_elements=("experiment_id", "source"),
            set_={name: reuse_tally.c[name] + insert.excluded[name] for name in REUSE_SUMS},
        )
        return Prepared(statement, self._dialect, ["experiment_id", "source", *REUSE_SUMS])

    def _add_to_grader(self) -> Prepared:
        insert = upsert_of(self._dialect, grader_tally)
        statement = insert.on_conflict_do_update(
            index_elements=("experiment_id", "position"),
            set_={name: grader_tally.c[name] + insert.excluded[name] for name in GRADER_SUMS},
        ).returning(grader_tally.c.value_sum)
        return Prepared(statement, self._dialect, [column.name for column in grader_tally.c])
