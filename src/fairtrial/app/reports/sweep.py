"""What `exp sweep` says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from fairtrial.analysis.tried import Tried
from fairtrial.app.race_reading import FLATTERED
from fairtrial.app.reports.comparison import ComparisonReport, decision_json, delta_json
from fairtrial.app.reports.experiment import exit_code
from fairtrial.app.sweep_plan import SweepPlan
from fairtrial.model.decision import Decision, Outcome
from fairtrial.model.design import DesignReading
from fairtrial.model.errors import ExitCode
from fairtrial.model.experiment import ExperimentState
from fairtrial.model.json import Json
from fairtrial.model.sweep import Sweep


@dataclass(frozen=True, slots=True)
class Guarded:
    """What a guard found.

    Attributes:
        dataset: Its dataset version.
        experiment: The id of its experiment.
        comparison: Start and winner on it.
        decision: Ship when what was solved is kept, else hold; or no verdict.
    """

    dataset: str
    experiment: str
    comparison: ComparisonReport
    decision: Decision


@dataclass(frozen=True, slots=True)
class SweepReport:
    """A sweep, as far as it came.

    Attributes:
        sweep: What is kept of it.
        plan: Its plan.
        states: The experiments that ran, in the order of their phases.
        race: What the race came to; None before it ended.
        held_out: Start and winner on the held-out cases; None before they ran, and when the start
            won.
        guards: What the guards found, as far as they ran.
        decision: What became of it; None while it is not over.
        tried: How many configurations were tried on the dataset; None while it is not over.
    """

    schema: ClassVar[str] = "fairtrial.sweep/1"

    sweep: Sweep
    plan: SweepPlan
    states: Sequence[ExperimentState]
    race: DesignReading | None = None
    held_out: ComparisonReport | None = None
    guards: tuple[Guarded, ...] = ()
    decision: Decision | None = None
    tried: Tried | None = None

    @property
    def start(self) -> str:
        """The name of the start."""
        return self.plan.arms[0].name

    @property
    def winner(self) -> str | None:
        """The name of the race's winner; None before the race ended."""
        return None if self.race is None else str(self.race.facts["winner"])

    @property
    def adopted(self) -> str | None:
        """The configuration that is adopted; None when none is."""
        ships = self.decision is not None and self.decision.outcome is Outcome.SHIP
        return self.winner if ships else None

    @property
    def phase(self) -> str:
        """The phase it is in: `race`, `held-out`, `guard`, or `over`."""
        if self.decision is not None:
            return "over"
        return self.plan.phases[len(self.states) - 1].role

    @property
    def resume(self) -> str | None:
        """The command that goes on with it; None when it is over."""
        over = self.decision is not None
        return None if over else f"fairtrial exp sweep --resume {self.sweep.id}"

    @property
    def exit_code(self) -> ExitCode:
        """That of the decision; of the experiment that did not end, before there is one."""
        if self.decision is not None:
            return self.decision.exit_code
        return exit_code(self.states[-1]) or ExitCode.NO_VERDICT

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        race = self.race
        return {
            "schema": self.schema,
            "id": self.sweep.id,
            "dataset": self.plan.race.dataset,
            "phase": self.phase,
            "seed": self.plan.seed,
            "trials": self.plan.trials,
            "budget": self.plan.budget,
            "splits": {"race": self.plan.splits[0], "held_out": self.plan.splits[1]},
            "configurations": [
                {"name": arm.name, "task": arm.task.content()} for arm in self.plan.arms
            ],
            "start": self.start,
            "winner": self.winner,
            "adopted": self.adopted,
            "race": None
            if race is None
            else {
                "experiment": self.plan.race.id,
                "rounds": race.facts["rounds"],
                "winner_rate": race.facts["winner_rate"],
                "winner_rate_is": FLATTERED,
            },
            "effect": None if self.held_out is None else delta_json(self.held_out.comparison.delta),
            "held_out": None if self.held_out is None else self.held_out.json(),
            "guards": [
                {
                    "dataset": one.dataset,
                    "experiment": one.experiment,
                    "delta": delta_json(one.comparison.comparison.delta),
                    "decision": decision_json(one.decision),
                }
                for one in self.guards
            ],
            "guards_planned": [phase.dataset for phase in self.plan.guards],
            "experiments": [
                {
                    "id": state.experiment.id,
                    "name": state.experiment.name,
                    "phase": phase.role,
                    "status": state.status.value,
                }
                for state, phase in zip(self.states, self.plan.phases, strict=False)
            ],
            "tried": None if self.tried is None else self.tried.content(),
            "decision": None if self.decision is None else decision_json(self.decision),
            "resume": self.resume,
            "exit_code": self.exit_code,
        }
