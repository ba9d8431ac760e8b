"""A trial that was run again: the earlier record moves to the archive, all sums are corrected."""

from __future__ import annotations

from sqlalchemy.engine.interfaces import DBAPICursor

from fairtrial.store.codec import reused_of, to_json
from fairtrial.store.folding import Decided, ExperimentSum, RowSum, TrialFacts
from fairtrial.store.statements import Statements
from fairtrial.store.tables import TRIALS_A_ROW, score, trial

_TRIAL_COLUMNS = [column.name for column in trial.c]
_SCORE_COLUMNS = [column.name for column in score.c]

# Taking a number away from a sum leaves its rounding error behind, which matters when the rest
# is much smaller than what was taken; then the sum is made anew.
_CANCELLED = 1e3


class Superseder:
    """Takes earlier records out of the way within one transaction.

    Attributes:
        rows: Ids of the rows that lost a record; their sums must be made anew.
    """

    def __init__(
        self, statements: Statements, cursor: DBAPICursor, total: ExperimentSum, now: int
    ) -> None:
        self._run = statements
        self._cursor = cursor
        self._sum = total
        self._now = now
        self.rows: set[int] = set()

    def move_away(self, trial_id: int) -> None:
        """Move the record of a trial into the archive, if there is one."""
        found = self._run.trial.first(self._cursor, (trial_id,))
        if found is None:
            return
        old = dict(zip(_TRIAL_COLUMNS, found, strict=True))
        scores = [
            dict(zip(_SCORE_COLUMNS, row, strict=True))
            for row in self._run.scores.all(self._cursor, (trial_id,))
        ]
        body = self._run.body.first(self._cursor, (trial_id,))
        record = to_json({**old, "scores": scores}).decode()
        self._run.archive.run(
            self._cursor, (old["row_id"], old["number"], self._now, record, *body)
        )
        self._run.delete_scores.run(self._cursor, (trial_id,))
        self._run.delete_body.run(self._cursor, (trial_id,))
        self._run.delete_trial.run(self._cursor, (trial_id,))
        self._sum.remove(old["verdict"], old["cause"], old["duration_s"], old["cost_usd"])
        if old["grading_cost_usd"] is not None:
            self._sum.remove_grading(old["grading_cost_usd"])
        reused = reused_of(old["reused"])
        if reused is not None:
            self._sum.reuse(reused.source).add(reused, -1)
        for row in scores:
            self._sum.grader(row["grader"]).remove(row["value"], passed=row["passed"])
        self.rows.add(old["row_id"])

    def recount_row(self, row: int) -> Decided:
        """Make a row's sums anew from its few trials; return its passed and failed ones."""
        total = RowSum()
        first = row * TRIALS_A_ROW
        for values in self._run.row_trials.all(self._cursor, (first, first + TRIALS_A_ROW - 1)):
            total.add(TrialFacts(*values))
        self._run.set_row.run(self._cursor, (*total.columns(), row))
        return total.passed, total.failed

    def settle(self, experiment: int, cost: float, duration: float) -> None:
        """Make an experiment's sums anew when too little is left of them."""
        if _cancelled(self._sum.removed_cost, cost) or _cancelled(
            self._sum.removed_duration, duration
        ):
            sums = self._run.sum_rows.first(self._cursor, (experiment,))
            self._run.set_tally_sums.run(self._cursor, (*sums, experiment))

    def settle_grading(self, experiment: int, cost: float) -> None:
        """Do the same for what grading cost."""
        if _cancelled(self._sum.removed_grading, cost):
            found = self._run.sum_grading.first(self._cursor, (experiment,))
            self._run.set_grading_sum.run(self._cursor, (found[0], experiment))

    def settle_grader(self, experiment: int, position: int, value_sum: float) -> None:
        """Do the same for a grader's sum."""
        if _cancelled(self._sum.grader(position).removed, value_sum):
            found = self._run.sum_grader.first(self._cursor, (experiment, position))
            self._run.set_grader_sum.run(self._cursor, (found[0] or 0.0, experiment, position))


def _cancelled(removed: float, left: float) -> bool:
    return removed > _CANCELLED * abs(left)
