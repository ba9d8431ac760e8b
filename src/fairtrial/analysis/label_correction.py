"""The difference of two arms, corrected by human labels: which correction is to be believed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy.typing as npt

from fairtrial.stats.ppi.difference import CorrectedDifference, JudgedArm, ppi_difference
from fairtrial.stats.ppi.poststratified import post_stratified_difference, selection_test


@dataclass(frozen=True, slots=True)
class LabelCorrection:
    """Both corrections, and the one to headline.

    Attributes:
        ppi: PPI++; right when labels are a random sample.
        post_stratified: Weighted to the judge's verdicts; right when labels were picked by them.
        headline: The one to report; None when neither can be believed.
        selected: Labels look picked by the judge's verdict.
        reason: Why this headline.
    """

    ppi: CorrectedDifference
    post_stratified: CorrectedDifference
    headline: CorrectedDifference | None
    selected: bool
    reason: str

    def describe(self) -> str:
        """Return the correction in words."""
        if self.headline is None:
            return f"No corrected difference: {self.reason}."
        return f"{self.headline.describe()} {self.reason.capitalize()}."


def label_correction(
    baseline: JudgedArm,
    candidate: JudgedArm,
    *,
    clusters: npt.ArrayLike | None = None,
    min_labels: int = 20,
    level: float = 0.95,
) -> LabelCorrection:
    """Correct a judge's difference by human labels.

    PPI++ is the headline unless the labelled cases have another share of passed verdicts than the
    others (p < .05 in an arm); then the post-stratified difference is, if each verdict has five
    labels in each arm; else nothing is.

    Args:
        baseline: The baseline's verdicts and labels.
        candidate: The candidate's, in the same order of cases.
        clusters: One label a case; None when cases are independent.
        min_labels: Fewest labels an arm.
        level: Confidence level.

    Raises:
        ArgumentError: the arms have different cases, or an argument is out of range.
    """
    ppi = ppi_difference(baseline, candidate, clusters=clusters, min_labels=min_labels, level=level)
    post = post_stratified_difference(baseline, candidate, clusters=clusters, level=level)
    tests = [selection_test(arm) for arm in (baseline, candidate)]
    selected = any(test is not None and test.value < 0.05 for test in tests)
    if ppi.estimate is None:
        return LabelCorrection(ppi, post, None, selected, ppi.reason)
    if not selected:
        return LabelCorrection(ppi, post, ppi, selected, "labels look like a random sample")
    if post.estimate is None:
        reason = f"labels were picked by the judge's verdict, and {post.reason}"
        return LabelCorrection(ppi, post, None, selected, reason)
    reason = "labels were picked by the judge's verdict, so they are weighted back"
    return LabelCorrection(ppi, post, post, selected, reason)
