"""The project's baseline, and the one that an experiment is compared with."""

from __future__ import annotations

from pathlib import Path

from fairtrial.analysis.baseline import choose_baseline, root_of
from fairtrial.app.bench import Bench
from fairtrial.app.older import Older, earlier
from fairtrial.model.baseline import Baseline, Source
from fairtrial.model.errors import NotFoundError, UsageError
from fairtrial.model.experiment import ExperimentState


def project_of(cwd: Path) -> Path:
    """Return the folder of the project: the repository's around the current one, else that."""
    here = cwd.resolve()
    return next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)


def project_key(bench: Bench, what: str) -> str:
    """Return the key under which the store keeps something of this project."""
    return f"{what}:{project_of(bench.cwd)}"


def project_baseline(bench: Bench) -> ExperimentState | None:
    """Return the baseline that this project has chosen; None when it has chosen none."""
    chosen = bench.store.settings.get(project_key(bench, "baseline"))
    if chosen is None:
        return None
    try:
        return bench.store.experiments.find(str(chosen))
    except NotFoundError:  # another store's choice
        return None


def baseline_of(
    bench: Bench, state: ExperimentState, given: str | None = None, older: Older | None = None
) -> Baseline:
    """Return what an experiment is compared with: given, the project's, or an earlier one.

    Args:
        bench: The workbench.
        state: The experiment.
        given: The one that is asked for.
        older: Reads what is older, where others want to know it, too.

    Raises:
        NotFoundError: the given one does not exist.
        UsageError: the given one is the experiment itself, or holds its outputs.
    """
    own = own_baseline(bench, state) if given is None else None
    if own is not None:
        return Baseline(own, Source.GIVEN)
    if given is None:
        before = earlier(bench, state) if older is None else older.than(state)
        return choose_baseline(state, project_baseline(bench), before)
    chosen = bench.store.experiments.find(given)
    if root_of(chosen.experiment) == root_of(state.experiment):
        raise UsageError(
            f"{given} is the experiment itself, or holds the same outputs",
            fix="name another --baseline, or leave it out for the newest earlier one",
        )
    return Baseline(chosen, Source.GIVEN)


def own_baseline(bench: Bench, state: ExperimentState) -> ExperimentState | None:
    """Return the baseline that an experiment was given when it was made; None without one."""
    given = state.experiment.spec.get("baseline")
    if given is None:
        return None
    try:
        return bench.store.experiments.find(str(given))
    except NotFoundError:  # removed since
        return None
