"""Agreement beyond chance: Cohen's and Fleiss' kappa, Krippendorff's alpha."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fairtrial.stats.arrays import FloatArray, as_table
from fairtrial.stats.checks import check_level
from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.interval import Interval
from fairtrial.stats.tails import normal_quantile


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement between raters beyond what chance gives.

    Attributes:
        estimate: 1 is perfect, 0 is chance; None when undefined.
        agreement: Plain share of agreement; None when undefined.
        interval: None where the procedure has none.
        se: Standard error, likewise.
        n: Cases with at least two ratings.
        raters: Raters.
        level: Confidence level.
        method: `cohen kappa`, `fleiss kappa` or `krippendorff alpha`.
        reason: Why it is undefined.
    """

    estimate: float | None
    agreement: float | None
    interval: Interval | None
    se: float | None
    n: int
    raters: int
    level: float
    method: str
    reason: str = ""

    def describe(self) -> str:
        """Return the agreement in words."""
        if self.estimate is None:
            return f"{self.method.capitalize()} is undefined: {self.reason}."
        spread = "" if self.interval is None else f", plausibly {self.interval.describe()}"
        return (
            f"Of the agreement that chance does not explain, {self.raters} raters reach "
            f"{100 * self.estimate:.0f} % on {self.n:,} cases ({self.method}{spread})."
        )


_ROUNDING = 1e-12
_CONSTANT = "every rating is the same, so chance alone explains the agreement"


def cohen_kappa(
    first: Sequence[Hashable], second: Sequence[Hashable], *, level: float = 0.95
) -> Agreement:
    """Return Cohen's kappa of two raters over any categories.

    Formula and source: see `cohen_kappa_of_table`.

    Raises:
        ArgumentError: the raters have different numbers of cases.
    """
    if len(first) != len(second):
        raise ArgumentError("second", f"has {len(second)} ratings, the first {len(first)}")
    categories = {value: k for k, value in enumerate(dict.fromkeys([*first, *second]))}
    table = np.zeros((len(categories), len(categories)))
    for one, other in zip(first, second, strict=True):
        table[categories[one], categories[other]] += 1.0
    if not categories:
        return _undefined("cohen kappa", 0, 2, level, "there are no cases")
    return cohen_kappa_of_table(table, level=level)


def cohen_kappa_of_table(table: npt.ArrayLike, *, level: float = 0.95) -> Agreement:
    """Return Cohen's kappa from a square table of counts.

    Formula: (po - pe)/(1 - pe); large-sample standard error. Source: Cohen 1960; Fleiss, Levin &
    Paik 2003, chapter 18.

    Use it for two raters, e.g. a judge and a person. It lies when one category is rare: then high
    agreement gives a low kappa; show the plain agreement beside it.

    Raises:
        ArgumentError: the table is not square, or holds negative counts.
    """
    check_level(level)
    counts = as_table("table", table)
    if counts.shape[0] != counts.shape[1]:
        raise ArgumentError("table", f"must be square, not {counts.shape}")
    if (counts < 0.0).any():
        raise ArgumentError("table", "must hold counts, none negative")
    n = float(counts.sum())
    if n == 0.0:
        return _undefined("cohen kappa", 0, 2, level, "there are no cases")
    p = counts / n
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    observed, expected = float(np.trace(p)), float(rows @ columns)
    if expected >= 1.0 - 1e-12:
        return _undefined("cohen kappa", int(n), 2, level, _CONSTANT, observed)
    kappa = (observed - expected) / (1.0 - expected)
    variance = _kappa_variance(p, kappa, expected)
    # It is a difference of numbers near 1: what rounding leaves of a zero is no spread.
    se = math.sqrt(variance / n) if variance > _ROUNDING else 0.0
    half = normal_quantile(0.5 + 0.5 * level) * se
    interval = Interval("cohen kappa", level, kappa - half, kappa + half) if se > 0.0 else None
    agree = "perfect agreement leaves" if observed == 1.0 else "these ratings leave"
    reason = "" if se > 0.0 else f"{agree} no spread to build an interval from"
    return Agreement(kappa, observed, interval, se, int(n), 2, level, "cohen kappa", reason)


def _kappa_variance(p: FloatArray, kappa: float, expected: float) -> float:
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    diagonal = np.diag(p)
    agree = float(diagonal @ (1.0 - (rows + columns) * (1.0 - kappa)) ** 2)
    crossed = p * (columns[:, None] + rows[None, :]) ** 2
    differ = (1.0 - kappa) ** 2 * float(crossed.sum() - np.trace(crossed))
    chance = (kappa - expected * (1.0 - kappa)) ** 2
    return (agree + differ - chance) / (1.0 - expected) ** 2


def fleiss_kappa(table: npt.ArrayLike, *, level: float = 0.95) -> Agreement:
    """Return Fleiss' kappa from a table of cases by categories.

    Formula: (mean per-case agreement - sum of squared category shares)/(1 - that sum). Source:
    Fleiss 1971, Psychol Bull 76:378.

    Use it for a fixed number of raters a case. It lies when ratings are missing: use
    Krippendorff's alpha.

    Raises:
        ArgumentError: cases have different numbers of ratings, or fewer than two.
    """
    check_level(level)
    counts = as_table("table", table)
    n = counts.shape[0]
    if n == 0:
        return _undefined("fleiss kappa", 0, 0, level, "there are no cases")
    ratings = counts.sum(axis=1)
    if not (ratings == ratings[0]).all() or (counts < 0.0).any():
        raise ArgumentError("table", "every case needs the same number of ratings")
    raters = float(ratings[0])
    if raters < 2.0:
        raise ArgumentError("table", "needs at least two ratings a case")
    within = ((counts**2).sum(axis=1) - raters) / (raters * (raters - 1.0))
    shares = counts.sum(axis=0) / (n * raters)
    expected, observed = float(shares @ shares), float(within.mean())
    if expected >= 1.0 - 1e-12:
        return _undefined("fleiss kappa", n, int(raters), level, _CONSTANT, observed)
    kappa = (observed - expected) / (1.0 - expected)
    return Agreement(kappa, observed, None, None, n, int(raters), level, "fleiss kappa")


def krippendorff_alpha(
    ratings: Sequence[Sequence[Hashable | None]], *, level: float = 0.95
) -> Agreement:
    """Return Krippendorff's alpha for categories, with missing ratings.

    Formula: 1 - observed/expected disagreement from the coincidence table, in which a case with m
    ratings gives each ordered pair the weight 1/(m - 1). Source: Krippendorff 2004, "Content
    analysis", chapter 11; written from the definition.

    Use it for any number of raters, each of whom may skip cases (None). It lies when one category
    is rare, as kappa does.

    Args:
        ratings: One sequence a rater, in the same order of cases; None is missing.
        level: Confidence level, recorded only: there is no interval.

    Raises:
        ArgumentError: raters have different numbers of cases.
    """
    check_level(level)
    method = "krippendorff alpha"
    if len({len(row) for row in ratings}) > 1:
        raise ArgumentError("ratings", "every rater needs one entry a case, None where missing")
    units = [[r for r in unit if r is not None] for unit in zip(*ratings, strict=True)]
    paired = [unit for unit in units if len(unit) > 1]
    if not paired:
        return _undefined(method, 0, len(ratings), level, "no case has two ratings")
    categories = {v: k for k, v in enumerate(dict.fromkeys(v for unit in paired for v in unit))}
    coincidence = np.zeros((len(categories), len(categories)))
    for unit in paired:
        counts = np.zeros(len(categories))
        for value in unit:
            counts[categories[value]] += 1.0
        coincidence += (np.outer(counts, counts) - np.diag(counts)) / (len(unit) - 1)
    totals = coincidence.sum(axis=1)
    n = float(totals.sum())
    differ = n - float(np.trace(coincidence))
    expected = (n * n - float(totals @ totals)) / (n - 1.0)
    agreement = 1.0 - differ / n
    if expected == 0.0:
        return _undefined(method, len(paired), len(ratings), level, _CONSTANT, agreement)
    return Agreement(
        1.0 - differ / expected, agreement, None, None, len(paired), len(ratings), level, method
    )


def _undefined(
    method: str, n: int, raters: int, level: float, reason: str, agreement: float | None = None
) -> Agreement:
    return Agreement(None, agreement, None, None, n, raters, level, method, reason)
