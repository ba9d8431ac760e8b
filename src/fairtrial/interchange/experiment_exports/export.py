"""What an export is made of, and what all formats word alike."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, datetime

from fairtrial.model.case import Case, CaseKey
from fairtrial.model.experiment import ExperimentState, GraderTotals
from fairtrial.model.json import Json
from fairtrial.model.trial import Trial
from fairtrial.stats.proportion import Rate


@dataclass(frozen=True, slots=True)
class ExperimentExport:
    """One experiment, ready to be written in any format.

    Attributes:
        state: The experiment and where it stands.
        graders: Each grader's totals, in the order of the spec.
        rate: The pass rate over cases.
        trials: Yields all its trials, ordered by case, condition, arm and trial number, from the
            first on at each call.
        cases: Yields those of its cases that have the given keys.
    """

    state: ExperimentState
    graders: Sequence[GraderTotals]
    rate: Rate
    trials: Callable[[], Iterator[Trial]]
    cases: Callable[[AbstractSet[CaseKey]], Iterator[Case]]


def trial_json(trial: Trial) -> dict[str, Json]:
    """Return a trial as one JSON object; its keys are part of the documented interface."""
    key = trial.key
    return {
        "case_id": key.case_id,
        "condition": key.condition,
        "arm": key.arm,
        "trial": key.trial,
        "verdict": str(trial.verdict),
        "cause": None if trial.cause is None else str(trial.cause),
        "reason": trial.reason,
        "score": trial.score,
        "scores": [
            {
                "grader": score.grader,
                "value": score.value,
                "passed": score.passed,
                "reason": score.reason,
                "required": score.required,
                "weight": score.weight,
                "cost_usd": score.cost_usd,
                "detail": score.detail,
            }
            for score in trial.scores
        ],
        "output": trial.output,
        "started_at": timestamp(trial.started_at),
        "duration_s": trial.duration_s,
        "cost_usd": trial.cost_usd,
        "grading_cost_usd": trial.grading_cost_usd,
        "tokens": None if trial.tokens is None else dataclasses.asdict(trial.tokens),
        "reused": None if trial.reused is None else dataclasses.asdict(trial.reused),
        "replay": None if trial.replay is None else dataclasses.asdict(trial.replay),
        "metrics": dict(trial.metrics),
        "spans": [dict(span) for span in trial.spans],
        "process": None if trial.process is None else dataclasses.asdict(trial.process),
        "tries": trial.tries,
        "seed": trial.seed,
        "at_fault": trial.at_fault,
        "attempts": [
            {
                **dataclasses.asdict(attempt),
                "verdict": str(attempt.verdict),
                "cause": None if attempt.cause is None else str(attempt.cause),
            }
            for attempt in trial.attempts
        ],
        "reruns": [
            {**dataclasses.asdict(rerun), "verdict": str(rerun.verdict)} for rerun in trial.reruns
        ],
        "copied": None if trial.copied is None else dataclasses.asdict(trial.copied),
    }


def timestamp(moment: datetime) -> str:
    """Return a moment as RFC 3339 in UTC, e.g. `2026-05-01T12:00:00.250000Z`."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def headline(rate: Rate) -> str:
    """Return a rate as a title, e.g. `82.5 % passed (95 % interval 71.2 % to 90.1 %, 40 cases)`."""
    if rate.estimate is None:
        return f"no pass rate: {rate.reason}"
    interval = rate.interval
    cases = "1 case" if rate.n == 1 else f"{rate.n:,} cases"
    if interval is None:
        return f"{percent(rate.estimate)} passed ({cases}; {rate.reason})"
    return (
        f"{percent(rate.estimate)} passed ({interval.level * 100:g} % interval "
        f"{percent(interval.lower)} to {percent(interval.upper)}, {cases})"
    )


def percent(share: float) -> str:
    """Return a share in percent with one decimal; 100 % and 0 % only when they are exact."""
    shown = round(share * 100, 1)
    if shown == 100 and share < 1:
        return "> 99.9 %"
    if shown == 0 and share > 0:
        return "< 0.1 %"
    return f"{shown:.1f} %"
