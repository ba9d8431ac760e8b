"""The open logbook of the project: who joins it, and what changed since the run before."""

from __future__ import annotations

from collections.abc import Sequence

from fairtrial.analysis.run_delta import RunDelta
from fairtrial.app.baselines import project_of
from fairtrial.app.bench import Bench
from fairtrial.app.chosen_arms import ChosenArm
from fairtrial.app.reports.logbook import RunInLogbook
from fairtrial.model.errors import NotFoundError, UsageError
from fairtrial.model.experiment import ExperimentState, Status
from fairtrial.model.logbook import Logbook


def open_logbook(bench: Bench) -> Logbook | None:
    """Return the open logbook of this project; None when none is."""
    return bench.store.logbooks.current(str(project_of(bench.cwd)))


def joined(bench: Bench, state: ExperimentState) -> RunInLogbook | None:
    """Add a run to the open logbook, and say what changed since the run before; None without one.

    Raises:
        StoreError: the store cannot be read or written.
    """
    book = open_logbook(bench)
    if book is None:
        return None
    runs = [e.experiment for e in bench.store.logbooks.entries(book.id) if e.experiment]
    this = state.experiment.id
    bench.store.logbooks.add_run(book.id, this, bench.clock.now())
    before = runs[: runs.index(this)] if this in runs else runs
    return RunInLogbook(book, len(before) + 1, since_the_last(bench, before, state))


def since_the_last(bench: Bench, before: Sequence[str], state: ExperimentState) -> RunDelta | None:
    """Return what changed since the newest earlier run on the same dataset; None without one."""
    if state.status is not Status.FINISHED or state.experiment.measured:
        return None
    for ref in reversed(before):
        try:
            earlier = bench.store.experiments.find(ref)
        except NotFoundError:  # another store's
            continue
        experiment = earlier.experiment
        same = experiment.dataset == state.experiment.dataset and not experiment.measured
        if same and earlier.status is Status.FINISHED:
            return delta_between(bench, earlier, state)
    return None


def delta_between(bench: Bench, before: ExperimentState, after: ExperimentState) -> RunDelta:
    """Return what changed between the last arms of two runs.

    Raises:
        StoreError: the store cannot be read.
    """
    # numpy: most runs are in no logbook.
    from fairtrial.analysis.run_delta import run_delta  # noqa: PLC0415
    from fairtrial.app.exp_compare import compared  # noqa: PLC0415
    from fairtrial.app.requests.exp_compare import Request  # noqa: PLC0415

    a, b = (ChosenArm(state, state.experiment.arms[-1]) for state in (before, after))
    try:
        found, _ = compared(bench, Request(a=a.ref, b=b.ref))
    except UsageError as error:
        return RunDelta(a.experiment.id, a.experiment.name, reason=error.what)
    return run_delta(found.comparison)
