"""Sequential halving: many configurations, few cases, one survivor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fairtrial.stats.checks import check_count
from fairtrial.stats.errors import ArgumentError


@dataclass(frozen=True, slots=True)
class Round:
    """One round of a race.

    Attributes:
        configs: Configurations that run.
        per_config: Fresh cases for each, the same for all.
        used: Trials of the round.
    """

    configs: int
    per_config: int
    used: int


@dataclass(frozen=True, slots=True)
class HalvingPlan:
    """A race that halves its field each round.

    Attributes:
        rounds: In order.
        budget: Trials allowed.
        used: Trials planned; rounding leaves some.
        n: Configurations at the start.
        method: `sequential halving`.
    """

    rounds: tuple[Round, ...]
    budget: int
    used: int
    n: int
    method: str = "sequential halving"

    @property
    def cases(self) -> int:
        """Race cases needed: a finalist sees each once."""
        return sum(r.per_config for r in self.rounds)

    def describe(self) -> str:
        """Return the plan in words."""
        steps = ", then ".join(f"{r.configs} on {r.per_config} cases" for r in self.rounds)
        return (
            f"{steps}; {self.used} trials in all. The winner's score in the race is flattered by "
            "the choice: compare it with the start on held-out cases."
        )


def halving_plan(configs: int, budget: int) -> HalvingPlan:
    """Return how many fresh cases each round gives each surviving configuration.

    Formula: R = ceil(log2 n) rounds; round r runs floor(B/(|S_r| R)) cases for each of |S_r| and
    keeps ceil(|S_r|/2). Source: Karnin, Koren & Somekh 2013, ICML 28:1238.

    Use it to race prompts or harnesses. It lies if the winner's race score is reported as its
    effect.

    Raises:
        ArgumentError: fewer than two configurations, or too small a budget for one case each.
    """
    n = check_count("configs", configs, 2)
    total = check_count("budget", budget, 1)
    rounds = math.ceil(math.log2(n))
    plan: list[Round] = []
    alive = n
    for _ in range(rounds):
        per_config = total // (alive * rounds)
        if per_config < 1:
            need = n * rounds
            raise ArgumentError("budget", f"must be at least {need} for {n} configurations")
        plan.append(Round(alive, per_config, alive * per_config))
        alive = (alive + 1) // 2
    return HalvingPlan(tuple(plan), total, sum(r.used for r in plan), n)


def default_budget(configs: int, cases: int) -> int:
    """Return the budget with which finalists see each of the race cases once.

    Formula: N R / sum over rounds of 1/|S_r|; 3.4 N for 8 configurations.

    Raises:
        ArgumentError: fewer than two configurations, or no case.
    """
    n = check_count("configs", configs, 2)
    many = check_count("cases", cases, 1)
    rounds = math.ceil(math.log2(n))
    alive, shares = n, 0.0
    for _ in range(rounds):
        shares += 1.0 / alive
        alive = (alive + 1) // 2
    return math.floor(many * rounds / shares + 1e-9)


def survivors(means: Sequence[float]) -> tuple[int, ...]:
    """Return the positions that stay in the race: the better half by cumulative mean.

    Ties go to the earlier configuration, so list the start first.

    Raises:
        ArgumentError: there are fewer than two, or a mean is not finite.
    """
    if len(means) < 2:
        raise ArgumentError("means", "needs at least two configurations")
    if not all(math.isfinite(mean) for mean in means):
        raise ArgumentError("means", "must be finite")
    order = sorted(range(len(means)), key=lambda k: (-means[k], k))
    return tuple(sorted(order[: (len(means) + 1) // 2]))
