"""Runs a design without an engine: every trial it asks for gets a verdict at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from fairtrial.engine.plan import Arm, Plan, Policy, Slot
from fairtrial.engine.stages import Design, TrialOutcome, slot_key
from fairtrial.model.dataset import DatasetVersion
from fairtrial.model.task import TaskSpec
from fairtrial.model.trial import TrialKey
from fairtrial.model.verdict import Verdict
from fairtrial.ports import CaseOutline

VerdictOf = Callable[[Slot], Verdict | TrialOutcome]


@dataclass
class Played:
    """What a design did.

    Attributes:
        stages: The trials of each stage.
        outcomes: Every outcome.
        reason: Why it ended early.
    """

    stages: list[list[Slot]] = field(default_factory=list)
    outcomes: dict[TrialKey, TrialOutcome] = field(default_factory=dict)
    reason: str | None = None

    @property
    def slots(self) -> list[Slot]:
        return [slot for stage in self.stages for slot in stage]


def play(design: Design, verdict_of: VerdictOf) -> Played:
    """Run a design to its end; a trial is never asked for twice."""
    played = Played()
    stages = design(played.outcomes)
    while True:
        try:
            stage = list(next(stages))
        except StopIteration as end:
            played.reason = end.value
            return played
        played.stages.append(stage)
        for slot in stage:
            assert slot_key(slot) not in played.outcomes
            found = verdict_of(slot)
            outcome = found if isinstance(found, TrialOutcome) else TrialOutcome(found, None)
            played.outcomes[slot_key(slot)] = outcome


def plan_of(n: int, arms: tuple[str, ...] = ("a", "b"), trials: int = 1, seed: int = 7) -> Plan:
    """Return a plan over `n` cases: c000, c001 and so on."""
    cases = tuple(CaseOutline(k, f"c{k:03}", "clean", None, f"{k:064x}") for k in range(n))
    return Plan(
        dataset=DatasetVersion("d", 1, "0" * 64, datetime(2026, 1, 1, tzinfo=UTC), n, {"": n}),
        cases=cases,
        arms=tuple(Arm(name, TaskSpec("scripted")) for name in arms),
        graders=(),
        trials=trials,
        seed=seed,
        policy=Policy(),
    )


def passed(condition: bool) -> Verdict:  # noqa: FBT001  # it is the verdict
    """Return the verdict that a boolean stands for."""
    return Verdict.PASSED if condition else Verdict.FAILED
