"""Asks all graders about one output. What goes wrong in a grader is a missing score, no failure."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from fairtrial.analysis.verdict import score_missing, score_of
from fairtrial.engine.retry import HOPELESS
from fairtrial.graders.in_process import InProcessGrader
from fairtrial.model.errors import GraderError, InfraError, TrialProblem
from fairtrial.model.grader import Subject
from fairtrial.model.score import Score
from fairtrial.ports import Grader

DEFAULT_THRESHOLD = 0.5
"""For a grader that no kind stands behind; the registry fills in each kind's own."""


async def grade_all(graders: Sequence[Grader], subject: Subject) -> tuple[Score, ...]:
    """Return one score a grader, in their order; graders that wait for something wait together.

    Raises:
        InfraError: a login was refused or a usage limit is spent, which no other output is spared.
    """
    waiting = [grader for grader in graders if not isinstance(grader, InProcessGrader)]
    if not waiting:  # the common case, and thousands of them a second
        return tuple([_judged(grader, subject) for grader in graders])  # type: ignore[arg-type]
    if len(waiting) > 1:
        try:
            async with asyncio.TaskGroup() as group:
                tasks = {
                    id(grader): group.create_task(_asked(grader, subject)) for grader in waiting
                }
        except* InfraError as errors:
            raise errors.exceptions[0] from None
        later = {key: task.result() for key, task in tasks.items()}
    else:
        later = {id(grader): await _asked(grader, subject) for grader in waiting}
    return tuple(
        [
            _judged(grader, subject) if isinstance(grader, InProcessGrader) else later[id(grader)]
            for grader in graders
        ]
    )


async def _asked(grader: Grader, subject: Subject) -> Score:
    try:
        return score_of(grader.spec, await grader.grade(subject), DEFAULT_THRESHOLD)
    except GraderError as error:
        return score_missing(grader.spec, _told(error), error.cost_usd, error.detail)
    except InfraError as error:
        if error.kind in HOPELESS:
            raise
        return score_missing(grader.spec, _told(error))
    except Exception as error:  # noqa: BLE001  # a crash of a grader must not decide a trial
        return score_missing(grader.spec, _told(error))


def _judged(grader: InProcessGrader, subject: Subject) -> Score:
    try:
        return score_of(grader.spec, grader.judge(subject), DEFAULT_THRESHOLD)
    except Exception as error:  # noqa: BLE001  # a crash of a grader must not decide a trial
        return score_missing(grader.spec, _told(error))


def _told(error: Exception) -> str:
    if isinstance(error, TrialProblem):
        return str(error) or "the grader could not answer"
    return f"the grader crashed: {type(error).__name__}: {error}"
