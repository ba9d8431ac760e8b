"""Adaptive samples: two trials of every case, and a third where the two disagree."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fairtrial.engine.designs.tallies import verdicts
from fairtrial.engine.plan import Plan, Slot
from fairtrial.engine.stages import Outcomes, Stages
from fairtrial.model.verdict import Verdict

MOST_TRIALS = 3


@dataclass(frozen=True, slots=True)
class Adaptive:
    """Spends the third trial where it can change the verdict of a case.

    Attributes:
        plan: What is run; its `trials` are `MOST_TRIALS`, the most that a case can get.
    """

    plan: Plan

    def __call__(self, outcomes: Outcomes) -> Stages:
        """See `fairtrial.engine.stages`."""
        yield replace(self.plan, trials=2).slots()
        yield [slot for slot in self._third() if self._disagree(outcomes, slot)]
        return None

    def _third(self) -> list[Slot]:
        return [slot for slot in self.plan.slots() if slot.trial == MOST_TRIALS]

    @staticmethod
    def _disagree(outcomes: Outcomes, slot: Slot) -> bool:
        found = verdicts(outcomes, slot.case, slot.arm, (1, 2))
        return set(found) == {Verdict.PASSED, Verdict.FAILED}
