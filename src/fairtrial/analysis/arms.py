"""Several arms against one baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fairtrial.analysis.cases import PairedCases
from fairtrial.analysis.paired import PairedComparison, paired
from fairtrial.model.delta import Direction
from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.multiplicity import bonferroni_level, holm


@dataclass(frozen=True, slots=True)
class ArmComparison:
    """One arm against the baseline, among others.

    Attributes:
        comparison: With an interval that holds together with the others' (Bonferroni).
        p_adjusted: Holm's p over all arms; None without shared cases.
        verdict: Better or worse needs that interval without 0 and p_adjusted <= 1 - level.
        level: The level that holds for all arms together.
    """

    comparison: PairedComparison
    p_adjusted: float | None
    verdict: Direction
    level: float

    def describe(self) -> str:
        """Return the comparison in words."""
        if self.p_adjusted is None:
            return self.comparison.difference.describe()
        return (
            f"{self.verdict.value.capitalize()} (p = {self.p_adjusted:.2g}, adjusted for all "
            f"arms). {self.comparison.difference.describe()}"
        )


def compare_arms(
    arms: Mapping[str, PairedCases], *, level: float = 0.95, seed: int = 0
) -> dict[str, ArmComparison]:
    """Compare several arms with one baseline, allowing for their number.

    Paired tests with Holm, intervals with Bonferroni: Dunnett's test would assume independent
    groups, and arms share their cases.

    Args:
        arms: Name -> the cases it shares with the baseline.
        level: The level that holds for all arms together.
        seed: Seed of draws, where something has to be drawn.
    """
    if not arms:
        return {}
    each = bonferroni_level(level, len(arms))
    found = {name: paired(cases, level=each, seed=seed) for name, cases in arms.items()}
    tested = [name for name, comparison in found.items() if comparison.p is not None]
    adjusted = dict(
        zip(tested, holm([c.p.value for c in found.values() if c.p is not None]), strict=True)
    )
    result = {}
    for name, comparison in found.items():
        p = float(adjusted[name]) if name in adjusted else None
        result[name] = ArmComparison(comparison, p, _verdict(comparison, p, level), level)
    return result


def compare_graders(
    graders: Mapping[str, PairedCases], primary: str, *, level: float = 0.95, seed: int = 0
) -> dict[str, ArmComparison]:
    """Compare two arms by several graders, one of which was declared primary before the run.

    The primary grader is judged alone; the others are adjusted for their number, since any of
    several may look good by luck.

    Args:
        graders: Name -> the shared cases as that grader scored them.
        primary: The declared one.
        level: Confidence level.
        seed: Seed of draws, where something has to be drawn.

    Raises:
        ArgumentError: primary is none of the graders.
    """
    if primary not in graders:
        raise ArgumentError("primary", f"{primary!r} is none of {sorted(graders)}")
    first = compare_arms({primary: graders[primary]}, level=level, seed=seed)
    rest = {name: cases for name, cases in graders.items() if name != primary}
    return first | compare_arms(rest, level=level, seed=seed)


def _verdict(comparison: PairedComparison, p: float | None, level: float) -> Direction:
    found = comparison.difference
    if p is None or found.estimate is None or found.interval is None or found.n < 2:
        return Direction.INCONCLUSIVE
    if p > 1.0 - level + 1e-12 or not found.interval.excludes(0.0):
        return Direction.INCONCLUSIVE
    return Direction.BETTER if found.estimate > 0.0 else Direction.WORSE
