"""One grader's scores, folded to rows."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Integer, cast, func, select

from fairtrial.model.case import CaseKey
from fairtrial.store.database import Database
from fairtrial.store.tables import TRIALS_A_ROW, grader_tally, score, trial_row


def passes(
    database: Database, experiment: int, arm: str, grader: str
) -> Mapping[CaseKey, tuple[int, int]]:
    """Return for each row how many trials passed a grader, and how many it scored."""
    first = trial_row.c.id * TRIALS_A_ROW
    statement = (
        select(
            trial_row.c.case_id,
            trial_row.c.condition,
            func.sum(cast(score.c.passed, Integer)),
            func.count(),
        )
        .join(score, score.c.trial_id.between(first, first + (TRIALS_A_ROW - 1)))
        .join(
            grader_tally,
            (grader_tally.c.experiment_id == trial_row.c.experiment_id)
            & (grader_tally.c.position == score.c.grader),
        )
        .where(
            trial_row.c.experiment_id == experiment,
            trial_row.c.arm == arm,
            grader_tally.c.grader == grader,
            score.c.passed.is_not(None),
        )
        .group_by(trial_row.c.id)
    )
    with database.read() as connection:
        found = connection.execute(statement)
        return {CaseKey(case, condition): (int(p), n) for case, condition, p, n in found}
