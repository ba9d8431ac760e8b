"""What experiments' graders gave in all, from the sums that are kept."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select

from fairtrial.model.experiment import GraderTotals
from fairtrial.store.database import Database
from fairtrial.store.tables import grader_tally


def grader_totals(database: Database, experiments: Sequence[int]) -> list[list[GraderTotals]]:
    """Return the totals of each experiment's graders, in the order of its spec."""
    statement = (
        select(grader_tally)
        .where(grader_tally.c.experiment_id.in_(experiments))
        .order_by(grader_tally.c.experiment_id, grader_tally.c.position)
    )
    totals: dict[int, list[GraderTotals]] = {}
    with database.read() as connection:
        for found in connection.execute(statement):
            one = GraderTotals(
                grader=found.grader,
                scored=found.scored,
                total=found.total,
                mean=found.value_sum / found.scored if found.scored else None,
                passed=found.passed,
            )
            totals.setdefault(found.experiment_id, []).append(one)
    return [totals.get(number, []) for number in experiments]
