"""Could the few trials of one case differ so by luck? Fisher's exact test, mid-p."""

from __future__ import annotations

import math

from fairtrial.stats.checks import check_count
from fairtrial.stats.errors import ArgumentError


def fisher_mid_p(passed_a: int, trials_a: int, passed_b: int, trials_b: int) -> float:
    """Return the two-sided mid-p of Fisher's exact test on the trials of one case.

    Formula: with all passes fixed, B's passes are hypergeometric; twice the smaller of both mid-p
    tails, at most 1. Source: Fisher 1935; mid-p: Lancaster 1961, JASA 56:223.

    Use it to tell whether one case changed more than its own trials scatter. It lies as a verdict
    on a suite: among many cases some pass this bar by luck.

    Raises:
        ArgumentError: a count is negative or fractional, or passes exceed trials.
    """
    n_a, n_b = check_count("trials_a", trials_a), check_count("trials_b", trials_b)
    k_a, k_b = check_count("passed_a", passed_a), check_count("passed_b", passed_b)
    if k_a > n_a or k_b > n_b:
        raise ArgumentError("passed_a", "and passed_b must not exceed their trials")
    passes = k_a + k_b
    total = math.comb(n_a + n_b, passes)
    masses = {
        k: math.comb(n_b, k) * math.comb(n_a, passes - k) / total
        for k in range(max(0, passes - n_a), min(n_b, passes) + 1)
    }
    half = 0.5 * masses[k_b]
    above = sum(mass for k, mass in masses.items() if k > k_b) + half
    below = sum(mass for k, mass in masses.items() if k < k_b) + half
    return min(1.0, 2.0 * min(above, below))
