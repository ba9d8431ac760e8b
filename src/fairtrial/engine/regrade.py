"""Grades stored outputs again: the trials of an experiment become leases, no task runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from fairtrial.analysis.regrade import has_output
from fairtrial.analysis.verdict import decide, grading_cost
from fairtrial.engine.retry import HOPELESS
from fairtrial.engine.trial import GradeAll, go_on
from fairtrial.model.case import Case, CaseKey
from fairtrial.model.errors import InfraError
from fairtrial.model.grader import Subject
from fairtrial.model.score import Score
from fairtrial.model.trial import Trial, TrialKey
from fairtrial.model.verdict import Verdict
from fairtrial.ports import Lease


@dataclass(frozen=True, slots=True)
class StoredLease(Lease):
    """A trial on record whose output is due to be graded again.

    Attributes:
        origin: The trial.
    """

    origin: Trial


@dataclass(frozen=True, slots=True)
class Pass:
    """What one round of grading said of one output, when it is repeated.

    Attributes:
        verdict: What it came to.
        values: Each grader's value; None where it gave none.
    """

    verdict: Verdict
    values: Mapping[str, float | None]


def stored_leases(
    trials: Iterable[Trial], load: Callable[[CaseKey], Case]
) -> Iterator[StoredLease]:
    """Yield trials as leases; those of one row that follow each other share its case."""
    case: Case | None = None
    for trial in trials:
        key = trial.key
        if case is None or case.key != key.case_key:
            case = load(key.case_key)
        yield StoredLease(case, key.arm, key.trial, trial)


@dataclass(frozen=True, slots=True)
class Regrader:
    """Turns a stored trial into one with new scores; everything else stays as it was.

    Attributes:
        grade: Asks all graders about one output.
        crash_log: Keeps the traceback of a defect and says where.
        k: How often each output is graded; the first time makes the verdict.
        give_up: Told of a problem that every other output would meet too.
        passes: With `k` above 1: what each round said of each trial that has an output.
    """

    grade: GradeAll
    crash_log: Callable[[BaseException], str]
    k: int = 1
    give_up: Callable[[InfraError], None] = go_on
    passes: dict[TrialKey, tuple[Pass, ...]] = field(default_factory=dict)

    async def run(self, lease: Lease) -> Trial:
        """Grade one output again; a trial without one keeps its verdict."""
        if not isinstance(lease, StoredLease):
            raise TypeError(lease)
        origin = lease.origin
        if not has_output(origin):
            return replace(origin, scores=())
        first, found = await self._graded(lease.case, origin)
        if self.k > 1:
            more = [(await self._graded(lease.case, origin, n))[1] for n in range(1, self.k)]
            self.passes[origin.key] = (found, *more)
        return first

    async def _graded(self, case: Case, origin: Trial, turn: int = 0) -> tuple[Trial, Pass]:
        scores: tuple[Score, ...] = ()
        problem: Exception | None = None
        try:
            subject = Subject(case, origin.output, origin.key.trial, origin.metrics, turn)
            scores = await self.grade(subject)
        except InfraError as error:
            problem = error
            if error.kind in HOPELESS:
                self.give_up(error)
        except Exception as error:  # noqa: BLE001  # one trial's defect must not end the run
            place = self.crash_log(error)
            problem = RuntimeError(f"{type(error).__name__}: {error} (traceback: {place})")
        ruling = decide(problem, scores)
        trial = replace(
            origin,
            verdict=ruling.verdict,
            cause=ruling.cause,
            reason=ruling.reason,
            score=ruling.score,
            scores=scores,
            at_fault=ruling.at_fault,
            grading_cost_usd=grading_cost(scores),
        )
        return trial, Pass(ruling.verdict, {score.grader: score.value for score in scores})


@dataclass(frozen=True, slots=True)
class Adder:
    """Adds the scores of further graders to a stored trial; those that it has stay.

    Attributes:
        regrader: Asks the further graders.
    """

    regrader: Regrader

    async def run(self, lease: Lease) -> Trial:
        """Grade one output by the further graders; a trial without one stays as it is."""
        if not isinstance(lease, StoredLease):
            raise TypeError(lease)
        origin = lease.origin
        if not has_output(origin):
            return origin
        added = await self.regrader.run(lease)
        if not added.scores:  # something other than a grader failed
            return replace(added, scores=origin.scores)
        scores = (*origin.scores, *added.scores)
        ruling = decide(None, scores)
        return replace(
            origin,
            verdict=ruling.verdict,
            cause=ruling.cause,
            reason=ruling.reason,
            score=ruling.score,
            scores=scores,
            at_fault=ruling.at_fault,
            grading_cost_usd=grading_cost(scores),
        )
