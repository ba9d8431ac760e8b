"""`grader check`: tries to fool a grader."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from fairtrial.app.bench import Bench
from fairtrial.app.chosen_arms import ChosenArm, find_arm
from fairtrial.app.judged_outputs import TriedGrader, graded, stored_outputs, tried_grader
from fairtrial.app.reports.canaries import CanaryReport, Tried
from fairtrial.app.requests.grader_check import Request
from fairtrial.graders.canaries import CONTROL, Canary, built_in, canaries
from fairtrial.graders.registry import GRADERS
from fairtrial.model.errors import UsageError
from fairtrial.model.grader import Subject
from fairtrial.model.verdict import Verdict


def grader_check(bench: Bench, request: Request) -> CanaryReport:
    """Grade outputs that no grader should pass.

    Raises:
        UsageError: the grader makes no sense, or no output failed.
        NotFoundError: there is no such experiment, or a file does not exist.
        FairtrialError: the grader cannot be set up.
        StoreError: the store cannot be read.
    """
    arm = None if request.experiment is None else find_arm(bench, request.experiment)
    grader = tried_grader(bench, request.grader, arm)
    sources = built_in()[: request.n] if arm is None else _failed(bench, arm, request.n)
    best = _best_verdicts(grader)
    planned: list[tuple[int, Canary]] = []
    for number, subject in enumerate(sources):
        foreign = _foreign(subject, built_in() if arm is None else sources)
        planned += [(number, canary) for canary in canaries(subject, foreign, best)]
    scores = graded(
        bench,
        grader,
        [canary.subject for _, canary in planned],
        concurrency=request.concurrency,
        cache=not request.caching.no_cache,
    )
    passed_as_it_is = {
        number: score.passed
        for (number, canary), score in zip(planned, scores, strict=True)
        if canary.kind == CONTROL
    }
    tried = [
        Tried(canary, score, passed_as_it_is[number])
        for (number, canary), score in zip(planned, scores, strict=True)
    ]
    return CanaryReport(
        name=grader.spec.name,
        grader=grader.spec.content(),
        source=None if arm is None else arm.ref,
        tried=tuple(tried),
    )


def _failed(bench: Bench, arm: ChosenArm, n: int) -> Sequence[Subject]:
    found = stored_outputs(bench, arm, lambda trial: trial.verdict is Verdict.FAILED)
    subjects = [
        Subject(case, trial.output, trial.key.trial, trial.metrics)
        for case, trial in islice(found, n)
    ]
    if not subjects:
        raise UsageError(
            f"no output of {arm.label} failed, so there is none to start from",
            fix="leave out --experiment for built-in ones",
        )
    return subjects


def _foreign(mine: Subject, pool: Sequence[Subject]) -> object:
    """Return the output of the first other case that has another one; None when there is none."""
    others = (other.output for other in pool if other.case.key != mine.case.key)
    return next((output for output in others if output not in (mine.output, None, "")), None)


def _best_verdicts(grader: TriedGrader) -> tuple[str, ...]:
    """Return the names of a judge's choices, the best first; none for any other grader."""
    if grader.spec.kind != "judge":
        return ()
    from fairtrial.graders.judge.options import menu_of  # noqa: PLC0415  # only for judges

    options = GRADERS.options(grader.spec.kind, grader.spec.options, "GRADER")
    return tuple(menu_of(options, "GRADER").choices or ())
