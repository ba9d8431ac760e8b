"""What `exp status` says."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from fairtrial.analysis.progress import eta_s
from fairtrial.app.reports.facts import state_json
from fairtrial.app.reports.informing import Informing
from fairtrial.model.experiment import Experiment, ExperimentState, Status
from fairtrial.model.json import Json
from fairtrial.model.sweep import Sweep


@dataclass(frozen=True, slots=True)
class SweepStatus:
    """Where a sweep stands that is not over.

    Attributes:
        sweep: The sweep.
        phase: The phase that is next or at work: `race`, `held-out` or `guard`.
        number: Its number, from 1.
        phases: How many there are, at most.
        state: Its experiment; None before it is opened.
    """

    sweep: Sweep
    phase: str
    number: int
    phases: int
    state: ExperimentState | None

    @property
    def at_work(self) -> bool:
        """Whether a process is at it."""
        state = self.state
        return state is not None and state.status is Status.RUNNING and state.alive is not False

    @property
    def resume(self) -> str | None:
        """The command that goes on with it; None while a process is at it."""
        return None if self.at_work else f"fairtrial exp sweep --resume {self.sweep.id}"

    def json(self) -> dict[str, Json]:
        """Return it as one JSON object."""
        return {
            "id": self.sweep.id,
            "dataset": self.sweep.plan["phases"][0]["dataset"],
            "phase": self.phase,
            "phase_number": self.number,
            "phases": self.phases,
            "experiment": None if self.state is None else self.state.experiment.id,
            "at_work": self.at_work,
            "resume": self.resume,
        }


@dataclass(frozen=True, slots=True)
class StatusReport(Informing):
    """How runs stand.

    Attributes:
        states: The runs, newest first.
        sweeps: The sweeps that are not over, newest first.
    """

    schema: ClassVar[str] = "fairtrial.status/1"

    states: Sequence[ExperimentState]
    sweeps: Sequence[SweepStatus] = ()

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "runs": [
                {
                    **state_json(state),
                    "alive": state.alive,
                    "eta_s": seconds_left(state),
                    "expected_cost_usd": expected_cost(state),
                    "resume": resume_command(state),
                }
                for state in self.states
            ],
            "sweeps": [sweep.json() for sweep in self.sweeps],
        }


def seconds_left(state: ExperimentState) -> float | None:
    """Return the seconds until a run is done, from the mean duration of its trials.

    None when nothing runs, or no trial is on record yet.
    """
    if state.status is not Status.RUNNING or state.alive is False:
        return None
    left = state.experiment.n_planned - state.totals.recorded
    concurrency = state.experiment.policy["concurrency"]
    return eta_s(state.totals.recorded, left, state.totals.duration_s / concurrency)


def expected_cost(state: ExperimentState) -> float | None:
    """Return what the whole run will cost, from the trials whose cost is known; else None."""
    totals = state.totals
    if totals.cost_usd is None or not totals.costed:
        return None
    grading = totals.grading_cost_usd or 0.0
    each = totals.cost_usd / totals.costed + grading / (totals.grading_costed or 1)
    return each * state.experiment.n_planned


def resume_command(state: ExperimentState) -> str | None:
    """Return the command that runs what is left.

    None while it runs, when nothing is left, and for pairs of measurements: those of another day
    are others.
    """
    at_work = state.status is Status.RUNNING and state.alive is not False
    if at_work or state.status is Status.FINISHED or state.experiment.measured:
        return None
    if state.experiment.regrade_of is not None:
        return regrade_command(state.experiment)
    sweep = state.experiment.spec.get("sweep")
    if sweep is not None:
        return f"fairtrial exp sweep --resume {sweep['race']}"
    return f"fairtrial exp run --resume {state.experiment.id}"


def regrade_command(experiment: Experiment) -> str:
    """Return the command that grades the same outputs with the same graders from the start."""
    graders = [
        f"-g {shlex.quote(json.dumps(grader, ensure_ascii=False, separators=(',', ':')))}"
        for grader in experiment.spec["graders"]
    ]
    words = [f"fairtrial exp regrade {experiment.regrade_of} --replace-graders", *graders]
    return " ".join(words)
