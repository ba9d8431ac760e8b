"""Two arms, looked at several times: the run stops once the evidence suffices."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from fairtrial.engine.designs.tallies import passed_and_decided, verdicts
from fairtrial.engine.plan import Plan
from fairtrial.engine.stages import Outcomes, Stages
from fairtrial.ports import CaseOutline

if TYPE_CHECKING:
    from fairtrial.analysis.cases import PairedCases
    from fairtrial.analysis.stopping.looks import Look


@dataclass(slots=True)
class EarlyStopping:
    """Runs the cases in as many parts as there are looks, in a seeded order.

    The cases of a look are chosen before anything ran, so what is seen at it does not depend on
    which trials happened to end first.

    Attributes:
        plan: What is run: two arms, the baseline first.
        looks: Planned looks.
        alpha: Two-sided error over all of them.
        taken: The looks there were, filled in as they are taken.
        cases: What the last look saw.
    """

    plan: Plan
    looks: int = 4
    alpha: float = 0.05
    taken: list[Look] = field(default_factory=list)
    cases: PairedCases | None = None

    def __call__(self, outcomes: Outcomes) -> Stages:
        """See `fairtrial.engine.stages`."""
        self.taken.clear()
        parts = self.parts()
        for number, part in enumerate(parts, start=1):
            yield replace(self.plan, cases=part).slots()
            seen = [case for earlier in parts[:number] for case in earlier]
            self._look(outcomes, seen, final=number == len(parts))
            if self.taken[-1].stops and number < len(parts):
                return f"stopped at look {number} of {len(parts)}: {self._reason()}"
        return None

    @property
    def may_stop(self) -> bool:
        """Whether a look before the last one can see enough cases to end the run."""
        from fairtrial.analysis.stopping.early import FEWEST_CASES  # noqa: PLC0415  # numpy

        return sum(map(len, self.parts()[:-1])) >= FEWEST_CASES

    def parts(self) -> list[Sequence[CaseOutline]]:
        """Return the cases that each look adds."""
        order = list(self.plan.cases)
        random.Random(f"looks {self.plan.seed}").shuffle(order)  # noqa: S311  # an order
        ends = [-(-len(order) * k // self.looks) for k in range(self.looks + 1)]
        parts = [order[a:b] for a, b in pairwise(ends)]
        return [part for part in parts if part]

    def _look(self, outcomes: Outcomes, seen: Sequence[CaseOutline], *, final: bool) -> None:
        from fairtrial.analysis.stopping.looks import look  # noqa: PLC0415  # numpy

        self.cases = self._pairs(outcomes, seen)
        planned = len(self.plan.cases)
        self.taken.append(look(self.cases, self.taken, planned, alpha=self.alpha, final=final))

    def _pairs(self, outcomes: Outcomes, seen: Sequence[CaseOutline]) -> PairedCases:
        from fairtrial.analysis.cases import paired_trials  # noqa: PLC0415  # numpy
        from fairtrial.stats.trials import from_counts  # noqa: PLC0415  # numpy

        trials = range(1, self.plan.trials + 1)
        counts = [
            [
                passed_and_decided(verdicts(outcomes, case, arm.name, trials))
                for arm in self.plan.arms
            ]
            for case in seen
        ]
        both = [pair for pair in counts if all(decided for _, decided in pair)]
        a, b = (
            from_counts([pair[k][0] for pair in both], [pair[k][1] for pair in both])
            for k in (0, 1)
        )
        return paired_trials(a, b)

    def _reason(self) -> str:
        return self.taken[-1].decision.reasons[0]
