"""Trying inside a trial: attempts with feedback, and reruns that confirm a failure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from fairtrial.engine.feedback import Feedback
from fairtrial.engine.stop_rules import added, cost_of_try
from fairtrial.model.attempt import Attempt, Rerun
from fairtrial.model.case import CaseKey
from fairtrial.model.task import EarlierAttempt
from fairtrial.model.trial import Trial
from fairtrial.model.verdict import Verdict

History = Literal["full", "last"]


@dataclass(frozen=True, slots=True)
class Attempting:
    """Sequential attempts: a trial that fails is tried again with feedback.

    Attributes:
        most: Attempts a trial may have, the first included.
        feedback: Says what the next attempt is told.
        history: Whether an attempt sees all earlier ones, or only the last.
    """

    most: int
    feedback: Feedback
    history: History = "full"

    def shown(self, earlier: tuple[EarlierAttempt, ...]) -> tuple[EarlierAttempt, ...]:
        """Return the earlier attempts that the next one sees."""
        return earlier if self.history == "full" else earlier[-1:]


@dataclass(frozen=True, slots=True)
class Confirming:
    """Reruns: a trial that fails is run again, without feedback, to make sure.

    Attributes:
        times: How often at most; one rerun that does not fail ends it.
        of: Whether the failures of a case are confirmed.
    """

    times: int
    of: Callable[[CaseKey], bool]


def attempt_of(number: int, trial: Trial, feedback: str | None, cost: float | None) -> Attempt:
    """Return what is kept of one attempt; `cost` is what its feedback cost."""
    return Attempt(
        number=number,
        verdict=trial.verdict,
        cause=trial.cause,
        reason=trial.reason,
        score=trial.score,
        output=trial.output,
        feedback=feedback,
        duration_s=trial.duration_s,
        cost_usd=added(cost_of_try(trial), cost),
        tokens=trial.tokens,
    )


def rerun_of(trial: Trial) -> Rerun:
    """Return what is kept of a rerun."""
    return Rerun(trial.verdict, trial.reason, cost_of_try(trial))


def may_go_on(trial: Trial) -> bool:
    """Return whether a further try makes sense: it failed."""
    return trial.verdict is Verdict.FAILED
