"""Older experiments of a dataset, read as far as they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from fairtrial.app.bench import Bench
from fairtrial.model.experiment import ExperimentState

_PAGE: Final = 50
_FEW: Final = 4
"""Experiments that are read at first: the newest older one is mostly what was looked for."""


def earlier(bench: Bench, state: ExperimentState, first: int = _FEW) -> Iterator[ExperimentState]:
    """Yield older experiments on the same dataset, newest first.

    Args:
        bench: The workbench.
        state: What they are older than.
        first: How many are read at once in the beginning.
    """
    store, dataset = bench.store.experiments, state.experiment.dataset
    before: str | None = state.experiment.id
    limit = first
    while before is not None:
        page = store.newest(limit, before, dataset)
        yield from page
        before = page[-1].experiment.id if len(page) == limit else None
        limit = min(4 * limit, max(_PAGE, first))


class Older:
    """What is older than each of some experiments that are asked for newest first.

    What lies close together is read once.
    """

    def __init__(self, bench: Bench, listed: Sequence[ExperimentState] = ()) -> None:
        """Begin.

        Args:
            bench: The workbench.
            listed: Experiments that are known, newest first, without a gap between them.
        """
        self._bench = bench
        self._stretches: dict[str, _Stretch] = {}
        known: dict[str, list[ExperimentState]] = {}
        for state in listed:
            known.setdefault(state.experiment.dataset, []).append(state)
        for dataset, states in known.items():
            self._stretches[dataset] = _Stretch(states, earlier(bench, states[-1]))

    def than(self, state: ExperimentState) -> Iterator[ExperimentState]:
        """Yield the older experiments on the dataset of one, newest first."""
        dataset = state.experiment.dataset
        stretch = self._stretches.get(dataset)
        if stretch is None or not stretch.reaches(state.experiment.id):
            stretch = _Stretch([state], earlier(self._bench, state))
            self._stretches[dataset] = stretch
        return stretch.after(state.experiment.id)


class _Stretch:
    """Experiments that follow each other, and how to read on."""

    def __init__(self, known: list[ExperimentState], more: Iterator[ExperimentState]) -> None:
        self._known = known
        self._more = more

    def reaches(self, experiment_id: str) -> bool:
        first, last = self._known[0].experiment.id, self._known[-1].experiment.id
        return last <= experiment_id <= first

    def after(self, experiment_id: str) -> Iterator[ExperimentState]:
        place = sum(state.experiment.id >= experiment_id for state in self._known)
        while place < len(self._known) or self._read():
            yield self._known[place]
            place += 1

    def _read(self) -> bool:
        found = next(self._more, None)
        if found is not None:
            self._known.append(found)
        return found is not None
