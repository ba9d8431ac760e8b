"""What trials of eval tasks came to: reliability, what went wrong, and what was seen."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from fairtrial.model.case import Case
from fairtrial.model.eval_task import VERIFIER
from fairtrial.model.json import Json
from fairtrial.model.trial import Trial
from fairtrial.model.verdict import Verdict
from fairtrial.stats.passk import PassMetrics, pass_metrics
from fairtrial.stats.proportion import Rate, pass_rate

FEW_TASKS: Final = 20
"""A suite of fewer tasks shows only large differences."""
EXACT: Final = "exact"

_WORDS: Final = 300


@dataclass(frozen=True, slots=True)
class Counts:
    """Trials of a task in an arm."""

    passed: int
    failed: int
    undecided: int

    @property
    def decided(self) -> int:
        """Trials with a verdict."""
        return self.passed + self.failed

    @property
    def flaky(self) -> bool:
        """Some of its trials passed and some failed."""
        return 0 < self.passed < self.decided


@dataclass(frozen=True, slots=True)
class TaskReading:
    """What came of one task.

    Attributes:
        name: The task.
        validated: Whether this version of it is validated; None when it is not known any more.
        reference: Whether it has a reference solution.
        grade: How sure the start of its workspace is; None for one that begins as a folder.
        arms: Its trials, by arm.
    """

    name: str
    validated: bool | None
    reference: bool
    grade: str | None
    arms: Mapping[str, Counts]

    @property
    def flaky(self) -> bool:
        """Some of its trials passed and some failed, in the same arm."""
        return any(counts.flaky for counts in self.arms.values())


@dataclass(frozen=True, slots=True)
class TrialReading:
    """A trial that did not pass, ran over its time, or saw what it must not.

    Attributes:
        task: Its task.
        arm: Its arm.
        trial: Its number.
        verdict: Its verdict.
        cause: What made the verdict, when no grader did.
        reason: Why it did not pass.
        last_words: The last line that the verifier printed; None when it printed nothing.
        session: The session of its agent; None when there is no transcript.
        transcript_trouble: Why there is none, where that is a trouble.
        over_limit: Whether its agent ran over its time.
        leaks: What its agent saw, or tried to see, and must not, a line each.
    """

    task: str
    arm: str
    trial: int
    verdict: str
    cause: str | None
    reason: str | None
    last_words: str | None
    session: str | None
    transcript_trouble: str | None
    over_limit: bool
    leaks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class IsolationReading:
    """What stood between some trials and the machine.

    Attributes:
        isolation: As `Isolation.content` tells it, without the limits that were run into.
        trials: How many trials.
        hits: The limits that trials ran into, with the number of trials.
    """

    isolation: Mapping[str, Json]
    trials: int
    hits: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ArmReading:
    """How reliably an arm solves the tasks.

    Attributes:
        arm: Its name.
        rate: The pass rate over tasks, which is pass@1, with its interval.
        metrics: pass@k and pass^k for k = 1 and the number of trials.
        cost_usd: The sum of the costs that are known; None when none is.
        costed: How many trials that is the cost of.
        tokens: Tokens of the trials that told them; None when none did.
        duration_s: The sum of the durations that are known; None when none is.
        timed: How many trials that is the sum of.
        trials: Trials on record.
    """

    arm: str
    rate: Rate
    metrics: PassMetrics
    cost_usd: float | None
    costed: int
    tokens: int | None
    duration_s: float | None
    timed: int
    trials: int


@dataclass(frozen=True, slots=True)
class EvalReading:
    """What a run of eval tasks came to.

    Attributes:
        suite: The suite.
        trials: Trials a task and arm that were planned.
        arms: The arms, the baseline first.
        tasks: The tasks, by name.
        told: The trials that did not pass, ran over their time or saw what they must not.
        isolation: What really stood between trials and the machine.
    """

    suite: str
    trials: int
    arms: tuple[ArmReading, ...]
    tasks: tuple[TaskReading, ...]
    told: tuple[TrialReading, ...]
    isolation: tuple[IsolationReading, ...]

    @property
    def failed(self) -> tuple[TrialReading, ...]:
        """The trials that did not pass."""
        return tuple(one for one in self.told if one.verdict != Verdict.PASSED.value)

    @property
    def leaking(self) -> tuple[TrialReading, ...]:
        """The trials whose agent saw, or tried to see, what it must not."""
        return tuple(one for one in self.told if one.leaks)

    @property
    def over_limit(self) -> tuple[TrialReading, ...]:
        """The trials whose agent ran over its time."""
        return tuple(one for one in self.told if one.over_limit)

    @property
    def notes(self) -> tuple[str, ...]:
        """What limits what can be concluded, a sentence each."""
        return tuple(_notes(self))


def eval_reading(
    suite: str,
    plan: tuple[int, Sequence[str]],
    cases: Iterable[Case],
    validated: Mapping[str, bool | None],
    trials: Iterable[Trial],
) -> EvalReading:
    """Return what trials of eval tasks came to.

    Args:
        suite: The suite.
        plan: Trials a task and arm, and the names of the arms.
        cases: The cases of the suite that were run.
        validated: Whether each task, by its case's id, is validated.
        trials: Its trials, each once.
    """
    planned, arms = plan
    verdicts: dict[tuple[str, str], Counter[Verdict]] = defaultdict(Counter)
    sums = {arm: _Sums() for arm in arms}
    held: dict[str, list[Mapping[str, Json]]] = defaultdict(list)
    told = []
    for trial in trials:
        verdicts[trial.key.case_id, trial.key.arm][trial.verdict] += 1
        sums[trial.key.arm].add(trial)
        isolation = _output(trial).get("isolation")
        if isinstance(isolation, Mapping):
            same = {name: value for name, value in isolation.items() if name != "hits"}
            held[json.dumps(same, sort_keys=True)].append(isolation)
        reading = _trial(trial)
        if trial.verdict is not Verdict.PASSED or reading.over_limit or reading.leaks:
            told.append(reading)
    return EvalReading(
        suite=suite,
        trials=planned,
        arms=tuple(sums[arm].reading(arm, _decided(verdicts, arm), planned) for arm in arms),
        tasks=tuple(_task(case, arms, verdicts, validated) for case in cases),
        told=tuple(told),
        isolation=tuple(
            IsolationReading(
                json.loads(same),
                len(found),
                Counter(str(hit) for one in found for hit in one.get("hits") or ()),
            )
            for same, found in held.items()
        ),
    )


class _Sums:
    """Sums over the trials of an arm."""

    def __init__(self) -> None:
        self.trials = self.costed = self.timed = 0
        self.cost_usd: float | None = None
        self.tokens: int | None = None
        self.duration_s: float | None = None

    def add(self, trial: Trial) -> None:
        self.trials += 1
        if trial.duration_s is not None:
            self.timed += 1
            self.duration_s = (self.duration_s or 0.0) + trial.duration_s
        if trial.cost_usd is not None:
            self.costed += 1
            self.cost_usd = (self.cost_usd or 0.0) + trial.cost_usd
        tokens = None if trial.tokens is None else trial.tokens.total
        if tokens is not None:
            self.tokens = (self.tokens or 0) + tokens

    def reading(self, arm: str, counts: Sequence[tuple[int, int]], planned: int) -> ArmReading:
        return ArmReading(
            arm=arm,
            rate=pass_rate(Counter((passed, decided) for decided, passed in counts)),
            metrics=pass_metrics(counts, sorted({1, planned})),
            cost_usd=self.cost_usd,
            costed=self.costed,
            tokens=self.tokens,
            duration_s=self.duration_s,
            timed=self.timed,
            trials=self.trials,
        )


def _decided(
    verdicts: Mapping[tuple[str, str], Counter[Verdict]], arm: str
) -> list[tuple[int, int]]:
    """Return the decided trials and the passes of each task that has any."""
    counts = (_counts(found) for (_, where), found in verdicts.items() if where == arm)
    return [(count.decided, count.passed) for count in counts if count.decided]


def _counts(found: Counter[Verdict]) -> Counts:
    return Counts(found[Verdict.PASSED], found[Verdict.FAILED], found[Verdict.UNDECIDED])


def _task(
    case: Case,
    arms: Sequence[str],
    verdicts: Mapping[tuple[str, str], Counter[Verdict]],
    validated: Mapping[str, bool | None],
) -> TaskReading:
    grade = case.metadata.get("grade")
    return TaskReading(
        name=case.id,
        validated=validated.get(case.id),
        reference=case.metadata.get("reference") is True,
        grade=None if grade is None else str(grade),
        arms={arm: _counts(verdicts.get((case.id, arm), Counter())) for arm in arms},
    )


def _trial(trial: Trial) -> TrialReading:
    output = _output(trial)
    session, trouble = output.get("session"), output.get("transcript_trouble")
    return TrialReading(
        task=trial.key.case_id,
        arm=trial.key.arm,
        trial=trial.key.trial,
        verdict=trial.verdict.value,
        cause=None if trial.cause is None else trial.cause.value,
        reason=trial.reason,
        last_words=_last_words(trial),
        session=None if session is None else str(session),
        transcript_trouble=None if trouble is None else str(trouble),
        over_limit=bool(trial.metrics.get("over_limit")),
        leaks=tuple(str(leak) for leak in output.get("leaks") or ()),
    )


def _output(trial: Trial) -> Mapping[str, Json]:
    return trial.output if isinstance(trial.output, Mapping) else {}


def _last_words(trial: Trial) -> str | None:
    for score in trial.scores:
        if isinstance(score.detail, Mapping) and score.grader == VERIFIER:
            for stream in ("stderr", "stdout"):
                lines = str(score.detail.get(stream) or "").strip().splitlines()
                if lines:
                    return lines[-1].strip()[:_WORDS]
    return None


def _notes(reading: EvalReading) -> Iterator[str]:
    tasks = reading.tasks
    n = len(tasks)
    if n < FEW_TASKS:
        some = f"{n} task{'' if n == 1 else 's'}"
        yield f"{some}: a suite of fewer than {FEW_TASKS} shows only large differences"
    drafts = [task.name for task in tasks if task.validated is False]
    if drafts:
        yield f"Not validated, so a verdict may be the verifier's fault: {_names(drafts, n)}"
    gone = [task.name for task in tasks if task.validated is None]
    if gone:
        yield f"Whether these were validated is not known any more: {_names(gone, n)}"
    without = [task.name for task in tasks if not task.reference]
    if without:
        yield f"Without a reference solution, so perhaps not solvable: {_names(without, n)}"
    for grade in sorted({task.grade for task in tasks if task.grade not in (None, EXACT)}):
        unsure = [task.name for task in tasks if task.grade == grade]
        yield f"The workspace begins {grade}, not exactly as in the session: {_names(unsure, n)}"


def _names(names: Sequence[str], of: int) -> str:
    """Return names in words: a few of them, or that it is all tasks."""
    if len(names) == of > 1:
        return f"all {of} tasks"
    shown = ", ".join(names[:10])
    return shown if len(names) <= 10 else f"{shown} and {len(names) - 10} more"
