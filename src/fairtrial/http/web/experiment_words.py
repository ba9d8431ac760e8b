"""An experiment in the words of a list and of a header."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from fairtrial.app.reports.experiments import ExperimentsReport
from fairtrial.app.reports.gate import GateChip
from fairtrial.http.web.words import number, percent
from fairtrial.model.baseline import AgainstBaseline
from fairtrial.model.experiment import Experiment, ExperimentState, GraderTotals, Status
from fairtrial.model.verdict import Cause

_SCORES: Final = 3
_SHORT_COMMIT: Final = 8
_SOURCES: Final = {"sdk": "SDK", "api": "API", "pytest": "pytest", "ab": "A/B"}
_STARTED: Final = {
    "push": "Push",
    "pull_request": "PR",
    "pr": "PR",
    "schedule": "Schedule",
    "api": "API",
    "ci": "CI",
}


@dataclass(frozen=True, slots=True)
class Chip:
    """A word with a colour.

    Attributes:
        text: The word.
        kind: `good`, `bad`, `busy`, `warn` or `quiet`.
        title: What it means, when it is pointed at.
    """

    text: str
    kind: str
    title: str | None = None


@dataclass(frozen=True, slots=True)
class ListedView:
    """A row of the list.

    Attributes:
        state: The experiment.
        status: Where it stands.
        source: Where it comes from, as a filter says it.
        source_name: The same as a heading says it.
        target: What was tested.
        version: Its commit or image; None when unknown.
        gate: Where it stands at the release gate.
        scores: Up to three of its graders, each with what to show.
        against: What it fixed and broke.
        started_by: Who or what began it.
    """

    state: ExperimentState
    status: Chip
    source: str
    source_name: str
    target: str
    version: str | None
    gate: Chip
    scores: Sequence[tuple[str, str]]
    against: AgainstBaseline
    started_by: str


def listed_views(report: ExperimentsReport) -> list[ListedView]:
    """Return the rows of a list."""
    return [
        ListedView(
            state=state,
            status=status_chip(state),
            source=source_of(state.experiment),
            source_name=source_name(source_of(state.experiment)),
            target=target_of(state.experiment),
            version=version_of(state.experiment),
            gate=gate_chip(gate),
            scores=_scores(state.experiment, graders[:_SCORES]),
            against=against,
            started_by=started_by(state.experiment),
        )
        for state, against, graders, gate in zip(
            report.states, report.against, report.graders, report.gates, strict=True
        )
    ]


def _scores(experiment: Experiment, graders: Sequence[GraderTotals]) -> list[tuple[str, str]]:
    negated = negated_of(experiment)
    return [
        (
            totals.grader,
            f"{totals.scored - totals.passed:,} hit"
            if totals.grader in negated and totals.scored
            else score_text(totals),
        )
        for totals in graders
    ]


def status_chip(state: ExperimentState) -> Chip:
    """Return where an experiment stands."""
    done = f"{state.totals.recorded:,} of {state.experiment.n_planned:,} trials"
    if state.died:
        return Chip("Died", "warn", f"its process is gone; {done}")
    if state.status is Status.RUNNING:
        return Chip("Running", "busy", done)
    if state.status is Status.FINISHED:
        if state.totals.recorded and not state.totals.decided:
            return Chip("Didn't run", "warn", "no trial of it came to a verdict")
        return Chip("Done", "quiet", done)
    return Chip(state.status.value.capitalize(), "warn", state.status_reason or done)


def gate_chip(gate: GateChip) -> Chip:
    """Return where an experiment stands at the release gate."""
    text, kind = {
        "ship": ("Can ship", "good"),
        "hold": ("Failed", "bad"),
        "too_few": ("Too few", "warn"),
        "no_verdict": ("No verdict", "warn"),
        "testing": ("Testing", "busy"),
        "none": ("None", "quiet"),
    }.get(gate.standing, ("Open to see", "quiet"))
    return Chip(text, kind, gate.reason)


def score_text(totals: GraderTotals) -> str:
    """Return a grader's mean: as a share when it is one of passes, else as a number."""
    if totals.mean is None:
        return number(None)
    return percent(totals.mean) if 0 <= totals.mean <= 1 else number(totals.mean)


def source_of(experiment: Experiment) -> str:
    """Return where an experiment comes from, as `source` in a filter says it."""
    spec = experiment.spec
    told = getattr(experiment.provenance, "source", None)
    if told is not None:
        return str(told)
    if experiment.regrade_of is not None:
        return "regrade"
    if experiment.is_replay:
        return "replay"
    return "metrics" if experiment.measured else "sweep" if spec.get("sweep") else "run"


def source_name(source: str) -> str:
    """Return a source as a heading would say it."""
    return _SOURCES.get(source, source.capitalize())


def target_of(experiment: Experiment) -> str:
    """Return what was tested: the last arm's program, model, agent or address."""
    arms = experiment.spec.get("arms")
    task = arms.get(experiment.arms[-1]) if isinstance(arms, Mapping) else None
    if not isinstance(task, Mapping):
        return "measurements" if experiment.measured else "outputs on record"
    return _target(task)


def _target(task: Mapping[str, Any]) -> str:
    kind = str(task.get("kind", "task"))
    command = task.get("command")
    if isinstance(command, list | tuple) and command:
        return " ".join(posixpath.basename(str(word)) for word in command[:3])
    for name in ("agent", "model", "url", "function", "image"):
        if task.get(name):
            return f"{kind} {task[name]}"
    return kind


def version_of(experiment: Experiment) -> str | None:
    """Return the commit that was tested, with a mark when files differed from it."""
    origin = experiment.provenance
    if origin.git_commit is None:
        return None
    return origin.git_commit[:_SHORT_COMMIT] + ("+" if origin.git_dirty else "")


def started_by(experiment: Experiment) -> str:
    """Return who or what began an experiment."""
    origin = experiment.provenance
    told = getattr(origin, "started_by", None)
    if told is not None:
        return _STARTED.get(str(told), str(told).capitalize())
    return "CI" if origin.environment == "ci" else "Manual"


def again_commands(state: ExperimentState) -> list[tuple[str, str]]:
    """Return how trials without a verdict get one: what it does, and the command."""
    causes, name = state.totals.causes, state.experiment.id
    found: list[tuple[str, str]] = []
    if state.status is Status.RUNNING and not state.died:
        return found
    if causes.get(Cause.GRADER):
        found.append(("Grade the stored outputs again", f"fairtrial exp regrade {name}"))
    ours = state.status is Status.FINISHED and not state.experiment.is_reported
    if causes.get(Cause.INFRA) and ours and state.experiment.regrade_of is None:
        again = f"fairtrial exp run --resume {name} --retry-errors"
        found.append(("Run what infrastructure ended again", again))
    return found


def negated_of(experiment: Experiment) -> set[str]:
    """Return the graders that find what had better not be there."""
    graders = experiment.spec.get("graders") or ()
    return {
        str(grader.get("name"))
        for grader in graders
        if isinstance(grader, Mapping) and grader.get("not")
    }


def judges_of(experiment: Experiment) -> dict[str, str]:
    """Return the model of each grader that is a judge, by the grader's name."""
    found = {}
    for grader in experiment.spec.get("graders") or ():
        if isinstance(grader, Mapping) and grader.get("model"):
            found[str(grader.get("name"))] = str(grader["model"])
    return found
