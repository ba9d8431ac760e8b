"""Which index SQLite takes for the questions of every report."""

from pathlib import Path

import pytest
from sqlalchemy import Connection, event

from fairtrial.ports import RowQuery
from fairtrial.store import reading
from fairtrial.store.blobs import Blobs
from fairtrial.store.database import Database
from fairtrial.store.row_glances import row_glances
from fairtrial.store.states import columns_of
from fairtrial.store.tables import dataset, dataset_version, experiment, metadata, trial_row
from fairtrial.testing.store.facts import an_experiment


@pytest.fixture
def database(tmp_path: Path) -> Database:
    database = Database(tmp_path / "plans.db", 1.0)
    with database.write() as connection:
        metadata.create_all(connection)
    return database


def _explained(database: Database) -> list[list[str]]:
    """Return where the plan of each question that comes is noted, a line a step."""
    plans: list[list[str]] = []

    def explain(
        connection: Connection, _cursor: object, sql: str, given: object, *_: object
    ) -> None:
        if sql.startswith("SELECT"):
            driver = connection.connection.cursor()
            driver.execute(f"EXPLAIN QUERY PLAN {sql}", given)  # type: ignore[arg-type]
            plans.append([str(line) for line in driver.fetchall()])

    event.listen(database.engine, "before_cursor_execute", explain)
    return plans


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
    plans = _explained(database)
    blobs = Blobs(database.path.parent)
    reading.rows(database, blobs, 1, query)
    if query.only:
        reading.n_rows(database, blobs, 1, query)
    assert plans
    assert all(any(f"{index} (" in plan[0] for index in indexes) for plan in plans), plans
    database.close()


def test_a_page_of_rows_looks_at_no_others(database: Database) -> None:
    """Neither through the rows of the experiment nor through the cases of its version."""
    plans = _explained(database)
    keys = [(f"c{number}", "default", "main") for number in range(50)]
    with database.write() as connection:
        opened = columns_of(an_experiment(n_cases=1))
        number = connection.execute(
            experiment.insert().values(opened).returning(experiment.c.id)
        ).scalar_one()
        connection.execute(dataset.insert(), {"id": 1, "name": opened["dataset"]})
        version = {
            "dataset_id": 1,
            "number": opened["dataset_number"],
            "digest": opened["dataset_digest"],
        }
        connection.execute(
            dataset_version.insert(), version | {"created_at": 0, "n_cases": 0, "splits": "{}"}
        )
        row = dict.fromkeys((column.name for column in trial_row.c), 0)
        named = {"case_id": "c1", "condition": "default", "arm": "main", "first_reason": None}
        connection.execute(trial_row.insert(), row | named | {"id": 7, "experiment_id": number})
    found = row_glances(database, Blobs(database.path.parent), number, keys)
    assert [glance.row.key.case_id for glance in found] == ["c1"]
    text = "\n".join(line for plan in plans for line in plan)
    assert "trial_row_1 (experiment_id=? AND case_id=?)" in text
    assert "version_case USING INDEX version_case_named (case_id=?)" in text
    assert "SCAN trial_row" not in text
    assert "SCAN version_case" not in text
    database.close()
