"""Reported experiments: batches once and whole, cases that gather, several writers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from fairtrial.model.case import Case
from fairtrial.model.errors import ConflictError, UsageError
from fairtrial.model.experiment import Status
from fairtrial.model.reported import Receipt, ReportedTrial
from fairtrial.model.verdict import Verdict
from fairtrial.store.opening import Store, open_store
from fairtrial.testing.store.facts import NOON, a_trial, an_experiment, assert_aggregates


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(open_store(tmp_path)) as store:
        yield store


def reported(case_id: str, number: int = 0, **case: object) -> ReportedTrial:
    found = a_trial(case_id)
    key = found.key._replace(trial=number, condition="default")
    content = Case(case_id, **{"input": case_id, **case})  # type: ignore[arg-type]
    return ReportedTrial(content, replace(found, key=key))


def opened(store: Store, number: int = 1, receipt: Receipt | None = None) -> str:
    told = {"dataset_number": 0, "dataset_digest": "", "n_cases": 0, "spec": _SPEC}
    given = an_experiment(number, **told, identity=f"{number:064x}", name="reported")
    return store.reports.open(given, receipt)[0]


_SPEC = {"graders": [{"name": "exact"}, {"name": "judge"}], "reported": {}}


def test_cases_gather_and_become_a_version(store: Store) -> None:
    name = opened(store)
    assert store.experiments.find(name).alive is None
    store.reports.take(name, [reported("b"), reported("a")], None, NOON)
    draft = store.experiments.find(name).experiment
    version = store.datasets.version(f"{draft.dataset}@{draft.dataset_number}")
    assert [case.id for case in store.datasets.cases(version)] == ["b", "a"]
    assert (store.datasets.versions(), store.datasets.versions("bugs")) == ([], [])
    store.reports.finish(name, Status.FINISHED, None, NOON)
    done = store.experiments.find(name)
    assert (done.status, done.experiment.dataset_number) == (Status.FINISHED, 1)
    assert [case.id for case in store.datasets.cases(store.datasets.version("bugs"))] == ["a", "b"]
    assert list(store.experiments.positions(name)) == [0, 1]
    trials = list(store.experiments.trials(name))
    assert_aggregates(store.experiments, done.experiment, trials)


def test_the_same_cases_are_the_same_version(store: Store) -> None:
    for number, order in ((1, "ab"), (2, "ba")):
        name = opened(store, number)
        store.reports.take(name, [reported(letter) for letter in order], None, NOON)
        store.reports.finish(name, Status.FINISHED, None, NOON)
    same = store.datasets.version("bugs@1")
    added, is_new = store.datasets.add_version("bugs", [Case("a", "a"), Case("b", "b")])
    assert (added, is_new, len(store.datasets.versions("bugs"))) == (same, False, 1)


def test_one_of_the_same_identity_is_answered_instead_of_another_one(store: Store) -> None:
    first = opened(store)
    again = an_experiment(2, dataset_number=0, spec=_SPEC, identity=f"{1:064x}")
    assert store.reports.open(again, None) == (first, True)
    assert store.reports.open(again, Receipt("key", b"x")) == (first, True)


def test_one_on_stored_cases_may_end_before_it_had_any_row(store: Store) -> None:
    store.datasets.add_version("bugs", [Case("a", "a")])
    version = store.datasets.version("bugs@1")
    told = {"dataset": "bugs", "dataset_number": 1, "dataset_digest": version.digest, "n_cases": 1}
    name = store.reports.open(an_experiment(1, **told, spec=_SPEC), None)[0]
    with pytest.raises(ConflictError, match="no row yet"):
        store.reports.finish(name, Status.FINISHED, None, NOON)
    store.reports.finish(name, Status.STOPPED, "its rows were refused", NOON)
    assert store.experiments.find(name).status is Status.STOPPED


def test_a_batch_is_written_once_under_its_key(store: Store) -> None:
    key = Receipt("one", b"1")
    name = opened(store, 1, key)
    assert store.reports.open(an_experiment(2, spec=_SPEC), key) == (name, True)
    first = store.reports.take(name, [reported("a"), reported("a")], key, NOON)
    again = store.reports.take(name, [reported("a"), reported("a")], key, NOON)
    assert [found.trial for found in first.keys] == [1, 2]
    assert (again.keys, again.again) == (first.keys, True)
    assert len(list(store.experiments.trials(name))) == 2
    with pytest.raises(ConflictError, match="another request"):
        store.reports.take(name, [reported("b")], Receipt("one", b"2"), NOON)


@pytest.mark.parametrize(
    ("batch", "kind"),
    [
        ([reported("a", 1)], "trial_recorded"),
        ([reported("new"), reported("b", 3), reported("b", 3)], "trial_recorded"),
        ([reported("new"), reported("a", input="else")], "case_changed"),
    ],
)
def test_what_does_not_go_together_leaves_nothing(
    store: Store, batch: list[ReportedTrial], kind: str
) -> None:
    name = opened(store)
    store.reports.take(name, [reported("a")], None, NOON)
    with pytest.raises(ConflictError) as caught:
        store.reports.take(name, batch, None, NOON)
    assert caught.value.kind == kind
    assert [trial.key.case_id for trial in store.experiments.trials(name)] == ["a"]
    assert store.experiments.find(name).experiment.n_cases == 1


def test_an_end_is_an_end(store: Store) -> None:
    name = opened(store)
    with pytest.raises(ConflictError, match="no row"):
        store.reports.finish(name, Status.FINISHED, None, NOON)
    store.reports.take(name, [reported("a")], None, NOON)
    store.reports.finish(name, Status.FINISHED, None, NOON)
    store.reports.finish(name, Status.STOPPED, "late", NOON)
    assert store.experiments.find(name).status is Status.FINISHED
    with pytest.raises(ConflictError, match="no more rows"):
        store.reports.take(name, [reported("b")], None, NOON)
    ran = an_experiment(9)
    store.experiments.open_experiment(ran, [])
    with pytest.raises(ConflictError, match="was run"):
        store.reports.take(ran.id, [reported("b")], None, NOON)


def test_rows_of_stored_cases_must_be_of_these(store: Store) -> None:
    version, _ = store.datasets.add_version("bugs", [Case("a", "a"), Case("b", "b")])
    given = an_experiment(1, dataset_number=1, dataset_digest=version.digest, n_cases=2, spec=_SPEC)
    store.reports.open(given, None)
    store.reports.take(given.id, [reported("b")], None, NOON)
    with pytest.raises(UsageError, match="case c is not in bugs@1"):
        store.reports.take(given.id, [reported("a"), reported("c")], None, NOON)
    assert list(store.experiments.positions(given.id)) == [0, 1]
    assert len(list(store.experiments.trials(given.id))) == 1


def test_eight_writers_lose_nothing(store: Store) -> None:
    name = opened(store)
    failed: list[Exception] = []

    def write(writer: int) -> None:
        try:
            for batch in range(5):
                rows = [reported("shared"), reported(f"{writer}-{batch}")]
                store.reports.take(name, rows, Receipt(f"{writer}-{batch}", b""), NOON)
        except Exception as error:  # noqa: BLE001  # told below
            failed.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    store.reports.finish(name, Status.FINISHED, None, NOON)
    trials = list(store.experiments.trials(name))
    shared = [trial.key.trial for trial in trials if trial.key.case_id == "shared"]
    assert (len(trials), sorted(shared)) == (80, list(range(1, 41)))
    assert store.experiments.find(name).experiment.n_cases == 41
    assert all(trial.verdict in Verdict for trial in trials)
