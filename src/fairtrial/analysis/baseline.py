"""Which experiment another one is compared with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePath

from fairtrial.analysis.programs import program_words
from fairtrial.model.baseline import Baseline, Source
from fairtrial.model.experiment import Experiment, ExperimentState, Status
from fairtrial.model.json import Json
from fairtrial.model.verdict import Cause


def choose_baseline(
    candidate: ExperimentState,
    project: ExperimentState | None,
    earlier: Iterable[ExperimentState],
) -> Baseline:
    """Return the project's baseline if it fits, else the newest earlier one of the same kind.

    Args:
        candidate: The experiment to find a baseline for.
        project: What the project has chosen; None when it has chosen nothing.
        earlier: Experiments on the same dataset, newest first; those that are not older than the
            candidate are passed over.
    """
    reasons: list[str] = []
    if project is not None:
        why_not = _unfit(candidate, project)
        if why_not is None:
            return Baseline(project, Source.PROJECT)
        reasons.append(f"the project's baseline {project.experiment.name} {why_not}")
    same_kind = 0
    for state in earlier:
        if _is_earlier_of_kind(candidate.experiment, state.experiment):
            same_kind += 1
            if unusable(state) is None:
                return Baseline(state, Source.EARLIER, tuple(reasons))
    if same_kind == 0:
        reasons.append("it is the first experiment of its dataset and task")
    else:
        reasons.append(f"of {same_kind} earlier of its kind none finished with a verdict")
    return Baseline(None, Source.NONE, tuple(reasons))


def unusable(state: ExperimentState) -> str | None:
    """Return why an experiment can be no baseline at all; None when it can."""
    if state.experiment.measured:
        return "measures commands and judges nothing"
    if state.status is not Status.FINISHED:
        return state.standing if state.died else f"is {state.status.value}"
    if state.totals.decided <= state.totals.causes.get(Cause.TASK, 0):
        return "never had an output judged"
    return None


def _unfit(candidate: ExperimentState, state: ExperimentState) -> str | None:
    mine, other = candidate.experiment, state.experiment
    if root_of(mine) == root_of(other):
        return "is this experiment, or holds the same outputs"
    if mine.dataset != other.dataset:
        return f"ran on the dataset {other.dataset}"
    return unusable(state)


def _is_earlier_of_kind(mine: Experiment, other: Experiment) -> bool:
    """Ids grow with time, so an earlier experiment has a smaller one."""
    return (
        other.id < mine.id
        and other.dataset == mine.dataset
        and not other.measured
        and not other.is_aa
        and root_of(other) != root_of(mine)
        and families(other) == families(mine)
    )


def root_of(experiment: Experiment) -> str:
    """Return the id of the experiment whose task made the outputs."""
    return experiment.regrade_of or experiment.id


def families(experiment: Experiment) -> frozenset[tuple[str, ...]]:
    """Return the families of its arms' tasks: their kinds and the programs, services or functions.

    Options are not in it: a family is what one agent is across its versions.
    """
    arms: Mapping[str, Json] = experiment.spec.get("arms") or {}
    return frozenset(task_family(task) for task in arms.values())


def task_family(task: Mapping[str, Json]) -> tuple[str, ...]:
    """Return the family of one task."""
    kind = str(task.get("kind", ""))
    if "command" in task:
        command = task["command"]
        words = program_words(
            command if isinstance(command, str) else tuple(str(word) for word in command)
        )
        return kind, *(PurePath(word).name for word in words)
    named = task.get("url") or task.get("function") or ""
    return kind, str(named).split("?", maxsplit=1)[0]
