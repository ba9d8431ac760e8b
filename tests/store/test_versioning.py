"""Migrations: the same schema by either way, a copy before, all or nothing."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy.exc import OperationalError

from fairtrial.model.errors import StoreError
from fairtrial.model.task import Reused
from fairtrial.ports import RowQuery
from fairtrial.store import versioning
from fairtrial.store.database import Database
from fairtrial.store.opening import open_store
from fairtrial.store.tables import SCHEMA_VERSION
from fairtrial.testing.store.facts import NOON, a_trial, an_experiment

_NEXT = """
import sqlalchemy as sa
from alembic import op
revision = "9999"
down_revision = "{newest}"
def upgrade():
    with op.batch_alter_table("experiment", recreate="always") as batch:
        batch.add_column(sa.Column("note", sa.Text()))
    op.execute("{last}")
"""


def _schema(path: Path) -> set[tuple[str, str, tuple[str, ...]]]:
    """Return each table and index with the clauses of its definition in one order."""
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_master")
        return {(kind, name, tuple(sorted(_clauses(sql)))) for kind, name, sql in found}


def _clauses(sql: str) -> list[str]:
    """Cut a definition at its outer commas; a column that was added stands on a line's end."""
    depth, clauses = 0, [""]
    for sign in sql:
        depth += {"(": 1, ")": -1}.get(sign, 0)
        opens, closes = sign == "(" and depth == 1, sign == ")" and depth == 0
        if opens or closes or (sign == "," and depth == 1):
            clauses.append("")
        else:
            clauses[-1] += sign
    return [" ".join(clause.split()) for clause in clauses]


def _before_the_first(path: Path) -> None:
    """Make the database of a program that had no schema yet."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "CREATE TABLE alembic_version (\n\tversion_num VARCHAR(32) NOT NULL, \n\t"
            "CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)\n)"
        )


def _filled(home: Path) -> Path:
    with open_store(home) as store:
        store.experiments.open_experiment(an_experiment(), [1])
        store.experiments.record(an_experiment().id, [a_trial()], NOON)
    return home / "fairtrial.db"


def _next_migrations(folder: Path, last: str) -> Path:
    shutil.copytree(versioning.MIGRATIONS, folder)
    source = _NEXT.format(newest=SCHEMA_VERSION, last=last)
    (folder / "versions" / "schema_9999.py").write_text(source)
    return folder


@pytest.fixture(autouse=True)
def _no_bytecode(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading a migration leaves no compiled file beside it."""
    monkeypatch.setattr("sys.dont_write_bytecode", True)


def test_the_newest_migration_is_the_schema_version() -> None:
    config = Config()
    config.set_main_option("script_location", str(versioning.MIGRATIONS))
    assert ScriptDirectory.from_config(config).get_current_head() == SCHEMA_VERSION


def test_migrations_make_the_same_schema_as_the_tables(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    old, new = (tmp_path / name / "fairtrial.db" for name in ("old", "new"))
    _before_the_first(old)
    for home in (old.parent, new.parent):
        with open_store(home):
            pass
    assert _schema(old) == _schema(new)


def test_an_older_store_is_copied_and_migrated(tmp_path: Path) -> None:
    path = tmp_path / "fairtrial.db"
    _before_the_first(path)
    before = _schema(path)
    with open_store(tmp_path) as store:
        store.experiments.open_experiment(an_experiment(), [])
    assert _schema(tmp_path / "fairtrial.db.schema-0000.backup") == before
    with open_store(tmp_path) as store:
        assert store.experiments.find("nightly").experiment == an_experiment()


def test_a_migration_keeps_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _filled(tmp_path / "100% home")
    migrations = _next_migrations(tmp_path / "100% migrations", "UPDATE experiment SET note = 'x'")
    monkeypatch.setattr(versioning, "SCHEMA_VERSION", "9999")
    with closing(Database(path, 1)) as database:
        versioning.ensure_current(database, migrations)
        versioning.ensure_current(database, migrations)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name, note FROM experiment").fetchall() == [
            ("nightly", "x")
        ]
        assert connection.execute("SELECT count(*) FROM trial").fetchone() == (1,)
        assert connection.execute("SELECT * FROM alembic_version").fetchall() == [("9999",)]
    copies = [copy.name for copy in path.parent.glob("*.backup")]
    assert copies == [f"fairtrial.db.schema-{SCHEMA_VERSION}.backup"]


def _at_0001(home: Path) -> Path:
    """Make a store as the first schema's own migration makes it, with a trial on record."""
    home.mkdir()
    path = home / "fairtrial.db"
    _before_the_first(path)
    config = Config()
    config.set_main_option("script_location", str(versioning.MIGRATIONS))
    with closing(Database(path, 1)) as database, database.write(references=False) as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            """
            INSERT INTO experiment VALUES (7, 'exp_01JOLD', 'old', 'bugs', 1, 'ab', '["main"]', 1,
              1, '3', '{"graders": [{"name": "exact"}]}', '{}', 'cd', '{"fairtrial": "0.1",
              "python": "3.12", "host": "h", "cwd": "/"}', 5, 'finished', NULL, 6, NULL);
            INSERT INTO tally VALUES (7, 6, 1, 0, 0, 1, 0, 0.25, 1, 0.5);
            INSERT INTO grader_tally VALUES (7, 0, 'exact', 1, 1, 1.0, 1);
            INSERT INTO trial_row VALUES (9, 7, 'a', 'default', 'main', 1, 0, 0, 1.0, 1, 0.5, 0.25,
              1, 0, 0, NULL, NULL);
            INSERT INTO trial VALUES (9437185, 9, 7, 1, 'passed', NULL, NULL, 1.0, 5, 0.5, 1, '3',
              0.25, NULL);
            INSERT INTO score VALUES (9437185, 0, 0, 1.0, 1, NULL, 1, 1.0);
            INSERT INTO trial_body VALUES (9437185, '{"output":"yes"}', NULL);
            INSERT INTO setting VALUES ('pairwise:1', '{}', 5), ('baseline:x', '"exp_1"', 5);
            """
        )
    return path


def test_a_store_of_the_first_schema_keeps_its_trials(tmp_path: Path) -> None:
    path = _at_0001(tmp_path / "home")
    with open_store(path.parent) as store:
        state = store.experiments.find("old")
        assert state.totals.cost_usd == 0.25
        assert (state.totals.grading_cost_usd, state.totals.reused) == (None, ())
        (trial,) = store.experiments.trials("exp_01JOLD")
        assert (trial.output, trial.grading_cost_usd, trial.reused) == ("yes", None, None)
        assert state.experiment.series is None
        assert trial.scores[0].cost_usd == 0.0
        judged = replace(trial, grading_cost_usd=0.5, reused=Reused("cache", 1))
        store.experiments.record("exp_01JOLD", [judged], NOON)
        assert store.experiments.find("old").totals.grading_cost_usd == 0.5
        assert (store.settings.get("baseline:x"), store.settings.get("pairwise:1")) == (
            "exp_1",
            None,
        )
    assert [copy.name for copy in path.parent.glob("*.backup")] == [
        "fairtrial.db.schema-0001.backup"
    ]


@pytest.mark.parametrize(
    ("kind", "duration", "told"),
    [("reported", 0.0, None), ("reported", 0.5, 0.5), ("command", 0.0, 0.0)],
)
def test_a_zero_that_stood_for_an_unknown_duration_is_none(
    tmp_path: Path, kind: str, duration: float, told: float | None
) -> None:
    path = _at_0001(tmp_path / "home")
    with closing(sqlite3.connect(path)) as connection:
        spec = json.dumps({"arms": {"main": {"kind": kind}}, "graders": [{"name": "exact"}]})
        connection.execute("UPDATE experiment SET spec = ?", [spec])
        connection.execute("UPDATE trial SET duration_s = ?", [duration])
        connection.execute("UPDATE trial_row SET duration_s = ?", [duration])
        connection.execute("UPDATE tally SET duration_s = ?", [duration])
        connection.commit()
    with open_store(path.parent) as store:
        totals = store.experiments.find("old").totals
        assert (totals.duration_s, totals.timed) == (told, 0 if told is None else 1)
        assert [trial.duration_s for trial in store.experiments.trials("exp_01JOLD")] == [told]
        (row,) = store.experiments.rows("exp_01JOLD", RowQuery(limit=2))
        assert row.mean_duration_s == told


def test_what_was_tried_before_there_was_a_ledger_is_counted(tmp_path: Path) -> None:
    path = _at_0001(tmp_path / "home")
    task = {"kind": "command", "command": ["cat"], "cwd": "here"}
    with closing(sqlite3.connect(path)) as connection:
        spec = json.dumps({"arms": {"main": task}, "base_dir": "/work"})
        connection.execute("UPDATE experiment SET spec = ?", [spec])
        connection.commit()
    elsewhere = {"arms": {"new": {**task, "cwd": "/work/here"}}, "base_dir": "/other"}
    with open_store(path.parent) as store:
        assert store.experiments.n_tried("bugs") == 1
        store.experiments.open_experiment(an_experiment(spec=elsewhere), [])
        assert store.experiments.n_tried("bugs") == 1


@pytest.mark.parametrize(
    ("last", "error"),
    [("UPDATE none SET x = 1", OperationalError), ("DELETE FROM experiment", StoreError)],
    ids=["bad SQL", "references that lead nowhere"],
)
def test_a_migration_that_fails_changes_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    last: str,
    error: type[Exception],
) -> None:
    path = _filled(tmp_path / "home")
    before = _schema(path)
    migrations = _next_migrations(tmp_path / "migrations", last)
    monkeypatch.setattr(versioning, "SCHEMA_VERSION", "9999")
    with closing(Database(path, 1)) as database, pytest.raises(error):
        versioning.ensure_current(database, migrations)
    monkeypatch.undo()
    assert _schema(path) == before
    with open_store(path.parent) as store:
        assert store.experiments.find("nightly").totals.passed == 1


def test_another_process_may_have_migrated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _filled(tmp_path)
    seen = iter(["0000"])
    version = versioning._version
    monkeypatch.setattr(
        versioning, "_version", lambda connection: next(seen, None) or version(connection)
    )
    with closing(Database(path, 1)) as database:
        versioning.ensure_current(database)
    assert not list(tmp_path.glob("*.backup"))


def test_a_newer_store_is_refused(tmp_path: Path) -> None:
    path = _filled(tmp_path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    with pytest.raises(StoreError, match="newer fairtrial") as caught:
        open_store(tmp_path)
    assert caught.value.where == str(path)
    assert "9999" in str(caught.value.why)
    assert "upgrade" in str(caught.value.fix)


def test_another_process_may_have_made_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _filled(tmp_path)
    monkeypatch.setattr(Path, "exists", lambda _: False)
    versioning.create(path)
    monkeypatch.undo()
    with open_store(tmp_path) as store:
        assert store.experiments.find("nightly").experiment == an_experiment()
    assert not list(tmp_path.glob("*.partial*"))


def test_a_file_system_without_links_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_path: Path, _target: Path) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    assert _filled(tmp_path).exists()
    assert [path.name for path in tmp_path.iterdir()] == ["fairtrial.db"]


def test_another_process_may_have_filled_the_empty_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _filled(tmp_path)
    monkeypatch.setattr(versioning, "_is_empty", lambda _: True)
    seen = iter([None])
    version = versioning._version
    monkeypatch.setattr(versioning, "_version", lambda connection: next(seen, version(connection)))
    with closing(Database(path, 1)) as database:
        versioning.ensure_current(database)
    monkeypatch.undo()
    with open_store(tmp_path) as store:
        assert store.experiments.find("nightly").totals.passed == 1
