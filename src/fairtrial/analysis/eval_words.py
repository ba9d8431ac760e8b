"""Sentences about runs of eval tasks that every report words alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fairtrial.analysis.eval_reading import EXACT, EvalReading, TaskReading, TrialReading
from fairtrial.model.isolation import Level
from fairtrial.model.json import Json
from fairtrial.model.trial import MAIN_ARM


def task_words(task: TaskReading) -> Iterator[str]:
    """Yield what should be known of a task beside its trials."""
    if task.flaky:
        yield "flaky"
    if task.validated is not None:
        yield "validated" if task.validated else "draft"
    if not task.reference:
        yield "no reference"
    if task.grade not in (None, EXACT):
        yield f"start {task.grade}"
    undecided = sum(counts.undecided for counts in task.arms.values())
    if undecided:
        yield f"{undecided} undecided"


def trial_name(trial: TrialReading) -> str:
    """Return what names a trial; the arm of a run that has only one is not told."""
    arm = "" if trial.arm == MAIN_ARM else f" {trial.arm}"
    return f"{trial.task}{arm} trial {trial.trial}"


def isolation_lines(reading: EvalReading) -> Iterator[str]:
    """Yield what really stood between trials and the machine; one line when equal for all."""
    if not reading.isolation:
        yield "not known: no trial has a workspace on record"
    for one in reading.isolation:
        told = one.isolation
        held = told.get("held") or []
        kept = [str(entry["what"]) for entry in held if entry["holds"]]
        image = f" {told['image']}" if told.get("image") else ""
        of = "" if len(reading.isolation) == 1 else f", {_trials(one.trials)}"
        broken = [_broken(entry, told.get("level")) for entry in held if not entry["holds"]]
        without = f"; did not hold: {', '.join(broken)}" if broken else ""
        yield f"level {told.get('level')}{image}{of}; held: {', '.join(kept) or 'nothing'}{without}"
        for hit, trials in one.hits.items():
            yield f"{_trials(trials)} ran into a limit: {hit}"


def _broken(entry: Mapping[str, Json], level: Json) -> str:
    """Return what did not hold, and why where that is no matter of course."""
    return str(entry["what"]) if level == Level.NONE else f"{entry['what']} ({entry['how']})"


def session_command(session: str) -> str:
    """Return the command that shows the session of a trial."""
    return f"fairtrial sessions show {session}"


def _trials(n: int) -> str:
    return f"{n:,} trial{'' if n == 1 else 's'}"
