"""Outputs that a grader is tried on outside of a run, and the grader itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairtrial.analysis.regrade import has_output
from fairtrial.app.bench import Bench
from fairtrial.app.chosen_arms import ChosenArm
from fairtrial.app.kept_outputs import require_outputs
from fairtrial.app.settling import settled_graders
from fairtrial.app.stored_cases import stored_cases
from fairtrial.graders.judging import judge_outputs
from fairtrial.graders.registry import build_grader, grader_spec
from fairtrial.model.case import Case, CaseKey
from fairtrial.model.errors import FairtrialError, InfraError
from fairtrial.model.events import Judged, JudgingStarted
from fairtrial.model.experiment import Experiment
from fairtrial.model.grader import GraderSpec, Subject
from fairtrial.model.score import Score
from fairtrial.model.trial import Trial
from fairtrial.ports import TrialFilter
from fairtrial.workspaces.host.client import HostWorkspace


@dataclass(frozen=True, slots=True)
class TriedGrader:
    """A grader that is tried, and where its relative paths start."""

    spec: GraderSpec
    folder: Path


def tried_grader(bench: Bench, given: Any, arm: ChosenArm | None) -> TriedGrader:
    """Return the grader that a user names: one of an experiment by its name, or any by its spec.

    Raises:
        UsageError: it is no grader.
    """
    if arm is not None and isinstance(given, str):
        own = _of_experiment(arm.experiment, given)
        if own is not None:
            return _settled(bench, *own)
    return _settled(bench, grader_spec(given, "GRADER"), bench.cwd)


def _of_experiment(experiment: Experiment, name: str) -> tuple[GraderSpec, Path] | None:
    folders: Mapping[str, str] = experiment.spec.get("grader_dirs", {})
    for value in experiment.spec.get("graders") or ():
        if value.get("name") == name:
            folder = Path(folders.get(name, experiment.spec["base_dir"]))
            return grader_spec(value, "graders"), folder
    return None


def _settled(bench: Bench, spec: GraderSpec, folder: Path) -> TriedGrader:
    (settled,) = settled_graders(bench, [spec], folder, "GRADER")
    return TriedGrader(settled, folder)


def graded(
    bench: Bench,
    grader: TriedGrader,
    subjects: Sequence[Subject],
    *,
    concurrency: int,
    cache: bool,
) -> list[Score]:
    """Grade outputs, and tell how far it is.

    Raises:
        UsageError: an option of the grader does not work out.
        FairtrialError: the grader cannot be set up.
    """
    workspace = HostWorkspace(slots=2 * concurrency)
    surroundings = bench.surroundings(grader.folder, workspace, cache=cache)
    built = build_grader(grader.spec, surroundings, "GRADER")
    bench.publish(JudgingStarted(grader.spec.name, len(subjects)))

    def seen(score: Score) -> None:
        bench.publish(Judged(score.cost_usd))

    try:
        return judge_outputs(built, subjects, workspace, concurrency, seen)
    except InfraError as error:
        raise FairtrialError(
            f"setup failed: {error}", where="GRADER", fix="repair it, then run this again"
        ) from error


def stored_outputs(
    bench: Bench, arm: ChosenArm, wanted: Callable[[Trial], bool]
) -> Iterator[tuple[Case, Trial]]:
    """Yield for each row of an arm its first wanted trial that has an output, with its case.

    Raises:
        NotFoundError: the outputs were removed.
    """
    require_outputs(bench, arm.experiment)
    first: dict[CaseKey, Trial] = {}
    where = TrialFilter(arm=arm.arm)
    for trial in bench.store.experiments.trials(arm.experiment.id, where):
        key = trial.key.case_key
        if key not in first and has_output(trial) and wanted(trial):
            first[key] = trial
    for case in stored_cases(bench, arm.experiment, first.__contains__):
        yield case, first[case.key]
