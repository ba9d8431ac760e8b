"""Filters of rows, from the text to the rows they fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.store.filters import every_comparison, largest

from fairtrial.model.case import Case
from fairtrial.model.score import Score
from fairtrial.model.task import Tokens
from fairtrial.model.trial import TrialKey
from fairtrial.model.verdict import Cause
from fairtrial.ports import RowFilter, RowQuery, TrialFilter
from fairtrial.query.expression import Expression
from fairtrial.query.parsing import parse
from fairtrial.query.vocabularies.rows import ROW_VOCABULARY, needs_baseline
from fairtrial.store.opening import Store, open_store
from fairtrial.testing.store.facts import NOON, a_trial, an_experiment

_LONG = "long output " * 5_000
_EXPERIMENT = an_experiment(2, arms=("main",))
_BASELINE = an_experiment(1, arms=("main",))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("home"), clock=lambda: NOON) as store:
        version, _ = store.datasets.add_version(
            "bugs",
            [
                Case("good", "pay a refund", tags=("billing", "easy"), condition="default"),
                Case("bad", {"ask": "Größe"}, tags=("billing",), split="test", condition="default"),
                Case("odd", None, condition="default"),
                Case("good", "pay", condition="attack"),
            ],
        )
        kept = store.experiments
        for experiment in (_BASELINE, _EXPERIMENT):
            told = replace(experiment, dataset_number=version.number, dataset_digest=version.digest)
            kept.open_experiment(told, range(4))
        kept.record(
            _BASELINE.id,
            [
                a_trial("good", verdict="failed", score=0.0),
                a_trial("bad", score=1.0),
                a_trial("odd", verdict="undecided"),
            ],
            NOON,
        )
        half = (Score("exact", 0.5, passed=False), Score("judge", 0.25, passed=False))
        attack = replace(a_trial("good"), key=TrialKey("good", "attack", "main", 1))
        kept.record(
            _EXPERIMENT.id,
            [
                a_trial("good", cost_usd=0.25, output="all is well"),
                a_trial("good", 2, output=_LONG, tokens=Tokens(input=3)),
                a_trial("bad", verdict="failed", scores=half, score=0.5, duration_s=9.0),
                a_trial("bad", 2, "failed", cause=Cause.TASK, output=None),
                a_trial("odd", verdict="undecided", output={"a": "Wörter"}),
                replace(attack, output="x", score=0.75),
            ],
            NOON,
        )
        yield store


def found(store: Store, where: Expression) -> set[str]:
    rows = RowFilter(where, (_BASELINE.id, "main"))
    page = store.experiments.rows(_EXPERIMENT.id, RowQuery(where=rows))
    assert store.experiments.n_rows(_EXPERIMENT.id, RowQuery(where=rows)) == len(page)
    return {
        row.key.case_id if row.key.condition == "default" else row.key.condition for row in page
    }


@pytest.mark.parametrize(
    ("text", "fitting"),
    [
        ("case = bad", "bad"),
        ("condition = attack", "attack"),
        ("condition != attack", "good bad odd"),
        ("arm = main", "good bad odd attack"),
        ("tag = billing", "good bad"),
        ("tag != billing", "odd attack"),
        ("not tag = billing", "odd attack"),
        ("tag ~ as", "good"),
        ("tag = none", "odd attack"),
        ("tag != none", "good bad"),
        ("split = test", "bad"),
        ("split != test", "good odd attack"),
        ("split = none", "good odd attack"),
        ("input ~ refund", "good"),
        ("input ~ ask", "bad"),
        ("input = pay", "attack"),
        ("input = none", "odd"),
        ("output ~ 'is well'", "good"),
        ("output ~ 'long output'", "good"),
        ("output !~ 'long output'", "bad odd attack"),
        ("output ~ wörter", "odd"),
        ("output = none", "bad"),
        ("output != none", "good odd attack"),
        ("reason ~ failed", "bad"),
        ("verdict = failed", "bad"),
        ("verdict != failed", "good odd attack"),
        ("verdict = none", ""),
        ("cause = task", "bad"),
        ("cause = grader", "odd"),
        ("cause != task", "good odd attack"),
        ("cause = none", "good attack"),
        ("score > 0.7", "good attack"),
        ("score = none", "odd"),
        ("not score > 0.7", "bad odd"),
        ("score.exact < 0.8", "bad"),
        ("score.exact = 0.25", "bad"),
        ("score.judge = 0.25", "bad"),
        ("score.judge = none", "good odd attack"),
        ("delta > 0", "good"),
        ("delta < 0", "bad"),
        ("delta = none", "odd attack"),
        ("delta.exact < 0", "bad"),
        ("not delta.exact < 0", "good odd attack"),
        ("pass_rate = 1", "good attack"),
        ("pass_rate = none", "odd"),
        ("passed = 2", "good"),
        ("failed = 2", "bad"),
        ("undecided > 0", "odd"),
        ("trials = 2", "good bad"),
        ("cost > 0.1", "good"),
        ("cost = none", "bad odd attack"),
        ("duration > 1", "bad"),
        ("tokens = 3", "good"),
        ("is:failed", "bad"),
        ("is:passed", "good attack"),
        ("is:solved", "good attack"),
        ("is:undecided", "odd"),
        ("is:flaky", ""),
        ("is:regressed", "bad"),
        ("is:broken", "bad"),
        ("is:improved", "good"),
        ("is:fixed", "good"),
        ("not is:regressed", "good odd attack"),
        ("ood", "good attack"),
        ("attack", "attack"),
        ("'%'", ""),
        ("is:failed or tag = easy", "good bad"),
    ],
)
def test_a_filter_finds_what_it_says(store: Store, text: str, fitting: str) -> None:
    assert found(store, parse(text, ROW_VOCABULARY, NOON)) == set(fitting.split())


def test_everything_that_may_be_named_means_something(store: Store) -> None:
    for where in (*every_comparison(ROW_VOCABULARY), *largest(ROW_VOCABULARY)):
        fitting = found(store, where)
        rows = RowFilter(where, (_BASELINE.id, "main"))
        trials = list(store.experiments.trials(_EXPERIMENT.id, TrialFilter(rows=rows)))
        assert len({trial.key.case_key for trial in trials}) == len(fitting)


def test_trials_of_fitting_rows_come_whole(store: Store) -> None:
    rows = RowFilter(parse("output ~ 'long output'", ROW_VOCABULARY, NOON))
    trials = list(store.experiments.trials(_EXPERIMENT.id, TrialFilter(rows=rows)))
    assert [trial.key.trial for trial in trials] == [1, 2]
    assert trials[1].output == _LONG


def test_pages_follow_each_other_by_key(store: Store) -> None:
    rows = RowFilter(parse("trials > 0", ROW_VOCABULARY, NOON))
    query = RowQuery(limit=1, where=rows)
    seen = []
    while page := store.experiments.rows(_EXPERIMENT.id, query):
        seen.append(page[0].key)
        query = replace(query, after=(*page[0].key, page[0].arm))
    assert seen == sorted(seen)
    assert len(seen) == 4


@pytest.mark.parametrize(
    ("text", "needed"),
    [
        ("is:regressed", True),
        ("not (case = a or delta.exact < 0)", True),
        ("is:failed and score < 1", False),
    ],
)
def test_only_some_filters_need_a_baseline(text: str, *, needed: bool) -> None:
    assert needs_baseline(parse(text, ROW_VOCABULARY, NOON)) is needed
