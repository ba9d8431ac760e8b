"""Nothing is deleted: a superseded record is kept whole, and every payload stays."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from fairtrial.model.case import Case
from fairtrial.model.errors import NotFoundError
from fairtrial.store.opening import open_store
from fairtrial.testing.store.facts import NOON, a_trial, an_experiment

_NOISE = "".join(f"{n * n:x}" for n in range(20_000))


def test_earlier_records_are_kept(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        store.experiments.open_experiment(an_experiment(), [1])
        for verdict, output in (("failed", _NOISE), ("undecided", "second"), ("passed", "third")):
            trial = a_trial(verdict=verdict, output=output)
            store.experiments.record(an_experiment().id, [trial], NOON)
    with closing(sqlite3.connect(tmp_path / "fairtrial.db")) as connection:
        archive = connection.execute(
            "SELECT number, record, inline, blob FROM superseded ORDER BY id"
        ).fetchall()
    records = [json.loads(record) for _, record, _, _ in archive]
    assert [record["verdict"] for record in records] == ["failed", "undecided"]
    assert records[0]["scores"][0]["reason"] == "differs"
    assert (tmp_path / "blobs" / archive[0][3][:2] / f"{archive[0][3]}.zst").exists()
    assert json.loads(archive[1][2])["output"] == "second"


def test_equal_payloads_share_a_file(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        store.experiments.open_experiment(an_experiment(), [1])
        trials = [a_trial(f"{n}", output=_NOISE) for n in range(3)]
        store.experiments.record(an_experiment().id, trials, NOON)
    assert len(list((tmp_path / "blobs").glob("*/*.zst"))) == 1


def test_equal_cases_share_their_content(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        for count in (3, 2, 3):
            store.datasets.add_version("d", [Case(f"{n}", _NOISE * 30) for n in range(count)])
        store.datasets.add_version("e", [Case("0", _NOISE * 30)])
    with closing(sqlite3.connect(tmp_path / "fairtrial.db")) as connection:
        assert connection.execute("SELECT count(*) FROM case_content").fetchone() == (3,)
    assert len(list((tmp_path / "blobs").glob("*/*.zst"))) == 3


def test_digits_that_fit_two_contents_are_refused(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        digest = store.datasets.add_version("d", [Case("a", 1)])[0].digest
        store.datasets.add_version("d", [Case("b", 1)])
        with closing(sqlite3.connect(tmp_path / "fairtrial.db")) as connection:
            twin = digest[:8] + "".join(reversed(digest[8:]))
            connection.execute("UPDATE dataset_version SET digest = ? WHERE number = 2", (twin,))
            connection.commit()
        with pytest.raises(NotFoundError, match="fits several versions") as caught:
            store.datasets.version(f"d@{digest[:8]}")
        assert twin in str(caught.value.why)
        assert store.datasets.version(f"d@{digest}").number == 1
