"""Cases of a suite: named, dated by digest, and equal when nothing that counts has changed."""

from __future__ import annotations

from dataclasses import replace

from fairtrial.model.eval_task import Command, EvalTask, Origin, RepoStart, Verifier
from fairtrial.suites.compiling import cases_of, dataset_of

TASK = EvalTask(
    "failures",
    "fix-it",
    "Fix it",
    RepoStart("/r", "a" * 40, grade="base-exact"),
    Verifier(Command("true", 60.0)),
    tags=("parser",),
    origin=Origin("ses_1", "codex"),
)


def test_a_task_is_a_case_that_names_it() -> None:
    (case,) = cases_of([TASK])
    assert (case.id, case.input, case.tags) == ("fix-it", "Fix it", ("parser",))
    assert case.expected is None
    assert case.metadata == {
        "eval_task": TASK.digest,
        "suite": "failures",
        "reference": False,
        "grade": "base-exact",
        "session": "ses_1",
        "agent": "codex",
    }


def test_a_changed_verifier_is_another_case() -> None:
    changed = replace(TASK, verifier=Verifier(Command("false", 60.0)))
    assert cases_of([TASK]) == cases_of([replace(TASK, metadata={"x": 1})])
    assert cases_of([TASK])[0].content() != cases_of([changed])[0].content()


def test_a_suite_has_a_dataset_of_its_name() -> None:
    assert dataset_of("failures") == "evals/failures"
