"""What `eval run` and `eval report` say of a run of eval tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

from fairtrial.analysis.eval_reading import ArmReading, EvalReading, TaskReading, TrialReading
from fairtrial.analysis.eval_words import session_command
from fairtrial.app.reports.cost import CostEstimate
from fairtrial.app.reports.experiment import ExperimentReport
from fairtrial.app.reports.facts import rate_json
from fairtrial.app.reports.informing import Informing
from fairtrial.model.errors import ExitCode
from fairtrial.model.json import Json
from fairtrial.stats.passk import SuiteValue


@dataclass(frozen=True, slots=True)
class EvalPlanReport(Informing):
    """What a run would do, or is about to do.

    Attributes:
        suite: The suite.
        tasks: Its tasks that run, by name, each with what makes it less sure.
        arms: The agent of each arm, as JSON.
        trials: Trials a task and arm.
        n_planned: Trials in all.
        n_due: Trials that are left to run.
        cost: What those are expected to cost.
        resumes: The experiment that goes on; None for a new one.
        notes: What was left out or chosen, a line each.
        asking: The user is about to be asked.
    """

    schema: ClassVar[str] = "fairtrial.eval-plan/1"

    suite: str
    tasks: Sequence[str]
    arms: Mapping[str, Mapping[str, Json]]
    trials: int
    n_planned: int
    n_due: int
    cost: CostEstimate
    resumes: str | None = None
    notes: Sequence[str] = ()
    asking: bool = False

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "suite": self.suite,
            "tasks": list(self.tasks),
            "arms": {arm: dict(task) for arm, task in self.arms.items()},
            "trials": self.trials,
            "n_planned": self.n_planned,
            "n_due": self.n_due,
            "cost": asdict(self.cost),
            "resumes": self.resumes,
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class EvalReport:
    """A run of eval tasks.

    Attributes:
        run: Its experiment.
        reading: What its trials came to.
    """

    schema: ClassVar[str] = "fairtrial.eval/1"

    run: ExperimentReport
    reading: EvalReading

    @property
    def exit_code(self) -> ExitCode:
        """That of the experiment."""
        return self.run.exit_code

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        reading = self.reading
        return {
            "schema": self.schema,
            "suite": reading.suite,
            "arms": [_arm_json(arm) for arm in reading.arms],
            "tasks": [_task_json(task) for task in reading.tasks],
            "told": [_trial_json(trial) for trial in reading.told],
            "n_failed": len(reading.failed),
            "n_leaking": len(reading.leaking),
            "n_over_limit": len(reading.over_limit),
            "isolation": [
                {**one.isolation, "trials": one.trials, "hits": dict(one.hits)}
                for one in reading.isolation
            ],
            "notes": list(reading.notes),
            "experiment": self.run.json(),
            "exit_code": self.exit_code,
        }


def _arm_json(arm: ArmReading) -> dict[str, Json]:
    metrics = arm.metrics
    return {
        "arm": arm.arm,
        "pass_rate": rate_json(arm.rate),
        "pass_at": {str(k): _value_json(value) for k, value in metrics.at.items()},
        "pass_hat": {str(k): _value_json(value) for k, value in metrics.hat.items()},
        "n_flaky": metrics.flaky,
        "trials": arm.trials,
        "cost_usd": arm.cost_usd,
        "costed": arm.costed,
        "tokens": arm.tokens,
        "duration_s": arm.duration_s,
        "timed": arm.timed,
    }


def _value_json(value: SuiteValue) -> dict[str, Json]:
    interval = value.interval
    return {
        "estimate": value.estimate,
        "ci": None if interval is None else asdict(interval),
        "n": value.n,
        "n_total": value.n_total,
        "reason": value.reason or None,
    }


def _task_json(task: TaskReading) -> dict[str, Json]:
    return {
        "task": task.name,
        "validated": task.validated,
        "reference": task.reference,
        "grade": task.grade,
        "flaky": task.flaky,
        "arms": {arm: asdict(counts) for arm, counts in task.arms.items()},
    }


def _trial_json(trial: TrialReading) -> dict[str, Json]:
    command = None if trial.session is None else session_command(trial.session)
    return {**asdict(trial), "leaks": list(trial.leaks), "command": command}
