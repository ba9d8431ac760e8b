"""Prediction-powered inference for one mean."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fairtrial.stats.arrays import FloatArray, as_aligned, as_values
from fairtrial.stats.checks import check_level
from fairtrial.stats.interval import Interval
from fairtrial.stats.tails import normal_quantile, t_quantile


@dataclass(frozen=True, slots=True)
class PpiMean:
    """A mean of human labels, sharpened by a judge.

    Attributes:
        estimate: The corrected mean.
        weight: How much the judge is trusted, in [0, 1]; 0 is labels only.
        interval: t interval; None with fewer than two labels.
        interval_z: The large-sample interval of the paper, for comparison with other software.
        judge_only: The judge's own mean over all cases; biased as the judge is.
        n: Labelled cases.
        n_unlabelled: Cases with a verdict of the judge only.
        level: Confidence level.
        method: `ppi++`, or `labels only` where the judge adds nothing.
        reason: Why something is undefined.
    """

    estimate: float
    weight: float
    interval: Interval | None
    interval_z: Interval | None
    judge_only: float
    n: int
    n_unlabelled: int
    level: float
    method: str
    reason: str = ""

    def describe(self) -> str:
        """Return the mean in words."""
        spread = (
            f"No interval: {self.reason}."
            if self.interval is None
            else f"It is plausibly {self.interval.describe()}."
        )
        return (
            f"The judge alone says {self.judge_only:.4g}; corrected by {self.n:,} human labels it "
            f"is {self.estimate:.4g}. {spread}"
        )


def judge_weight(labels: FloatArray, judged: FloatArray, unlabelled: FloatArray) -> float:
    """Return the weight on the judge that makes the corrected mean least variable, in [0, 1].

    Formula: cov(Y, f) / ((1 + n/N) var(f)), covariance over the n labelled cases (ddof 0),
    variance over all (ddof 1); 0 where the judge never varies or nothing is unlabelled. Source:
    Angelopoulos, Duchi & Zrnic 2023, "PPI++", arXiv:2311.01453.
    """
    if unlabelled.size == 0 or labels.size == 0:
        return 0.0
    everything = np.concatenate([judged, unlabelled])
    if float(np.ptp(everything)) == 0.0:
        return 0.0
    variance = float(everything.var(ddof=1))
    covariance = float(((labels - labels.mean()) * (judged - judged.mean())).mean())
    raw = covariance / ((1.0 + labels.size / unlabelled.size) * variance)
    return min(max(raw, 0.0), 1.0)


def ppi_mean(
    labels: npt.ArrayLike,
    judge_labelled: npt.ArrayLike,
    judge_unlabelled: npt.ArrayLike,
    *,
    level: float = 0.95,
) -> PpiMean:
    """Return the mean label over all cases from a few labels and a judge's verdicts on all.

    Formula: w mean(f over unlabelled) + mean(Y - w f over labelled), w by `judge_weight`. Source:
    Angelopoulos, Duchi & Zrnic 2023, arXiv:2311.01453.

    Use it when labelled cases are a random sample. It lies when they are not, e.g. when people
    labelled what the judge failed: post-stratify then.

    Args:
        labels: Human labels Y of the labelled cases.
        judge_labelled: The judge's f on the same cases.
        judge_unlabelled: The judge's f on the others; may be empty.
        level: Confidence level.

    Raises:
        ArgumentError: no label, or lengths differ.
    """
    check_level(level)
    truth = as_values("labels", labels, least=1)
    judged = as_aligned("judge_labelled", judge_labelled, truth)
    rest = as_values("judge_unlabelled", judge_unlabelled)
    n, many = truth.size, rest.size
    weight = judge_weight(truth, judged, rest)
    residual = truth - weight * judged
    estimate = float(residual.mean()) + (weight * float(rest.mean()) if many else 0.0)
    judge_only = float(np.concatenate([judged, rest]).mean())
    method = "ppi++" if weight > 0.0 else "labels only"
    if n < 2:
        reason = "one label has no spread"
        return PpiMean(estimate, weight, None, None, judge_only, n, many, level, method, reason)
    z = normal_quantile(0.5 + 0.5 * level)
    t = t_quantile(0.5 + 0.5 * level, n - 1)
    half_z = z * _se(residual, weight, rest, 0)
    half_t = t * _se(residual, weight, rest, 1)
    if half_z == 0.0:
        reason = "all labels agree, so their spread is unknown, not zero"
        return PpiMean(estimate, weight, None, None, judge_only, n, many, level, method, reason)
    return PpiMean(
        estimate,
        weight,
        Interval(method, level, estimate - half_t, estimate + half_t),
        Interval(f"{method} z", level, estimate - half_z, estimate + half_z),
        judge_only,
        n,
        many,
        level,
        method,
    )


def _se(residual: FloatArray, weight: float, rest: FloatArray, ddof: int) -> float:
    variance = float(residual.var(ddof=ddof)) / residual.size
    if rest.size > 1:
        variance += weight * weight * float(rest.var(ddof=ddof)) / rest.size
    return math.sqrt(variance)
