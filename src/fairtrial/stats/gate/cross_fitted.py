"""Net gain and break share from several trials an arm, free of regression to the mean. Ours."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fairtrial.stats.arrays import FloatArray, as_clusters, cluster_sums
from fairtrial.stats.checks import check_at_least, check_within
from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.interval import how_often
from fairtrial.stats.tails import t_sf
from fairtrial.stats.trials import TrialSums


@dataclass(frozen=True, slots=True)
class CrossFittedGain:
    """A one-sided test of the net gain over several trials.

    Attributes:
        per_case: Each case's net gain, in fixes.
        total: Their sum.
        mean: Mean with the pseudo-cases that guard small n.
        se: Its standard error; None below two cases or clusters.
        t: mean/se; None like it.
        p: One-sided p-value; 1 when undefined.
        n: Cases.
        clusters: Independent clusters.
        harm_weight: How many fixes one break costs.
        method: `cross-fitted net gain`.
        reason: Why the test is undefined.
    """

    per_case: FloatArray
    total: float
    mean: float | None
    se: float | None
    t: float | None
    p: float
    n: int
    clusters: int
    harm_weight: float
    method: str = "cross-fitted net gain"
    reason: str = ""

    def describe(self) -> str:
        """Return the test in words."""
        if self.t is None:
            return f"The net gain cannot be tested: {self.reason}."
        return (
            f"The candidate is worth {self.total:+,.1f} fixes over {self.n:,} cases, one break "
            f"counting as {self.harm_weight:g} fixes; with no net gain a result this good would "
            f"come up {how_often(self.p)} (one-sided)."
        )


def net_gain_per_case(
    baseline: TrialSums, candidate: TrialSums, harm_weight: float = 2.0
) -> FloatArray:
    """Return V = (B - A) + (w - 1)(A B - A²) for each case, A² estimated without bias. Ours.

    It averages over ordered pairs of baseline trials: one decides how solved the case is, the
    other is what the candidate is compared with. So its mean is 0 when nothing changed, however
    flaky the case; a clean fix is worth 1 and a clean break -w.

    Raises:
        ArgumentError: the arms have different cases, or a baseline case has one trial only.
    """
    weight = check_within("harm_weight", harm_weight, 1e-9, 1e9)
    if baseline.n != candidate.n:
        raise ArgumentError("candidate", f"has {candidate.n} cases, the baseline {baseline.n}")
    if baseline.n and float(baseline.trials.min()) < 2.0:
        raise ArgumentError("baseline", "needs at least two trials a case")
    a, b = baseline.means, candidate.means
    return (b - a) + (weight - 1.0) * (a * b - baseline.squared_means)


def cross_fitted_gain(
    baseline: TrialSums,
    candidate: TrialSums,
    *,
    harm_weight: float = 2.0,
    clusters: npt.ArrayLike | None = None,
    pseudo_weight: float = 0.5,
) -> CrossFittedGain:
    """Test whether fixes outweigh breaks by the harm weight, from several trials an arm. Ours.

    Formula: V per case (see `net_gain_per_case`); a share `pseudo_weight` of a pseudo-fix (+1) and
    of a pseudo-break (-w) are added, N = n + 2·share; t = mean/sqrt(var/N), p from t(n-1). With
    clusters: CR1 with G - 1. Source: our own design, its mean checked by enumeration and its size
    by simulation (at most 5.9 % at a nominal 5 %).

    Use it when both arms have at least two trials a case. It lies when trials of one case share
    luck, e.g. a bad hour at the provider: interleave the arms.

    Args:
        baseline: The baseline's trials.
        candidate: The candidate's, in the same order of cases.
        harm_weight: How many fixes one break costs.
        clusters: One label a case; None when cases are independent.
        pseudo_weight: Share of the pseudo-cases; 1 is stricter and less powerful.

    Raises:
        ArgumentError: the arms do not match, or the baseline has single trials.
    """
    net = net_gain_per_case(baseline, candidate, harm_weight)
    share = check_at_least("pseudo_weight", pseudo_weight, 0.0)
    n, w = net.size, harm_weight
    codes = None if clusters is None else as_clusters("clusters", clusters, n)
    sums, sizes = cluster_sums(net, codes)
    groups = sums.size
    total = float(net.sum())
    if groups < 2:
        reason = "fewer than two independent cases"
        return CrossFittedGain(net, total, None, None, None, 1.0, n, groups, w, reason=reason)
    size = n + 2.0 * share
    mean = (total + share * (1.0 - w)) / size
    rest = sums - mean * sizes
    squares = float(rest @ rest) + share * ((1.0 - mean) ** 2 + (w + mean) ** 2)
    inflate = 1.0 if codes is None else groups / (groups - 1)
    se = math.sqrt(inflate * squares) / size
    if se == 0.0:
        reason = "all cases have the same net gain, so its spread is unknown"
        return CrossFittedGain(net, total, mean, None, None, 1.0, n, groups, w, reason=reason)
    t = mean / se
    return CrossFittedGain(net, total, mean, se, t, t_sf(t, groups - 1), n, groups, w)


@dataclass(frozen=True, slots=True)
class ExcessBreakShare:
    """The share of solved work that broke, over what flakiness alone would break.

    Attributes:
        share: Chance that work a baseline trial solved fails in a candidate trial; None when the
            baseline solved nothing.
        floor_baseline: The same between two baseline trials.
        floor_candidate: The same between two candidate trials; None when it solved nothing.
        excess: share less the smaller floor; None like `share`.
        n: Cases.
        method: `noise-adjusted break share`.
        reason: Why there is no share.
    """

    share: float | None
    floor_baseline: float | None
    floor_candidate: float | None
    excess: float | None
    n: int
    method: str = "noise-adjusted break share"
    reason: str = ""

    def describe(self) -> str:
        """Return the share in words."""
        if self.share is None or self.excess is None:
            return f"No share of broken work: {self.reason}."
        floor = self.share - self.excess
        return (
            f"{100.0 * self.share:.1f} % of what the baseline solved fails in the candidate; "
            f"{100.0 * floor:.1f} % would between two runs of one arm, so the change itself "
            f"accounts for {100.0 * self.excess:+.1f} points."
        )


def excess_break_share(baseline: TrialSums, candidate: TrialSums) -> ExcessBreakShare:
    """Return the noise-adjusted break share. Ours.

    Formula: r = sum A(1-B) / sum A; floors f = sum(A - A²)/sum A in each arm with A² estimated
    without bias; excess = r - min(f_A, f_B). Source: our own design; the smaller floor, because
    the baseline's alone is blind to a candidate that made solid cases flaky.

    Use it when both arms have at least two trials a case; with a single-trial candidate it cannot
    see breaks at all.

    Raises:
        ArgumentError: the arms have different cases, or a case has one trial only.
    """
    if baseline.n != candidate.n:
        raise ArgumentError("candidate", f"has {candidate.n} cases, the baseline {baseline.n}")
    for name, arm in (("baseline", baseline), ("candidate", candidate)):
        if arm.n and float(arm.trials.min()) < 2.0:
            raise ArgumentError(name, "needs at least two trials a case")
    a, b = baseline.means, candidate.means
    solved, solved_b = float(a.sum()), float(b.sum())
    if solved == 0.0:
        reason = "the baseline solved nothing"
        return ExcessBreakShare(None, None, None, None, baseline.n, reason=reason)
    share = float((a * (1.0 - b)).sum()) / solved
    floor_a = float((a - baseline.squared_means).sum()) / solved
    floor_b = None if solved_b == 0.0 else float((b - candidate.squared_means).sum()) / solved_b
    floor = floor_a if floor_b is None else min(floor_a, floor_b)
    return ExcessBreakShare(share, floor_a, floor_b, share - floor, baseline.n)


def majority_solved(arm: TrialSums) -> npt.NDArray[np.bool_]:
    """Return which cases passed in more than half of their trials; one of two is not solved."""
    return np.asarray(2.0 * arm.total > arm.trials, dtype=np.bool_)
