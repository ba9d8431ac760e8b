"""How long a trial took may be unknown; sums say of how many trials they are."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

_TRIALS_A_ROW = 1 << 20


def upgrade() -> None:
    """Let durations be null and count those that are known.

    A new column takes the place of the old one: SQLite would have to build a whole table anew, with
    its indexes, to let a column be null.
    """
    op.add_column("trial", sa.Column("took_s", sa.Float()))
    op.execute("UPDATE trial SET took_s = duration_s")
    op.drop_column("trial", "duration_s")
    op.alter_column("trial", "took_s", new_column_name="duration_s")
    op.drop_index("trial_row_slowest", "trial_row")
    for name in ("trial_row", "tally"):
        op.add_column(
            name, sa.Column("timed", sa.Integer(), nullable=False, server_default=sa.text("0"))
        )
        sums = _sums(name)
        op.execute(sums.update().values(timed=sums.c.passed + sums.c.failed + sums.c.undecided))
    _forget_what_nobody_told()
    op.create_index(
        "trial_row_slowest",
        "trial_row",
        ["experiment_id", sa.text("(duration_s / nullif(timed, 0))")],
        sqlite_where=sa.text("timed > 0"),
    )


def _sums(name: str) -> sa.TableClause:
    columns = ("id", "experiment_id", "passed", "failed", "undecided", "timed")
    return sa.table(name, *map(sa.column, columns))


def _forget_what_nobody_told() -> None:
    """Make the zeros of reported trials null: a trial without a duration was given one."""
    connection = op.get_bind()
    trial = sa.table("trial", *map(sa.column, ("id", "experiment_id", "duration_s")))
    row, tally = _sums("trial_row"), _sums("tally")
    first = row.c.id * _TRIALS_A_ROW
    known = sa.select(sa.func.count(trial.c.duration_s)).where(
        trial.c.id.between(first, first + (_TRIALS_A_ROW - 1))
    )
    for number in _reported(connection):
        of_rows = sa.select(sa.func.coalesce(sa.func.sum(row.c.timed), 0)).where(
            row.c.experiment_id == number
        )
        for statement in (
            trial.update()
            .values(duration_s=None)
            .where(trial.c.experiment_id == number, trial.c.duration_s == 0),
            row.update().values(timed=known.scalar_subquery()).where(row.c.experiment_id == number),
            tally.update()
            .values(timed=of_rows.scalar_subquery())
            .where(tally.c.experiment_id == number),
        ):
            connection.execute(statement)


def _reported(connection: sa.Connection) -> list[int]:
    found = connection.execute(
        sa.text("SELECT id, spec FROM experiment WHERE spec LIKE '%reported%'")
    ).all()
    return [number for number, spec in found if _is_reported(json.loads(spec))]


def _is_reported(spec: object) -> bool:
    tasks = spec.get("arms") if isinstance(spec, dict) else None
    return isinstance(tasks, dict) and any(
        isinstance(task, dict) and task.get("kind") == "reported" for task in tasks.values()
    )
