"""Older experiments are read once where experiments lie close together, and never too far."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fairtrial.app.bench import Bench
from fairtrial.app.older import Older, earlier
from fairtrial.model.experiment import ExperimentState
from fairtrial.testing.store.facts import an_experiment


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with closing(Bench(tmp_path, tmp_path, {})) as made:
        for number in range(1, 41):
            dataset = "other" if number % 4 == 0 else "bugs"
            made.store.experiments.open_experiment(an_experiment(number, dataset=dataset), [])
        yield made


@pytest.fixture
def read(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Give how many experiments each reading brought."""
    store = bench.store.experiments
    counts: list[int] = []
    usual = store.newest

    def newest(*words: Any, **named: Any) -> Sequence[ExperimentState]:
        found = usual(*words, **named)
        counts.append(len(found))
        return found

    monkeypatch.setattr(store, "newest", newest)
    return counts


def _expected(state: ExperimentState, everything: Sequence[ExperimentState]) -> list[str]:
    return [
        other.experiment.id
        for other in everything
        if other.experiment.dataset == state.experiment.dataset
        and other.experiment.id < state.experiment.id
    ]


@pytest.mark.parametrize("step", [1, 3, 7, 39])
@pytest.mark.parametrize("known", [0, 20])
def test_what_is_older_is_the_same_however_it_is_asked_for(
    bench: Bench, step: int, known: int
) -> None:
    everything = bench.store.experiments.newest(100)
    older = Older(bench, everything[:known])
    for state in everything[::step]:
        found = [other.experiment.id for other in older.than(state)]
        assert found == _expected(state, everything), state.experiment.id
        assert [other.experiment.id for other in earlier(bench, state)] == found


def test_neighbours_are_read_once(bench: Bench, read: list[int]) -> None:
    states = bench.store.experiments.newest(21)
    read.clear()
    older = Older(bench, states)
    for state in states[:20]:
        assert next(older.than(state)).experiment.dataset == state.experiment.dataset
    assert sum(read) <= 4


def test_a_gap_is_not_read_through(bench: Bench, read: list[int]) -> None:
    states = bench.store.experiments.newest(100)
    read.clear()
    older = Older(bench)
    next(older.than(states[0]))
    next(older.than(states[-10]))
    assert sum(read) <= 8
