"""A trial: one case under one condition, run once in one arm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from fairtrial.model.attempt import Attempt, Rerun
from fairtrial.model.case import CaseKey
from fairtrial.model.json import Json
from fairtrial.model.replay import ReplayNote
from fairtrial.model.score import Score
from fairtrial.model.task import ProcessUsage, Reused, Tokens
from fairtrial.model.verdict import Cause, Verdict

MAIN_ARM = "main"
"""The arm of an experiment that has only one."""


class TrialKey(NamedTuple):
    """What names a trial within an experiment; the store holds each key once."""

    case_id: str
    condition: str
    arm: str
    trial: int

    @property
    def case_key(self) -> CaseKey:
        """The row this trial belongs to."""
        return CaseKey(self.case_id, self.condition)


@dataclass(frozen=True, slots=True)
class Copied:
    """Where a trial was copied from instead of being run.

    Attributes:
        experiment: The id of the experiment that ran it.
        arm: Its arm there.
        cost_usd: What it cost there, all in all; None is unknown.
    """

    experiment: str
    arm: str
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class Trial:
    """The whole record of one trial.

    Attributes:
        key: Case, condition, arm and trial number (from 1).
        verdict: Passed, failed or undecided.
        cause: What made the verdict, when no grader did.
        reason: One line about a trial that did not pass.
        score: The main score: the weighted mean of the graders' values.
        scores: One a grader, in the order of the spec.
        output: What the task gave, any JSON value.
        started_at: When the first try began (UTC).
        duration_s: Seconds of the last try's task call; grading not included. None is unknown, not
            zero: another program that ran it did not say.
        tries: 1, plus one for each retry after an infrastructure problem.
        seed: The seed the task was given.
        cost_usd: None is unknown, not zero.
        tokens: Model tokens, if reported.
        metrics: Named numbers, if reported.
        spans: Steps, if reported.
        process: What the task's program used, if it ran one.
        at_fault: Who left it without a verdict: `platform` (fairtrial, a sandbox, infrastructure;
            a gate does not count it against the arm) or `task`. None when it has a verdict.
        grading_cost_usd: What judges cost, apart from `cost_usd`; None is unknown or no judge.
        reused: Model answers that were served again instead of asked for.
        replay: What came of serving recorded calls, in a run that replays.
        attempts: Every attempt, in a run with sequential attempts; what else stands here is the
            first one's.
        reruns: How often a failure was run again to make sure, and what came of it.
        copied: Set when it was not run: the trial of an earlier experiment stands for it. It cost
            nothing here; how long it took, its tokens and its measurements are those of the other.
    """

    key: TrialKey
    verdict: Verdict
    cause: Cause | None
    reason: str | None
    score: float | None
    scores: tuple[Score, ...]
    output: Json
    started_at: datetime
    duration_s: float | None
    tries: int
    seed: int
    cost_usd: float | None = None
    tokens: Tokens | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    spans: tuple[Mapping[str, Json], ...] = ()
    process: ProcessUsage | None = None
    at_fault: str | None = None
    grading_cost_usd: float | None = None
    reused: Reused | None = None
    replay: ReplayNote | None = None
    attempts: tuple[Attempt, ...] = ()
    reruns: tuple[Rerun, ...] = ()
    copied: Copied | None = None
