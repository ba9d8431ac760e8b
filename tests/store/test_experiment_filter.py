"""Filters of experiments, from the text to the experiments they fit."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from tests.store.filters import every_comparison, largest

from fairtrial.model.experiment import Provenance, Status
from fairtrial.model.score import Score
from fairtrial.query.parsing import parse
from fairtrial.query.vocabularies.experiments import EXPERIMENT_VOCABULARY
from fairtrial.store.experiment_filter import EXPERIMENTS
from fairtrial.store.opening import Store, open_store
from fairtrial.testing.store.facts import NOON, a_trial, an_experiment

_CI = Provenance(
    "0.1", "3.12.1", "runner", "/build", "f" * 40, "feature", git_dirty=False, environment="ci"
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("home"), clock=lambda: NOON) as store:
        kept = store.experiments
        done = an_experiment(
            1,
            name="done",
            created_at=NOON - timedelta(days=20),
            spec={
                "graders": [{"name": "exact"}, {"name": "judge"}],
                "arms": {"main": {"kind": "command"}, "candidate": {"kind": "http"}},
            },
        )
        open_one = an_experiment(
            2,
            name="open",
            dataset="50%_off",
            arms=("main",),
            spec={
                "graders": [{"name": "my grader"}],
                "arms": {"main": {"kind": "prompt", "model": "haiku"}},
                "gate": [{"min_pass_rate": 0.5}],
            },
            series="loop",
            provenance=_CI,
        )
        empty = an_experiment(3, name="empty", spec={"regrade_of": "exp_1", "graders": []})
        for experiment in (done, open_one, empty):
            kept.open_experiment(experiment, range(4))
        scores = (Score("exact", 0.5, passed=False), Score("judge", None, passed=None))
        kept.record(
            done.id,
            [
                a_trial("a", cost_usd=1.5),
                a_trial("a", 2, "failed", scores=scores),
                a_trial("b", verdict="undecided"),
            ],
            NOON,
        )
        kept.close_experiment(done.id, Status.FINISHED, None, NOON)
        own = (Score("my grader", 1.0, passed=True),)
        kept.record(open_one.id, [a_trial("a", scores=own, grading_cost_usd=0.25)], NOON)
        kept.close_experiment(open_one.id, Status.INTERRUPTED, None, NOON)
        yield store


@pytest.mark.parametrize(
    ("text", "fitting"),
    [
        ("name = done", "done"),
        ("name != done", "open empty"),
        ("name ~ PE", "open"),
        ("id = exp_01J0001", "done"),
        ("id != exp_01J0001", "open empty"),
        ("dataset = bugs", "done empty"),
        ("dataset = bugs@3", "done empty"),
        ("dataset = bugs@2", ""),
        ("status = done", "done"),
        ("status = finished", "done"),
        ("status != done", "open empty"),
        ("status in (running, interrupted)", "open empty"),
        ("source = run", "done open"),
        ("source = regrade", "empty"),
        ("source = sdk", ""),
        ("environment = prod", ""),
        ("environment = ci", "open"),
        ("task = command", "done"),
        ("task = http", "done"),
        ("task != http", "open empty"),
        ("task = none", "empty"),
        ("not task = command", "open empty"),
        ("model = haiku", "open"),
        ("model != haiku", "done empty"),
        ("arm = candidate", "done empty"),
        ("arm != candidate", "open"),
        ("grader = exact", "done"),
        ("grader != exact", "open empty"),
        ("grader = none", "empty"),
        ("score.exact < 0.8", "done"),
        ("score.exact = 0.75", "done"),
        ("score.exact >= 0.8", ""),
        ("not score.exact >= 0.8", "done open empty"),
        ("score.judge = none", "done open empty"),
        ("score.'my grader' = 1", "open"),
        ("score.nothing > 0", ""),
        ("pass_rate = 50%", "done"),
        ("pass_rate = none", "empty"),
        ("pass_rate != 1", "done empty"),
        ("passed = 1", "done open"),
        ("failed > 0", "done"),
        ("undecided = 1", "done"),
        ("cause = grader", "done"),
        ("cause != grader", "open empty"),
        ("cause = none", "open empty"),
        ("trials = 3", "done"),
        ("cases = 4", "done open empty"),
        ("flaky = 1", "done"),
        ("cost > 1", "done"),
        ("cost = none", "open empty"),
        ("grading_cost = 0.25", "open"),
        ("duration >= 1.5", "done"),
        ("created < 14d", "done"),
        ("created > 14d", "open empty"),
        ("finished = none", "empty"),
        ("finished != none", "done open"),
        ("series = loop", "open"),
        ("branch = feature", "open"),
        ("commit = FFF", "open"),
        ("commit != fff", "done empty"),
        ("cwd = /build", "open"),
        ("host = runner", "open"),
        ("is:finished", "done"),
        ("is:unfinished", "open empty"),
        ("is:failed", "done"),
        ("is:passed", "open"),
        ("is:undecided", "done"),
        ("is:flaky", "done"),
        ("is:gated", "open"),
        ("not is:gated", "done empty"),
        ("is:dirty", "done empty"),
        ("not is:dirty", "open"),
        ("is:replay", ""),
        ("is:regrade", "empty"),
        ("'50%_off'", "open"),
        ("'50__off'", ""),
        ("candidate", "done empty"),
        ("haiku", "open"),
        ("score.exact < 0.8 and environment = dev and status = done", "done"),
    ],
)
def test_a_filter_finds_what_it_says(store: Store, text: str, fitting: str) -> None:
    where = parse(text, EXPERIMENT_VOCABULARY, NOON)
    found = store.experiments.newest(10, where=where)
    assert {state.experiment.name for state in found} == set(fitting.split())


def test_everything_that_may_be_named_means_something(store: Store) -> None:
    assert set(EXPERIMENTS.fields) == set(EXPERIMENT_VOCABULARY.fields)
    assert set(EXPERIMENTS.properties) == set(EXPERIMENT_VOCABULARY.properties)
    for where in (*every_comparison(EXPERIMENT_VOCABULARY), *largest(EXPERIMENT_VOCABULARY)):
        store.experiments.newest(1, where=where)


def test_pages_of_a_filter_follow_each_other_by_key(store: Store) -> None:
    where = parse("not is:failed", EXPERIMENT_VOCABULARY, NOON)
    first = store.experiments.newest(1, where=where)[0].experiment
    then = store.experiments.newest(1, first.id, where=where)[0].experiment
    assert (first.name, then.name) == ("empty", "open")
    assert store.experiments.newest(1, then.id, where=where) == []
