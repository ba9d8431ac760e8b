"""How far a run has come, folded from its events."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from fairtrial.model.events import (
    Event,
    Judged,
    JudgingStarted,
    RunDraining,
    RunStarted,
    TrialRecorded,
    TrialRetried,
)
from fairtrial.model.trial import Trial
from fairtrial.model.verdict import Cause, Verdict
from fairtrial.stats.interval import Interval
from fairtrial.stats.proportion import wilson


@dataclass
class Judging:
    """How far a judge has come, outside of a run.

    Attributes:
        name: The judge.
        planned: How many outputs, or pairs, it is to judge.
        done: How many it has judged.
        cost_usd: Sum of the costs that are known; None when none is.
    """

    name: str
    planned: int
    done: int = 0
    cost_usd: float | None = None

    def add(self, cost_usd: float | None) -> None:
        """Add what one judgement cost."""
        if cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + cost_usd


@dataclass
class Progress:
    """Counts of one run so far.

    Attributes:
        name: The experiment's name.
        experiment_id: Its id.
        planned: All trials of the plan.
        kept: Trials that were on record before this run.
        n_cases: Selected cases, the most that an interval may count as independent.
        judged: Whether a pass rate means anything; not where commands are only measured.
        verdicts: Trials of this run by verdict.
        causes: Undecided trials of this run by cause.
        cost_usd: Sum of the tasks' costs that are known; None when none is.
        grading_cost_usd: Sum of the graders' costs that are known; None when none is.
        reused: Answers that were served again, by where they came from.
        saved_usd: What those had cost, as far as it is known.
        retries: Tries that were made again.
        draining: Why no new trial starts, if so.
        judging: What is judged outside of a run; None until it begins.
    """

    name: str = ""
    experiment_id: str = ""
    planned: int = 0
    kept: int = 0
    n_cases: int = 0
    judged: bool = True
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    causes: Counter[Cause] = field(default_factory=Counter)
    cost_usd: float | None = None
    grading_cost_usd: float | None = None
    reused: Counter[str] = field(default_factory=Counter)
    saved_usd: float = 0.0
    retries: int = 0
    draining: str | None = None
    judging: Judging | None = None

    def see(self, event: Event) -> None:
        """Take in the next event."""
        match event:
            case TrialRecorded(trial):
                self._count(trial)
            case RunStarted(experiment, done, planned):
                self.name, self.experiment_id = experiment.name, experiment.id
                self.planned, self.kept, self.n_cases = planned, done, experiment.n_cases
                self.judged = not experiment.measured
                # A sweep runs several experiments; what they cost is added up.
                self.verdicts, self.causes, self.retries = Counter(), Counter(), 0
            case TrialRetried():
                self.retries += 1
            case RunDraining(reason):
                self.draining = reason
            case JudgingStarted(name, planned):
                self.judging = Judging(name, planned)
            case Judged(cost_usd) if self.judging is not None:
                self.judging.done += 1
                self.judging.add(cost_usd)

    def _count(self, trial: Trial) -> None:
        self.verdicts[trial.verdict] += 1
        if trial.verdict is Verdict.UNDECIDED and trial.cause is not None:
            self.causes[trial.cause] += 1
        if trial.cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + trial.cost_usd
        if trial.grading_cost_usd is not None:
            self.grading_cost_usd = (self.grading_cost_usd or 0.0) + trial.grading_cost_usd
        if trial.reused is not None:
            self.reused[trial.reused.source] += trial.reused.calls
            self.saved_usd += trial.reused.cost_usd or 0.0

    @property
    def recorded(self) -> int:
        """Trials of this run on record."""
        return self.verdicts.total()

    @property
    def done(self) -> int:
        """Trials on record, the kept ones included."""
        return self.kept + self.recorded

    @property
    def decided(self) -> int:
        """Trials of this run with a verdict."""
        return self.verdicts[Verdict.PASSED] + self.verdicts[Verdict.FAILED]

    def pass_rate(self) -> tuple[float, Interval] | None:
        """Return the share of decided trials that passed, with Wilson's interval; None before any.

        Trials of one case count as one case: a case's trials agree more than strangers do, and an
        interval that ignored it would be too narrow.
        """
        if not self.decided or not self.judged:
            return None
        share = self.verdicts[Verdict.PASSED] / self.decided
        n = min(self.decided, max(self.n_cases, 1))
        return share, wilson(min(share * n, n), n)


def eta_s(done: int, left: int, elapsed_s: float) -> float | None:
    """Return the seconds until the rest is done at the pace so far; None before the first."""
    return None if done == 0 else elapsed_s / done * left
