"""`exp baseline`: what this project's experiments are compared with."""

from __future__ import annotations

from fairtrial.analysis.baseline import unusable
from fairtrial.app.baselines import baseline_of, project_baseline, project_key, project_of
from fairtrial.app.bench import Bench
from fairtrial.app.reports.baseline import BaselineReport
from fairtrial.app.requests.exp_baseline import Request
from fairtrial.model.baseline import Baseline, Source
from fairtrial.model.errors import UsageError


def exp_baseline(bench: Bench, request: Request) -> BaselineReport:
    """Set, show or clear the project's baseline.

    Raises:
        NotFoundError: there is no such experiment.
        UsageError: it can be no baseline, or the action does not go with an experiment.
    """
    of: str | None = None
    if request.action == "set":
        found = _set(bench, request)
    elif request.action == "clear":
        found = _clear(bench, request)
    elif request.experiment is not None:
        state = bench.store.experiments.find(request.experiment)
        found, of = baseline_of(bench, state), state.experiment.id
    else:
        found = _chosen(bench)
    return BaselineReport(request.action, str(project_of(bench.cwd)), of, found)


def _set(bench: Bench, request: Request) -> Baseline:
    if request.experiment is None:
        raise UsageError("which experiment?", fix="fairtrial exp baseline set EXPERIMENT")
    state = bench.store.experiments.find(request.experiment)
    why_not = unusable(state)
    if why_not is not None:
        raise UsageError(
            f"{state.experiment.name} ({state.experiment.id}) can be no baseline: it {why_not}",
            fix="choose a finished one: fairtrial exp list",
        )
    key = project_key(bench, "baseline")
    bench.store.settings.set(key, state.experiment.id, bench.clock.now())
    return Baseline(state, Source.PROJECT)


def _clear(bench: Bench, request: Request) -> Baseline:
    if request.experiment is not None:
        raise UsageError("clear takes no experiment", fix="fairtrial exp baseline clear")
    had_one = bench.store.settings.delete(project_key(bench, "baseline"))
    reason = "the project's is cleared" if had_one else "the project had none"
    return Baseline(None, Source.NONE, (reason,))


def _chosen(bench: Bench) -> Baseline:
    state = project_baseline(bench)
    if state is None:
        return Baseline(None, Source.NONE, ("the project has set none",))
    return Baseline(state, Source.PROJECT)
