"""Rules that end a run early, each fed with the trials in the order they end."""

from __future__ import annotations

import math

from fairtrial.model.errors import InfraError
from fairtrial.model.trial import Trial
from fairtrial.model.verdict import Cause
from fairtrial.model.wording import usd


class InfraStreak:
    """Asks to stop once so many trials in a row ended on infrastructure.

    Going on would only burn time or money: what failed so often will fail again, and none of it
    says anything about the arm under test.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._streak = 0

    def see(self, trial: Trial) -> str | None:
        """Take in the next trial; return why to stop, or None to go on."""
        self._streak = self._streak + 1 if trial.cause is Cause.INFRA else 0
        if self._longest and self._streak >= self._longest:
            last = f": {trial.reason}" if trial.reason else ""
            return f"{self._streak} trials in a row failed on infrastructure{last}"
        return None


def hopeless(problem: InfraError) -> str:
    """Return why a run stops at a problem that every other trial would meet too."""
    what = "the usage limit is spent" if problem.kind == "quota" else "the login was refused"
    return f"{what}: {problem}"


OVER_BUDGET = "--max-cost"
"""How the reason of a run begins that its budget stopped."""


class Budget:
    """Asks to stop before the next trial would cost more than is left.

    What a trial will cost is taken from those that ended, and before the first from the estimate.
    Trials in flight are counted as if each will cost that much. A trial whose cost is unknown
    stops the run, for the limit could not be kept. One that failed before it had an output is
    counted like the others, to be safe.
    """

    def __init__(self, limit_usd: float, spent_usd: float, expected_usd: float | None) -> None:
        """Set the limit.

        Args:
            limit_usd: What tasks and graders may cost together.
            spent_usd: What the trials on record have cost.
            expected_usd: What a trial is expected to cost; None is unknown.
        """
        self._limit = limit_usd
        self._spent = spent_usd
        self._expected = expected_usd
        self._known = 0
        self._known_usd = 0.0

    def refuses(self, in_flight: int) -> str | None:
        """Return why no further trial may start beside so many; None when one may."""
        each = self._each()
        coming = each * (in_flight + 1)
        # A tenth of a cent of a cent: sums of prices carry rounding errors.
        over = self._spent + coming > self._limit + 1e-6
        if not over and (each or self._spent < self._limit):
            return None
        spent = f"{OVER_BUDGET} {usd(self._limit)}: {usd(self._spent)} is spent"
        if not each:
            return spent
        flying = f", {in_flight} more trials are running" if in_flight else ""
        return f"{spent}{flying}, and a trial costs about {usd(each)}"

    def see(self, trial: Trial) -> str | None:
        """Take in what the next trial cost; return why to stop, or None to go on."""
        cost = trial_cost(trial)
        if cost is not None:
            self._known += 1
            self._known_usd += cost
            self._spent += cost
            return None
        if trial.cause is Cause.INFRA or (trial.cause is Cause.TASK and self._each()):
            self._spent += self._each()
            return None
        return (
            f"{OVER_BUDGET} {usd(self._limit)} cannot be kept: what trial {trial.key.trial} of "
            f"{trial.key.case_key} cost is unknown"
        )

    def _each(self) -> float:
        if self._known:
            return self._known_usd / self._known
        return self._expected or 0.0


def trial_cost(trial: Trial) -> float | None:
    """Return what a trial cost: graders, further attempts and reruns included.

    None when a part of it is unknown; nothing when it was copied.
    """
    if trial.copied is not None:
        return 0.0
    attempts = [attempt.cost_usd for attempt in trial.attempts] or [cost_of_try(trial)]
    return added(*attempts, *(rerun.cost_usd for rerun in trial.reruns))


def further_cost(trial: Trial) -> float | None:
    """Return what a trial cost beside its first attempt: further ones, feedback and reruns.

    None when a part of it is unknown.
    """
    if trial.copied is not None or not (trial.attempts[1:] or trial.reruns):
        return 0.0
    whole, first = trial_cost(trial), cost_of_try(trial)
    return None if whole is None or first is None else max(0.0, whole - first)


def cost_of_try(trial: Trial) -> float | None:
    """Return what the task and the graders cost, without further attempts and reruns.

    A task that was answered from the cache reports no cost, and had none.
    """
    cached = trial.reused is not None and trial.reused.source == "cache"
    task = 0.0 if trial.cost_usd is None and cached else trial.cost_usd
    return added(task, *(score.cost_usd for score in trial.scores))


def added(*costs: float | None) -> float | None:
    """Return the sum of costs; None when one is unknown."""
    known = [cost for cost in costs if cost is not None]
    return math.fsum(known) if len(known) == len(costs) else None
