"""How often the ship gate ships: with no change at all, with a gain, and with a gain that breaks.

`python -m bench.gate_under_aa [--runs N]` prints the table of docs/reference/gate.md. Cases pass
with chances drawn from a Beta distribution; a fixed seed makes the table the same in every run.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fairtrial.analysis.gate.ship import ship_gate
from fairtrial.model.decision import Outcome
from fairtrial.stats.trials import from_counts

Chances = np.ndarray
SUITES = {"crisp": 0.1, "medium": 0.5, "noisy": 2.0}
"""Both shapes of the Beta distribution that a suite's pass chances come from."""
CASES = (20, 50, 100, 300)
TRIALS = (1, 3, 5)


@dataclass(frozen=True)
class Scenario:
    """What the candidate does with a case's chance."""

    name: str
    changed: Callable[[Chances, np.random.Generator], Chances]


def unchanged(chances: Chances, _: np.random.Generator) -> Chances:
    return chances


def fixes_half(chances: Chances, rng: np.random.Generator) -> Chances:
    """Half of what mostly failed mostly passes now."""
    return np.where((chances < 0.5) & (rng.random(chances.shape) < 0.5), 0.95, chances)


def fixes_and_breaks(chances: Chances, rng: np.random.Generator) -> Chances:
    """Nine in ten of what mostly failed pass now; one in five of the rest fails now."""
    luck = rng.random(chances.shape)
    fixed = (chances < 0.5) & (luck < 0.9)
    broken = (chances >= 0.5) & (luck < 0.2)
    return np.where(fixed, 0.95, np.where(broken, 0.05, chances))


SCENARIOS = (
    Scenario("no change", unchanged),
    Scenario("fixes half", fixes_half),
    Scenario("fixes 90 %, breaks 20 %", fixes_and_breaks),
)


def ship_rate(suite: str, cases: int, trials: int, scenario: Scenario, runs: int) -> float:
    """Return the share of simulated comparisons that ship."""
    seed = [list(SUITES).index(suite), cases, trials, SCENARIOS.index(scenario)]
    rng = np.random.default_rng(seed)
    chances = rng.beta(SUITES[suite], SUITES[suite], (runs, cases))
    baseline = rng.binomial(trials, chances)
    candidate = rng.binomial(trials, scenario.changed(chances, rng))
    many = np.full(cases, trials)
    ships = 0
    for a, b in zip(baseline, candidate, strict=True):
        decision = ship_gate(from_counts(a, many), from_counts(b, many))
        ships += decision.outcome is Outcome.SHIP
    return ships / runs


def table(runs: int) -> str:
    """Return the table in Markdown."""
    heads = [f"{cases} cases" for cases in CASES]
    lines = ["| change | suite | trials | " + " | ".join(heads) + " |", "|---" * 7 + "|"]
    for scenario, suite, trials in itertools.product(SCENARIOS, SUITES, TRIALS):
        rates = [ship_rate(suite, cases, trials, scenario, runs) for cases in CASES]
        cells = " | ".join(f"{100 * rate:.1f} %" for rate in rates)
        lines.append(f"| {scenario.name} | {suite} | {trials} | {cells} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.gate_under_aa", description=__doc__)
    parser.add_argument("--runs", type=int, default=2_000, help="simulated comparisons a cell")
    print(table(parser.parse_args().runs))


if __name__ == "__main__":
    main()
