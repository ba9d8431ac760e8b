"""What a held change would have needed, with several trials an arm."""

from __future__ import annotations

import numpy as np

from fairtrial.analysis.comparing.deltas import Clusters
from fairtrial.analysis.gate.ship import ShipRules
from fairtrial.stats.gate.cross_fitted import cross_fitted_gain, majority_solved
from fairtrial.stats.trials import TrialSums, from_counts


def more_fixes_needed(
    baseline: TrialSums, candidate: TrialSums, rules: ShipRules, clusters: Clusters = None
) -> int | None:
    """Return how many more cases, fixed in every trial, would have passed the net-gain test.

    The cases that both arms failed most are taken first. None when even all of them are too few.
    """
    left = np.flatnonzero(~majority_solved(baseline) & ~majority_solved(candidate))
    order = left[np.argsort(baseline.means[left] + candidate.means[left], kind="stable")]

    def passes(count: int) -> bool:
        total = candidate.total.copy()
        total[order[:count]] = candidate.trials[order[:count]]
        better = from_counts(total, candidate.trials)
        test = cross_fitted_gain(baseline, better, harm_weight=rules.harm_weight, clusters=clusters)
        return test.t is not None and test.p <= rules.alpha

    if not passes(order.size):
        return None
    low, high = -1, int(order.size)
    while high - low > 1:
        middle = (low + high) // 2
        if passes(middle):
            high = middle
        else:
            low = middle
    return high
