"""A race of configurations: each round runs fresh cases and keeps the better half."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from fairtrial.engine.designs.tallies import passed_and_decided, verdicts
from fairtrial.engine.plan import Arm, Plan
from fairtrial.engine.stages import Outcomes, Stages
from fairtrial.ports import CaseOutline
from fairtrial.stats.halving import HalvingPlan, survivors


@dataclass(frozen=True, slots=True)
class Standing:
    """Where the arms stood after a round.

    Attributes:
        cases: Race cases that each arm of the round has run so far.
        rates: Pass rate over them of each arm that was in the round; None without a verdict.
        decided: How many of the cases have a verdict, of each of these arms.
        kept: The arms that stay.
    """

    cases: int
    rates: dict[str, float | None]
    decided: dict[str, int]
    kept: tuple[str, ...]


@dataclass(slots=True)
class Halving:
    """Sequential halving over the arms of a plan, the start first.

    Attributes:
        plan: Every arm, and the cases that the race may use.
        race: How many fresh cases each round gives each arm.
        standings: Filled in as rounds end; the last one keeps the winner.
    """

    plan: Plan
    race: HalvingPlan
    standings: list[Standing] = field(default_factory=list)

    @property
    def winner(self) -> str | None:
        """The arm that is left; None before the last round ended."""
        done = len(self.standings) == len(self.race.rounds)
        return self.standings[-1].kept[0] if done else None

    def __call__(self, outcomes: Outcomes) -> Stages:
        """See `fairtrial.engine.stages`."""
        self.standings.clear()
        order = list(self.plan.cases)
        random.Random(f"race {self.plan.seed}").shuffle(order)  # noqa: S311  # an order
        arms, used = self.plan.arms, 0
        for entry in self.race.rounds:
            fresh = order[used : used + entry.per_config]
            used += entry.per_config
            yield replace(self.plan, arms=arms, cases=fresh).slots()
            arms = self._round(outcomes, arms, order[:used])
        return None

    def _round(
        self, outcomes: Outcomes, arms: tuple[Arm, ...], seen: Sequence[CaseOutline]
    ) -> tuple[Arm, ...]:
        shares = {arm.name: self._shares(outcomes, arm.name, seen) for arm in arms}
        rates = {
            name: math.fsum(each) / len(each) if each else None for name, each in shares.items()
        }
        decided = {name: len(each) for name, each in shares.items()}
        # -1 is below every rate: an arm without any verdict comes last.
        places = survivors([-1.0 if rate is None else rate for rate in rates.values()])
        kept = tuple(arms[place] for place in places)
        self.standings.append(Standing(len(seen), rates, decided, tuple(arm.name for arm in kept)))
        return kept

    def _shares(self, outcomes: Outcomes, arm: str, seen: Sequence[CaseOutline]) -> list[float]:
        """Return the share of trials that passed, of each case with a verdict."""
        trials = range(1, self.plan.trials + 1)
        counts = [passed_and_decided(verdicts(outcomes, case, arm, trials)) for case in seen]
        return [passed / decided for passed, decided in counts if decided]
