"""Which index SQLite takes for the questions of every report."""

from pathlib import Path

import pytest
from sqlalchemy import Connection, event

from fairtrial.ports import RowQuery
from fairtrial.store import reading
from fairtrial.store.blobs import Blobs
from fairtrial.store.database import Database
from fairtrial.store.tables import metadata


@pytest.fixture
def database(tmp_path: Path) -> Database:
    database = Database(tmp_path / "plans.db", 1.0)
    with database.write() as connection:
        metadata.create_all(connection)
    return database


@pytest.mark.parametrize(
    ("query", "indexes"),
    [
        (RowQuery(), {"trial_row_1"}),
        (RowQuery(only="failed"), {"trial_row_failed"}),
        # A flaky row has failed too: without figures SQLite takes the index that was made first.
        (RowQuery(only="flaky"), {"trial_row_flaky", "trial_row_failed"}),
        (RowQuery(only="undecided"), {"trial_row_undecided"}),
        (RowQuery(order="slowest"), {"trial_row_slowest"}),
    ],
)
def test_rows_and_their_number_come_from_an_index(
    database: Database, query: RowQuery, indexes: set[str]
) -> None:
    plans: list[str] = []

    def explain(
        connection: Connection, _cursor: object, sql: str, given: object, *_: object
    ) -> None:
        if sql.startswith("SELECT"):
            driver = connection.connection.cursor()
            driver.execute(f"EXPLAIN QUERY PLAN {sql}", given)  # type: ignore[arg-type]
            plans.append(str(driver.fetchone()))

    event.listen(database.engine, "before_cursor_execute", explain)
    blobs = Blobs(database.path.parent)
    reading.rows(database, blobs, 1, query)
    if query.only:
        reading.n_rows(database, blobs, 1, query)
    assert plans
    assert all(any(f"{index} (" in plan for index in indexes) for plan in plans), plans
    database.close()
