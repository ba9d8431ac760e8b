"""What `exp status` says."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import ClassVar

from fairtrial.analysis.progress import eta_s
from fairtrial.app.further_tries import FurtherTries
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
        further: By the id of a run whose design tries again what fails: what that took.
    """

    schema: ClassVar[str] = "fairtrial.status/1"

    states: Sequence[ExperimentState]
    sweeps: Sequence[SweepStatus] = ()
    further: Mapping[str, FurtherTries] = field(default_factory=dict)

    def further_of(self, state: ExperimentState) -> FurtherTries | None:
        """Return what a run took beside first attempts; None where there can be no others."""
        return self.further.get(state.experiment.id)

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "runs": [
                {
                    **state_json(state),
                    "alive": state.alive,
                    "n_expected": expected_trials(state),
                    "further_tries": None if further is None else asdict(further),
                    "eta_s": seconds_left(state, further),
                    "expected_cost_usd": expected_cost(state, further),
                    "resume": resume_command(state),
                }
                for state in self.states
                for further in [self.further_of(state)]
            ],
            "sweeps": [sweep.json() for sweep in self.sweeps],
        }


def expected_trials(state: ExperimentState) -> int:
    """Return how many trials a run will have, as far as that can be told.

    Adaptive samples have a third trial only where two disagree: those that did so far stand for
    the others. Of other designs it is the most that there can be, as they may end at any time.
    """
    experiment, totals = state.experiment, state.totals
    if state.status is Status.FINISHED:
        return totals.recorded
    if experiment.spec.get("design", {}).get("kind") != "adaptive":
        return experiment.n_planned
    rows = experiment.n_cases * len(experiment.arms)
    # Trial 1 of all comes before trial 2 of any, and trial 2 before trial 3.
    twice = min(totals.recorded - rows, rows)
    if twice <= 0:
        return experiment.n_planned
    return 2 * rows + round(rows * totals.flaky_rows / twice)


def seconds_left(state: ExperimentState, further: FurtherTries | None = None) -> float | None:
    """Return the seconds until a run is done, from the mean duration of its trials.

    None when nothing runs, or no trial is on record yet.

    Args:
        state: The run.
        further: What it took beside first attempts.
    """
    if state.status is not Status.RUNNING or state.alive is False:
        return None
    left = expected_trials(state) - state.totals.recorded
    took = (state.totals.duration_s or 0.0) + (0.0 if further is None else further.duration_s)
    return eta_s(state.totals.timed, left, took / state.experiment.policy["concurrency"])


def expected_cost(state: ExperimentState, further: FurtherTries | None = None) -> float | None:
    """Return what the whole run will cost, from the trials whose cost is known; else None.

    Args:
        state: The run.
        further: What it took beside first attempts.
    """
    totals = state.totals
    if totals.cost_usd is None or not totals.costed:
        return None
    grading = totals.grading_cost_usd or 0.0
    each = totals.cost_usd / totals.costed + grading / (totals.grading_costed or 1)
    if further is not None:
        each += (further.cost_usd or 0.0) / totals.recorded
    return each * expected_trials(state)


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
    return f"fairtrial {verb_of(state.experiment)} --resume {state.experiment.id}"


def verb_of(experiment: Experiment) -> str:
    """Return the verb that goes on with a run, and then tells what is its own to tell."""
    if experiment.is_aa:
        return "exp aa"
    if experiment.is_eval:
        return "eval run"
    if experiment.is_ab:
        return "exp ab"
    return "exp replay" if experiment.is_replay else "exp run"


def regrade_command(experiment: Experiment) -> str:
    """Return the command that grades the same outputs with the same graders from the start."""
    graders = [
        f"-g {shlex.quote(json.dumps(grader, ensure_ascii=False, separators=(',', ':')))}"
        for grader in experiment.spec["graders"]
    ]
    words = [f"fairtrial exp regrade {experiment.regrade_of} --replace-graders", *graders]
    return " ".join(words)
