"""The tables. A change here needs a migration in `migrations/` and a new `SCHEMA_VERSION`.

Text is compared byte by byte in every database. Instants are microseconds since 1970 (UTC), seeds
are decimal text because they may need more than 63 bits, JSON is text.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

SCHEMA_VERSION = "0011"
"""The newest migration; versions sort as text."""

TRIALS_A_ROW = 1 << 20
"""A trial's id is its row's id times this, plus its number: one integer is the whole key."""

TOKEN_PARTS = ("input", "output", "cache_read", "cache_write", "reasoning")
"""The fields of `Tokens`; each has a column."""

metadata = MetaData()

SORTED_TEXT = String().with_variant(String(collation="C"), "postgresql")
# SQLite gives ids by itself only to a primary key of the very type INTEGER.
ID = BigInteger().with_variant(Integer(), "sqlite")


def _id(name: str = "id") -> Column[Any]:
    return Column(name, ID, primary_key=True)


def _parent(name: str, target: str) -> Column[Any]:
    return Column(name, ID, ForeignKey(target), nullable=False)


def _count(name: str) -> Column[Any]:
    return Column(name, Integer, nullable=False)


def _amount(name: str) -> Column[Any]:
    return Column(name, Float, nullable=False)


def _timed() -> Column[Any]:
    # How many trials a sum of durations is of.
    return Column("timed", Integer, nullable=False, server_default=text("0"))


def _word(name: str) -> Column[Any]:
    return Column(name, SORTED_TEXT, nullable=False)


# The program's own copy of what Alembic keeps, so that a normal run need not import Alembic.
schema_version = Table(
    "alembic_version",
    metadata,
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)

dataset = Table(
    "dataset",
    metadata,
    _id(),
    _word("name"),
    UniqueConstraint("name", name="dataset_name"),
)

dataset_version = Table(
    "dataset_version",
    metadata,
    _id(),
    _parent("dataset_id", "dataset.id"),
    _count("number"),
    _word("digest"),
    Column("created_at", BigInteger, nullable=False),
    _count("n_cases"),
    Column("splits", Text, nullable=False),
    UniqueConstraint("dataset_id", "number", name="dataset_version_number"),
)

# A case's content is kept once, however many versions it is in.
case_content = Table(
    "case_content",
    metadata,
    _id(),
    Column("digest", LargeBinary, nullable=False),
    Column("inline", LargeBinary),
    Column("blob", String),
    UniqueConstraint("digest", name="case_content_digest"),
)

version_case = Table(
    "version_case",
    metadata,
    _parent("version_id", "dataset_version.id"),
    _count("position"),
    _parent("content_id", "case_content.id"),
    _word("case_id"),
    _word("condition"),
    Column("split", SORTED_TEXT),
    # A JSON list; null for a case without tags, so that what has some is found at once.
    Column("tags", Text),
    PrimaryKeyConstraint("version_id", "position", name="version_case_pk"),
    Index("version_case_named", "case_id", "version_id", "condition"),
    sqlite_with_rowid=False,
)

# What is fixed when an experiment is opened, and how it ended.
experiment = Table(
    "experiment",
    metadata,
    _id(),
    _word("ref"),
    _word("name"),
    _word("dataset"),
    _count("dataset_number"),
    _word("dataset_digest"),
    Column("arms", Text, nullable=False),
    _count("trials"),
    _count("n_cases"),
    Column("seed", Text, nullable=False),
    Column("spec", Text, nullable=False),
    Column("policy", Text, nullable=False),
    _word("identity"),
    Column("provenance", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    _word("status"),
    Column("status_reason", Text),
    Column("finished_at", BigInteger),
    Column("owner", Text),
    Column("series", SORTED_TEXT),
    UniqueConstraint("ref", name="experiment_ref"),
    Index("experiment_name", "name", "ref"),
    Index("experiment_series", "series", "ref", sqlite_where=text("series IS NOT NULL")),
    Index(
        "experiment_unfinished",
        "ref",
        sqlite_where=text("status <> 'finished'"),
    ),
)

experiment_cases = Table(
    "experiment_cases",
    metadata,
    Column("experiment_id", ID, ForeignKey("experiment.id"), primary_key=True),
    Column("positions", LargeBinary, nullable=False),
)

# What changes with every batch of trials; apart, because an experiment's spec may be long.
tally = Table(
    "tally",
    metadata,
    Column("experiment_id", ID, ForeignKey("experiment.id"), primary_key=True),
    Column("heartbeat_at", BigInteger, nullable=False),
    _count("passed"),
    _count("failed"),
    _count("undecided"),
    _count("rows"),
    _count("flaky_rows"),
    _amount("cost_usd"),
    _count("costed"),
    _amount("duration_s"),
    _timed(),
    Column("grading_cost_usd", Float, nullable=False, server_default=text("0")),
    Column("grading_costed", Integer, nullable=False, server_default=text("0")),
)

# Model answers that trials did not ask for again, by where they came from.
reuse_tally = Table(
    "reuse_tally",
    metadata,
    _parent("experiment_id", "experiment.id"),
    _word("source"),
    _count("trials"),
    _count("calls"),
    Column("tokens", BigInteger, nullable=False),
    _count("tokened"),
    _amount("cost_usd"),
    _count("costed"),
    PrimaryKeyConstraint("experiment_id", "source", name="reuse_tally_pk"),
    sqlite_with_rowid=False,
)

cause_tally = Table(
    "cause_tally",
    metadata,
    _parent("experiment_id", "experiment.id"),
    _word("cause"),
    _count("trials"),
    PrimaryKeyConstraint("experiment_id", "cause", name="cause_tally_pk"),
    sqlite_with_rowid=False,
)

# How many rows of an arm have so many passed and so many failed trials.
outcome_tally = Table(
    "outcome_tally",
    metadata,
    _parent("experiment_id", "experiment.id"),
    _word("arm"),
    _count("passed"),
    _count("failed"),
    _count("rows"),
    PrimaryKeyConstraint("experiment_id", "arm", "passed", "failed", name="outcome_tally_pk"),
    sqlite_with_rowid=False,
)

grader_tally = Table(
    "grader_tally",
    metadata,
    _parent("experiment_id", "experiment.id"),
    _count("position"),
    _word("grader"),
    _count("scored"),
    _count("total"),
    _amount("value_sum"),
    _count("passed"),
    PrimaryKeyConstraint("experiment_id", "position", name="grader_tally_pk"),
    sqlite_with_rowid=False,
)

# Partial indexes in SQLite; elsewhere they hold every row, which only makes them larger.
# (`postgresql_where` would import that dialect in every run.)
_FAILED = text("failed > 0")
_MEAN_DURATION = text("(duration_s / nullif(timed, 0))")
_FLAKY = text("passed > 0 AND failed > 0")
_UNDECIDED = text("undecided > 0")

trial_row = Table(
    "trial_row",
    metadata,
    _id(),
    _parent("experiment_id", "experiment.id"),
    _word("case_id"),
    _word("condition"),
    _word("arm"),
    _count("passed"),
    _count("failed"),
    _count("undecided"),
    _amount("score_sum"),
    _count("scored"),
    _amount("duration_s"),
    _timed(),
    _amount("cost_usd"),
    _count("costed"),
    Column("tokens", BigInteger, nullable=False),
    _count("tokened"),
    Column("first_trial", Integer),
    Column("first_reason", Text),
    UniqueConstraint("experiment_id", "case_id", "condition", "arm", name="trial_row_key"),
    *(
        Index(
            f"trial_row_{name}",
            "experiment_id",
            "case_id",
            "condition",
            "arm",
            sqlite_where=where,
        )
        for name, where in (("failed", _FAILED), ("flaky", _FLAKY), ("undecided", _UNDECIDED))
    ),
    # Without a condition SQLite took this index for other queries too.
    Index(
        "trial_row_slowest",
        "experiment_id",
        _MEAN_DURATION,
        sqlite_where=text("timed > 0"),
    ),
)

trial = Table(
    "trial",
    metadata,
    Column("id", ID, primary_key=True, autoincrement=False),
    _parent("row_id", "trial_row.id"),
    # The experiment is the row's; it is here for the index of the few trials with a cause.
    _parent("experiment_id", "experiment.id"),
    _count("number"),
    _word("verdict"),
    Column("cause", SORTED_TEXT),
    Column("reason", Text),
    Column("score", Float),
    Column("started_at", BigInteger, nullable=False),
    Column("duration_s", Float),
    _count("tries"),
    Column("seed", Text, nullable=False),
    Column("cost_usd", Float),
    Column("tokens", BigInteger),
    Column("grading_cost_usd", Float),
    # What was served again, as JSON.
    Column("reused", Text),
    Index(
        "trial_cause",
        "experiment_id",
        "cause",
        sqlite_where=text("cause IS NOT NULL"),
    ),
)

score = Table(
    "score",
    metadata,
    _parent("trial_id", "trial.id"),
    _count("ordinal"),
    _count("grader"),
    Column("value", Float),
    Column("passed", Boolean),
    Column("reason", Text),
    Column("required", Boolean, nullable=False),
    _amount("weight"),
    PrimaryKeyConstraint("trial_id", "ordinal", name="score_pk"),
    sqlite_with_rowid=False,
)

# Output, metrics, spans, process, tokens and what judges said at length, as one JSON object.
trial_body = Table(
    "trial_body",
    metadata,
    Column("trial_id", ID, ForeignKey("trial.id"), primary_key=True, autoincrement=False),
    Column("inline", LargeBinary),
    Column("blob", String),
)

# JSON values by key: what a project has chosen, and what was learned once.
setting = Table(
    "setting",
    metadata,
    Column("key", SORTED_TEXT, primary_key=True),
    Column("value", Text, nullable=False),
    Column("set_at", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

# Earlier records of trials that were run again; nothing is ever deleted from it.
superseded = Table(
    "superseded",
    metadata,
    _id(),
    _parent("row_id", "trial_row.id"),
    _count("number"),
    Column("superseded_at", BigInteger, nullable=False),
    Column("record", Text, nullable=False),
    Column("inline", LargeBinary),
    Column("blob", String),
    Index("superseded_trial", "row_id", "number"),
)

# The model calls that a proxy saw; what is filtered and sorted.
model_call = Table(
    "model_call",
    metadata,
    _id(),
    _word("ref"),
    Column("session", SORTED_TEXT),
    _count("number"),
    Column("api", SORTED_TEXT),
    _word("method"),
    Column("path", Text, nullable=False),
    Column("upstream", Text, nullable=False),
    Column("model", SORTED_TEXT),
    Column("status", Integer),
    Column("problem", Text),
    Column("failed", Boolean, nullable=False),
    Column("streamed", Boolean, nullable=False),
    Column("started_at", BigInteger, nullable=False),
    Column("first_byte_s", Float),
    _amount("duration_s"),
    Column("has_tokens", Boolean, nullable=False),
    *(Column(f"tokens_{part}", BigInteger) for part in TOKEN_PARTS),
    Column("cost_usd", Float),
    Column("canonical", SORTED_TEXT),
    Column("served_from", SORTED_TEXT),
    Column("agent", SORTED_TEXT),
    # The experiment's ref: a call may be on record before its experiment is.
    Column("experiment", SORTED_TEXT),
    Column("case_id", SORTED_TEXT),
    Column("condition", SORTED_TEXT),
    Column("arm", SORTED_TEXT),
    Column("trial", Integer),
    UniqueConstraint("ref", name="model_call_ref"),
    Index("model_call_failed", "ref", sqlite_where=text("failed")),
    Index("model_call_started", "started_at"),
    Index("model_call_session", "session", "number", sqlite_where=text("session IS NOT NULL")),
    Index(
        "model_call_trial",
        "experiment",
        "case_id",
        "condition",
        "arm",
        "trial",
        "number",
        sqlite_where=text("experiment IS NOT NULL"),
    ),
)

# Headers as JSON; the bodies are in pieces.
model_call_body = Table(
    "model_call_body",
    metadata,
    Column("call_id", ID, ForeignKey("model_call.id"), primary_key=True, autoincrement=False),
    Column("headers", LargeBinary, nullable=False),
)

# Each request of an agent repeats most of the one before, so a body is cut into pieces and each
# piece is kept once.
piece = Table(
    "piece",
    metadata,
    _id(),
    Column("digest", LargeBinary, nullable=False),
    Column("inline", LargeBinary),
    Column("blob", String),
    UniqueConstraint("digest", name="piece_digest"),
)

# The pieces of a call's request (part 0) and response (part 1), in order.
call_piece = Table(
    "call_piece",
    metadata,
    _parent("call_id", "model_call.id"),
    _count("part"),
    _count("position"),
    _parent("piece_id", "piece.id"),
    PrimaryKeyConstraint("call_id", "part", "position", name="call_piece_pk"),
    Index("call_piece_piece", "piece_id"),
    sqlite_with_rowid=False,
)

# Answers of models, by the hash of the whole question.
kept_answer = Table(
    "kept_answer",
    metadata,
    _id(),
    _word("key"),
    _word("provider"),
    _word("model"),
    Column("bytes", BigInteger, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("used_at", BigInteger, nullable=False),
    Column("inline", LargeBinary),
    Column("blob", String),
    UniqueConstraint("key", name="kept_answer_key"),
    Index("kept_answer_used", "used_at"),
)
