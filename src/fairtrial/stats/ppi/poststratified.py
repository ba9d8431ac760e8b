"""Labels weighted to the judge's verdicts over all cases."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from fairtrial.stats.arrays import FloatArray
from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.interval import PValue
from fairtrial.stats.ppi.difference import (
    CorrectedDifference,
    Influence,
    JudgedArm,
    difference_of,
    unseen_disagreement,
)
from fairtrial.stats.tails import normal_sf


def fewest_labels_in_a_stratum(arm: JudgedArm) -> int:
    """Return the smaller number of labels among cases the judge passed and cases it failed.

    A stratum without any case does not count.
    """
    has, passed = arm.labelled, _passed(arm)
    counts = [int((has & side).sum()) for side in (passed, ~passed) if side.any()]
    return min(counts, default=0)


def post_stratified_influence(arm: JudgedArm) -> Influence:
    """Return one arm's post-stratified mean and the pull of each case on it.

    Raises:
        ArgumentError: the judge gave a verdict to which no label belongs.
    """
    if fewest_labels_in_a_stratum(arm) == 0:
        raise ArgumentError("labels", "one of the judge's verdicts has no label at all")
    has, passed = arm.labelled, _passed(arm)
    n = arm.judge.size
    estimate = 0.0
    pulls: FloatArray = np.zeros(n)
    unseen = 0.0
    for side in (passed, ~passed):
        if not side.any():
            continue
        share = float(side.mean())
        truth = arm.labels[side & has]
        mean = float(truth.mean())
        stretch = math.sqrt(truth.size / (truth.size - 1)) if truth.size > 1 else 1.0
        estimate += share * mean
        pulls[side] += mean / n
        pulls[side & has] += share * stretch * (truth - mean) / truth.size
        unseen += share * share * unseen_disagreement(truth, int((side & ~has).sum()))
    return Influence(estimate, pulls - estimate / n, unseen=unseen)


def post_stratified_difference(
    baseline: JudgedArm,
    candidate: JudgedArm,
    *,
    clusters: npt.ArrayLike | None = None,
    min_per_stratum: int = 5,
    level: float = 0.95,
) -> CorrectedDifference:
    """Return the difference of label means, weighted to the judge's verdicts over all cases.

    Formula: per arm sum over verdicts s of (share of cases with verdict s) · (mean label among
    the labelled with verdict s); standard error from pulls of cases. Where all labels of a verdict
    are alike, the variance of one that is not is added: none seen is not none there. Source:
    post-stratification, e.g. Cochran 1977, chapter 5A; its use beside PPI++ was chosen by
    simulation.

    Use it when labels were picked by verdict, say more of the failed ones: it stays right where
    PPI++ is off by a factor of two, and costs nothing when labels are random. It lies when labels
    were picked by something the verdict does not show.

    Args:
        baseline: The baseline's verdicts and labels.
        candidate: The candidate's, in the same order of cases.
        clusters: One label a case; None when cases are independent.
        min_per_stratum: Fewest labels for each verdict and arm.
        level: Confidence level.

    Raises:
        ArgumentError: the arms have different cases, or an argument is out of range.
    """
    method = "post-stratified difference"
    least = max(1, min_per_stratum)
    fewest = min(fewest_labels_in_a_stratum(arm) for arm in (baseline, candidate))
    if fewest < least:
        # The unreachable demand makes `difference_of` refuse in its own words.
        refused = difference_of(
            post_stratified_influence, (baseline, candidate), clusters, (2**53, level), method
        )
        return CorrectedDifference(
            None,
            None,
            None,
            None,
            None,
            None,
            refused.judge_only,
            refused.n,
            refused.labels_baseline,
            refused.labels_candidate,
            refused.clusters,
            level,
            method,
            f"it needs at least {least} labels for each verdict of the judge in each arm",
        )
    return difference_of(
        post_stratified_influence, (baseline, candidate), clusters, (2, level), method
    )


def selection_test(arm: JudgedArm) -> PValue | None:
    """Test whether labelled cases have another share of passed verdicts than the others.

    Formula: z test of two proportions with pooled variance (Pearson's chi-squared). None when all
    or no cases are labelled, or the judge always says the same.

    Use it to see whether labels are a random sample as far as the judge can tell. It lies where
    either group has fewer than about ten cases.
    """
    has, passed = arm.labelled, _passed(arm)
    inside, outside = int(has.sum()), int((~has).sum())
    if inside == 0 or outside == 0 or passed.all() or not passed.any():
        return None
    pooled = float(passed.mean())
    gap = float(passed[has].mean()) - float(passed[~has].mean())
    z = abs(gap) / math.sqrt(pooled * (1.0 - pooled) * (1.0 / inside + 1.0 / outside))
    return PValue("two proportions", 2.0 * normal_sf(z))


def _passed(arm: JudgedArm) -> npt.NDArray[np.bool_]:
    return np.asarray(arm.judge >= 0.5, dtype=np.bool_)
