"""How much graders differ with themselves: the same outputs, graded several times."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fairtrial.model.regrade import GraderNoise
from fairtrial.stats.trials import from_counts, from_scores
from fairtrial.stats.variance import variance_components


def grader_noise(
    name: str, values: Sequence[Sequence[float | None]], threshold: float
) -> GraderNoise:
    """Return one grader's noise.

    Args:
        name: The grader's name.
        values: For each output its value in every round; outputs with a missing one are left out.
        threshold: It passes at this value or above.
    """
    whole = [[v for v in rounds if v is not None] for rounds in values]
    whole = [kept for kept, rounds in zip(whole, values, strict=True) if len(kept) == len(rounds)]
    if not whole or len(whole[0]) < 2:
        return GraderNoise(name, fixed=False, outputs=len(whole), flip_rate=None, spread=None)
    within = variance_components(from_scores("values", whole)).within or 0.0
    passes = [[v >= threshold for v in rounds] for rounds in whole]
    return GraderNoise(
        name,
        fixed=False,
        outputs=len(whole),
        flip_rate=_flip_rate(passes),
        spread=math.sqrt(within),
    )


def verdict_noise(passes: Sequence[Sequence[bool | None]]) -> GraderNoise:
    """Return the noise of the verdict that all graders make; None is undecided."""
    whole = [[p for p in rounds if p is not None] for rounds in passes if None not in rounds]
    flip_rate = _flip_rate(whole) if whole and len(whole[0]) > 1 else None
    return GraderNoise(None, fixed=False, outputs=len(whole), flip_rate=flip_rate, spread=None)


def no_noise(name: str) -> GraderNoise:
    """Return the noise of a grader that is a pure function of the output."""
    return GraderNoise(name, fixed=True, outputs=0, flip_rate=0.0, spread=0.0)


def _flip_rate(passes: Sequence[Sequence[bool]]) -> float | None:
    """Return the chance that two rounds over one output disagree: twice the variance within."""
    sums = from_counts([sum(rounds) for rounds in passes], [len(rounds) for rounds in passes])
    return variance_components(sums).flip_rate
