"""A pass rate over cases that come in clusters."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from fairtrial.stats.arrays import as_clusters, squares_around
from fairtrial.stats.checks import check_level
from fairtrial.stats.interval import Interval
from fairtrial.stats.proportion import Rate, wilson
from fairtrial.stats.tails import normal_quantile, t_quantile
from fairtrial.stats.trials import TrialSums


def clustered_rate(arm: TrialSums, clusters: npt.ArrayLike, *, level: float = 0.95) -> Rate:
    """Return the pass rate over cases with an interval whose unit is the cluster.

    Formula: the mean of the cases' rates; SE as for `cluster_t`; mean ± t(G-1) SE. Where that
    leaves [0, 1], Wilson at the effective n p(1-p)/SE², at most the trials, corrected by (z/t)²;
    where all cases have the same rate, Wilson over the clusters. Source: Liang & Zeger 1986; Korn &
    Graubard 1998, Survey Methodology 24:193.

    Use it when cases share a repository, template or customer. It lies below about 8 clusters.

    Args:
        arm: Trials of each case.
        clusters: One label a case.
        level: Confidence level.

    Raises:
        ArgumentError: labels and cases do not match, or level is outside (0, 1).
    """
    check_level(level)
    codes = as_clusters("clusters", clusters, arm.n)
    n, trials = arm.n, int(arm.trials.sum())
    if n == 0:
        return Rate(None, None, 0, 0, "none", "no trial was decided", clusters=0)
    rates = arm.means
    mean = float(rates.mean())
    squares, groups = squares_around(rates, codes, mean)
    name = "wilson at an effective n"
    if groups == 1 or float(np.ptp(rates)) == 0.0 or squares == 0.0:
        interval = wilson(mean * groups, groups, level)
        reason = "clusters do not differ, so each counts once"
        return Rate(mean, interval, n, trials, name, reason, float(groups), groups)
    se = math.sqrt(groups / (groups - 1) * squares) / n
    t = t_quantile(0.5 + 0.5 * level, groups - 1)
    low, high = mean - t * se, mean + t * se
    if low >= 0.0 and high <= 1.0:
        interval = Interval("cluster t", level, low, high)
        reason = "cases come in clusters: the cluster is the unit"
        return Rate(mean, interval, n, trials, "cluster t", reason, None, groups)
    z = normal_quantile(0.5 + 0.5 * level)
    effective = min(float(trials), mean * (1.0 - mean) / se**2) * (z / t) ** 2
    interval = wilson(mean * effective, effective, level)
    reason = "close to 0 or 1, where a symmetric interval would leave the possible range"
    return Rate(mean, interval, n, trials, name, reason, effective, groups)
