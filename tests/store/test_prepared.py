"""Statements that are compiled once, for either database."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import bindparam, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from fairtrial.store.prepared import Prepared
from fairtrial.store.statements import Statements
from fairtrial.store.tables import metadata, trial


def test_every_statement_has_a_form_for_postgresql() -> None:
    dialect = postgresql.dialect(paramstyle="format")  # type: ignore[no-untyped-call]
    texts = {
        name: statement._sql
        for name, statement in vars(Statements(dialect)).items()
        if isinstance(statement, Prepared)
    }
    assert "ON CONFLICT (experiment_id, cause) DO UPDATE" in texts["add_to_cause"]
    assert not [name for name, text in texts.items() if not re.search(r"%s(::\w+)?", text)]


def test_every_table_has_a_form_for_postgresql() -> None:
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    texts = {
        table.name: str(CreateTable(table).compile(dialect=dialect))
        for table in metadata.sorted_tables
    }
    assert 'case_id VARCHAR COLLATE "C" NOT NULL' in texts["version_case"]
    indexes = [
        str(CreateIndex(index).compile(dialect=dialect))
        for table in metadata.sorted_tables
        for index in table.indexes
    ]
    assert any("trial_row_failed" in text for text in indexes)


@pytest.mark.parametrize("names", [[], ["b", "a"], ["a"]])
def test_parameters_in_another_order_are_refused(names: list[str]) -> None:
    statement = select(trial.c.id).where(
        trial.c.id == bindparam("a"), trial.c.row_id == bindparam("b")
    )
    dialect = sqlite.dialect()
    Prepared(statement, dialect, ["a", "b"])
    with pytest.raises(TypeError, match="the parameters are"):
        Prepared(statement, dialect, names)
