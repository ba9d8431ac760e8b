"""How much of the scatter is flakiness: variance components and the flip rate."""

from __future__ import annotations

from dataclasses import dataclass

from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.trials import TrialSums


@dataclass(frozen=True, slots=True)
class VarianceComponents:
    """Scatter within and between cases of one arm.

    Attributes:
        ms_within: Mean square within cases; None without a second trial.
        ms_between: Mean square between cases; None with fewer than two cases.
        within: Variance between trials of one case, the flakiness; equals `ms_within`.
        between: Variance between cases' true rates, at least 0.
        icc: between/(between + within); None when nothing varies.
        flip_rate: Chance that two trials of one case differ; None for graded scores.
        n: Cases.
        trials: Mean trials a case.
        method: `anova`.
        reason: Why something is undefined.
    """

    ms_within: float | None
    ms_between: float | None
    within: float | None
    between: float | None
    icc: float | None
    flip_rate: float | None
    n: int
    trials: float
    method: str = "anova"
    reason: str = ""

    def describe(self) -> str:
        """Return the components in words."""
        if self.within is None:
            return f"Flakiness is unknown: {self.reason}."
        flips = (
            ""
            if self.flip_rate is None
            else f"Run the same case twice and {100 * self.flip_rate:.0f} % of the time the "
            "verdict flips. "
        )
        return (
            f"{flips}Over {self.n:,} cases the variance between trials of one case is "
            f"{self.within:.3g}"
            + ("." if self.between is None else f", between cases {self.between:.3g}.")
        )


def variance_components(arm: TrialSums) -> VarianceComponents:
    """Return variance within and between cases from several trials a case.

    Formula: MSW the mean within-case variance (ddof 1), weighted by trials less one where they
    differ; MSB = sum k (mean - grand)²/(n - 1); between = max(0, (MSB - MSW)/k0), k0 the mean
    trials corrected for imbalance; flip rate = 2 MSW for pass/fail. Source: one-way random
    effects, Searle, Casella & McCulloch 1992, chapter 3; the flip identity is exact.

    Use it on an A/A run to learn the noise before comparing anything. It lies when trials of a
    case share luck.

    Raises:
        ArgumentError: there is no case.
    """
    if arm.n == 0:
        raise ArgumentError("arm", "needs at least one case")
    n, k = arm.n, arm.trials
    total = float(k.sum())
    mean_trials = total / n
    spare = total - n
    if spare == 0.0:
        reason = "one trial a case cannot show how much a case varies"
        return VarianceComponents(None, None, None, None, None, None, n, mean_trials, reason=reason)
    within_squares = float((arm.squares - arm.total**2 / k).sum())
    ms_within = max(0.0, within_squares / spare)
    flip = 2.0 * ms_within if arm.binary else None
    if n < 2:
        reason = "one case cannot show how much cases differ"
        return VarianceComponents(
            ms_within, None, ms_within, None, None, flip, n, mean_trials, reason=reason
        )
    grand = float(arm.total.sum()) / total
    ms_between = float((k * (arm.means - grand) ** 2).sum()) / (n - 1)
    balance = (total - float(k @ k) / total) / (n - 1)
    between = max(0.0, (ms_between - ms_within) / balance)
    everything = between + ms_within
    icc = between / everything if everything > 0.0 else None
    reason = "" if icc is not None else "nothing varies"
    return VarianceComponents(
        ms_within, ms_between, ms_within, between, icc, flip, n, mean_trials, reason=reason
    )
