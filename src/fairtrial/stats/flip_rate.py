"""How often verdicts may flip although no flip was seen."""

from __future__ import annotations

import math

from fairtrial.stats.checks import check_count, check_level
from fairtrial.stats.roots import find_root


def flip_rate_at_most(cases: int, trials: int, *, level: float = 0.95) -> float:
    """Return the highest mean flip rate that is in accord with not having seen a single flip.

    Formula: f = 2p(1 - p) with p^k + (1 - p)^k = (1 - level)^(1/n), the chance that all k trials
    of a case agree; one half where even a coin would often agree so. With two trials it is
    1 - (1 - level)^(1/n), the "rule of three": about 3/n (Hanley & Lippman-Hand 1983, JAMA
    249:1743). It holds for the mean over cases however their rates differ, as the logarithm of
    p^k + (1 - p)^k is concave in f.

    Use it where no verdict flipped: a flip rate of 0 would be certainty out of nothing. It lies
    when trials of a case share luck.

    Args:
        cases: Cases, n.
        trials: Trials of the case that has the fewest, k; at least 2.
        level: One-sided confidence level.

    Raises:
        ArgumentError: there is no case, or no second trial.
    """
    n, k = check_count("cases", cases, 1), check_count("trials", trials, 2)
    agreeing = math.log(1.0 - check_level(level)) / n
    if _log_agreement(0.5, k) >= agreeing:
        return 0.5
    p = find_root(lambda p: _log_agreement(p, k) - agreeing, 0.0, 0.5)
    return 2.0 * p * (1.0 - p)


def _log_agreement(p: float, trials: int) -> float:
    """Return the logarithm of the chance that all trials agree."""
    if p == 0.0:
        return 0.0
    return trials * math.log1p(-p) + math.log1p((p / (1.0 - p)) ** trials)
