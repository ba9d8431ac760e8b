"""From the tasks of a suite to the cases of a dataset: running a suite is running an experiment."""

from __future__ import annotations

from collections.abc import Iterable

from fairtrial.model.case import Case
from fairtrial.model.eval_task import EVAL_TASK, EvalTask, RepoStart
from fairtrial.model.json import Json


def dataset_of(suite: str) -> str:
    """Return the name of a suite's dataset."""
    return f"evals/{suite}"


def cases_of(tasks: Iterable[EvalTask]) -> list[Case]:
    """Return the case of each task: its instruction, and what names it.

    Whether a task was validated is left out: it says nothing about what is run.
    """
    return [
        Case(
            id=task.name,
            input=task.instruction,
            metadata={EVAL_TASK: task.digest, "suite": task.suite, **_facts(task)},
            tags=task.tags,
        )
        for task in tasks
    ]


def _facts(task: EvalTask) -> dict[str, Json]:
    facts: dict[str, Json] = {"reference": task.has_reference}
    if isinstance(task.start, RepoStart):
        facts["grade"] = task.start.grade
    if task.origin is not None:
        facts["session"], facts["agent"] = task.origin.session, task.origin.agent
    return facts
