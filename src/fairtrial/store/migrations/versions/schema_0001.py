"""The first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the tables."""
    _datasets()
    _experiments()
    _trials()
    _settings()


def _settings() -> None:
    op.create_table(
        "setting",
        sa.Column("key", _TEXT, nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("set_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
        sqlite_with_rowid=False,
    )


def _datasets() -> None:
    op.create_table(
        "case_content",
        sa.Column("id", _ID, nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("inline", sa.LargeBinary()),
        sa.Column("blob", sa.String()),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("digest", name="case_content_digest"),
    )
    op.create_table(
        "dataset",
        sa.Column("id", _ID, nullable=False),
        sa.Column("name", _TEXT, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name", name="dataset_name"),
    )
    op.create_table(
        "dataset_version",
        sa.Column("id", _ID, nullable=False),
        sa.Column("dataset_id", _ID, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("digest", _TEXT, nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("n_cases", sa.Integer(), nullable=False),
        sa.Column("splits", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["dataset_id"], ["dataset.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("dataset_id", "number", name="dataset_version_number"),
    )
    op.create_table(
        "version_case",
        sa.Column("version_id", _ID, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("content_id", _ID, nullable=False),
        sa.Column("case_id", _TEXT, nullable=False),
        sa.Column("condition", _TEXT, nullable=False),
        sa.Column("split", _TEXT),
        sa.Column("tags", sa.Text()),
        sa.ForeignKeyConstraint(["content_id"], ["case_content.id"]),
        sa.ForeignKeyConstraint(["version_id"], ["dataset_version.id"]),
        sa.PrimaryKeyConstraint("version_id", "position", name="version_case_pk"),
        sqlite_with_rowid=False,
    )


def _experiments() -> None:
    op.create_table(
        "experiment",
        sa.Column("id", _ID, nullable=False),
        sa.Column("ref", _TEXT, nullable=False),
        sa.Column("name", _TEXT, nullable=False),
        sa.Column("dataset", _TEXT, nullable=False),
        sa.Column("dataset_number", sa.Integer(), nullable=False),
        sa.Column("dataset_digest", _TEXT, nullable=False),
        sa.Column("arms", sa.Text(), nullable=False),
        sa.Column("trials", sa.Integer(), nullable=False),
        sa.Column("n_cases", sa.Integer(), nullable=False),
        sa.Column("seed", sa.Text(), nullable=False),
        sa.Column("spec", sa.Text(), nullable=False),
        sa.Column("policy", sa.Text(), nullable=False),
        sa.Column("identity", _TEXT, nullable=False),
        sa.Column("provenance", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("status", _TEXT, nullable=False),
        sa.Column("status_reason", sa.Text()),
        sa.Column("finished_at", sa.BigInteger()),
        sa.Column("owner", sa.Text()),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("ref", name="experiment_ref"),
    )
    op.create_index("experiment_name", "experiment", ["name", "ref"])
    op.create_index(
        "experiment_unfinished", "experiment", ["ref"], sqlite_where=sa.text("status <> 'finished'")
    )
    op.create_table(
        "cause_tally",
        sa.Column("experiment_id", _ID, nullable=False),
        sa.Column("cause", _TEXT, nullable=False),
        sa.Column("trials", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["experiment_id"], ["experiment.id"]),
        sa.PrimaryKeyConstraint("experiment_id", "cause", name="cause_tally_pk"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "experiment_cases",
        sa.Column("experiment_id", _ID, nullable=False),
        sa.Column("positions", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["experiment_id"], ["experiment.id"]),
        sa.PrimaryKeyConstraint("experiment_id"),
    )
    op.create_table(
        "grader_tally",
        sa.Column("experiment_id", _ID, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("grader", _TEXT, nullable=False),
        sa.Column("scored", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("value_sum", sa.Float(), nullable=False),
        sa.Column("passed", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["experiment_id"], ["experiment.id"]),
        sa.PrimaryKeyConstraint("experiment_id", "position", name="grader_tally_pk"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "outcome_tally",
        sa.Column("experiment_id", _ID, nullable=False),
        sa.Column("arm", _TEXT, nullable=False),
        sa.Column("passed", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["experiment_id"], ["experiment.id"]),
        sa.PrimaryKeyConstraint(
            "experiment_id", "arm", "passed", "failed", name="outcome_tally_pk"
        ),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "tally",
        sa.Column("experiment_id", _ID, nullable=False),
        sa.Column("heartbeat_at", sa.BigInteger(), nullable=False),
        sa.Column("passed", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("undecided", sa.Integer(), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("flaky_rows", sa.Integer(), nullable=False),
        sa.Column("cost_usd", sa.Float(), nullable=False),
        sa.Column("costed", sa.Integer(), nullable=False),
        sa.Column("duration_s", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["experiment_id"], ["experiment.id"]),
        sa.PrimaryKeyConstraint("experiment_id"),
    )


def _trials() -> None:
    op.create_table(
        "trial_row",
        sa.Column("id", _ID, nullable=False),
        sa.Column("experiment_id", _ID, nullable=False),
        sa.Column("case_id", _TEXT, nullable=False),
        sa.Column("condition", _TEXT, nullable=False),
        sa.Column("arm", _TEXT, nullable=False),
        sa.Column("passed", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("undecided", sa.Integer(), nullable=False),
        sa.Column("score_sum", sa.Float(), nullable=False),
        sa.Column("scored", sa.Integer(), nullable=False),
        sa.Column("duration_s", sa.Float(), nullable=False),
        sa.Column("cost_usd", sa.Float(), nullable=False),
        sa.Column("costed", sa.Integer(), nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.Column("tokened", sa.Integer(), nullable=False),
        sa.Column("first_trial", sa.Integer()),
        sa.Column("first_reason", sa.Text()),
        sa.ForeignKeyConstraint(["experiment_id"], ["experiment.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("experiment_id", "case_id", "condition", "arm", name="trial_row_key"),
    )
    op.create_index(
        "trial_row_failed",
        "trial_row",
        ["experiment_id", "case_id", "condition", "arm"],
        sqlite_where=sa.text("failed > 0"),
    )
    op.create_index(
        "trial_row_flaky",
        "trial_row",
        ["experiment_id", "case_id", "condition", "arm"],
        sqlite_where=sa.text("passed > 0 AND failed > 0"),
    )
    op.create_index(
        "trial_row_slowest",
        "trial_row",
        ["experiment_id", sa.text("(duration_s / ((passed + failed + undecided) + 0.0))")],
        sqlite_where=sa.text("duration_s >= 0"),
    )
    op.create_index(
        "trial_row_undecided",
        "trial_row",
        ["experiment_id", "case_id", "condition", "arm"],
        sqlite_where=sa.text("undecided > 0"),
    )
    op.create_table(
        "superseded",
        sa.Column("id", _ID, nullable=False),
        sa.Column("row_id", _ID, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("superseded_at", sa.BigInteger(), nullable=False),
        sa.Column("record", sa.Text(), nullable=False),
        sa.Column("inline", sa.LargeBinary()),
        sa.Column("blob", sa.String()),
        sa.ForeignKeyConstraint(["row_id"], ["trial_row.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("superseded_trial", "superseded", ["row_id", "number"])
    op.create_table(
        "trial",
        sa.Column("id", _ID, autoincrement=False, nullable=False),
        sa.Column("row_id", _ID, nullable=False),
        sa.Column("experiment_id", _ID, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("verdict", _TEXT, nullable=False),
        sa.Column("cause", _TEXT),
        sa.Column("reason", sa.Text()),
        sa.Column("score", sa.Float()),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("duration_s", sa.Float(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("seed", sa.Text(), nullable=False),
        sa.Column("cost_usd", sa.Float()),
        sa.Column("tokens", sa.BigInteger()),
        sa.ForeignKeyConstraint(["experiment_id"], ["experiment.id"]),
        sa.ForeignKeyConstraint(["row_id"], ["trial_row.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "trial_cause",
        "trial",
        ["experiment_id", "cause"],
        sqlite_where=sa.text("cause IS NOT NULL"),
    )
    op.create_table(
        "score",
        sa.Column("trial_id", _ID, nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("grader", sa.Integer(), nullable=False),
        sa.Column("value", sa.Float()),
        sa.Column("passed", sa.Boolean()),
        sa.Column("reason", sa.Text()),
        sa.Column("required", sa.Boolean(), nullable=False),
        sa.Column("weight", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["trial_id"], ["trial.id"]),
        sa.PrimaryKeyConstraint("trial_id", "ordinal", name="score_pk"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "trial_body",
        sa.Column("trial_id", _ID, autoincrement=False, nullable=False),
        sa.Column("inline", sa.LargeBinary()),
        sa.Column("blob", sa.String()),
        sa.ForeignKeyConstraint(["trial_id"], ["trial.id"]),
        sa.PrimaryKeyConstraint("trial_id"),
    )
