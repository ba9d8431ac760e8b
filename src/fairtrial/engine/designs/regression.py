"""A candidate held to a baseline while it runs: a confirmed regression ends the run."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from fairtrial.analysis.stopping.regression import confirmed_regression
from fairtrial.engine.plan import Plan
from fairtrial.engine.stages import Outcomes, Stages, slot_key
from fairtrial.model.case import CaseKey
from fairtrial.model.decision import Decision, Outcome
from fairtrial.model.verdict import Verdict
from fairtrial.ports import CaseOutline

CASES_A_STAGE: Final = 16
"""How many cases run between two looks for regressions; enough to keep the slots busy."""


@dataclass(slots=True)
class StopOnRegression:
    """Runs the cases in small parts, and stops after one with a confirmed regression.

    Attributes:
        plan: What is run, in one arm.
        solved: The cases that passed in every trial of the baseline.
        regressed: The cases that failed, and failed again whenever rerun; filled in as they come.
    """

    plan: Plan
    solved: Collection[CaseKey]
    regressed: dict[CaseKey, Decision] = field(default_factory=dict)

    def __call__(self, outcomes: Outcomes) -> Stages:
        """See `fairtrial.engine.stages`."""
        self.regressed.clear()
        parts = self._parts()
        for number, part in enumerate(parts, start=1):
            slots = list(replace(self.plan, cases=part).slots())
            yield slots
            for slot in slots:
                found = outcomes[slot_key(slot)]
                key = CaseKey(slot.case.id, slot.case.condition)
                if found.verdict is Verdict.FAILED and key in self.solved:
                    self._judge(key, (found.verdict, *found.reruns))
            if self.regressed and number < len(parts):
                return self._reason()
        return None

    def _judge(self, key: CaseKey, verdicts: Sequence[Verdict]) -> None:
        if Verdict.UNDECIDED in verdicts:
            return
        trials = [verdict is Verdict.PASSED for verdict in verdicts]
        decision = confirmed_regression(trials, baseline_solved=True)
        if decision.outcome is Outcome.STOP:
            self.regressed[key] = decision

    def _parts(self) -> list[Sequence[CaseOutline]]:
        order = list(self.plan.cases)
        random.Random(f"parts {self.plan.seed}").shuffle(order)  # noqa: S311  # an order
        return [order[at : at + CASES_A_STAGE] for at in range(0, len(order), CASES_A_STAGE)]

    def _reason(self) -> str:
        first, *others = self.regressed
        more = f" and {len(others):,} more" if others else ""
        return f"regression: {first}{more} passed in every trial of the baseline and failed here"
