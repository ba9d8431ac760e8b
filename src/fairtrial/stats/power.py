"""How many cases a comparison needs, and what it can see."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fairtrial.stats.checks import (
    check_at_least,
    check_between,
    check_count,
    check_share,
    check_within,
)
from fairtrial.stats.chi import scale_nodes
from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.normal_array import upper_tails
from fairtrial.stats.roots import find_root
from fairtrial.stats.tails import (
    binomial_pmf,
    binomial_sf,
    normal_quantile,
    t_quantile,
)

_LARGEST = 1e100


@dataclass(frozen=True, slots=True)
class PairedDesign:
    """Variances of a paired comparison, per case.

    Attributes:
        between: Variance over cases of the true difference of the two arms (omega²); 0 when every
            case moves by the same amount.
        within_baseline: Variance between trials of one case in the baseline.
        within_candidate: The same in the candidate.
        trials_baseline: Trials a case in the baseline.
        trials_candidate: The same in the candidate.
    """

    between: float
    within_baseline: float
    within_candidate: float
    trials_baseline: int = 1
    trials_candidate: int = 1

    def __post_init__(self) -> None:
        for name in ("between", "within_baseline", "within_candidate"):
            check_at_least(name, getattr(self, name), 0.0)
        for name in ("trials_baseline", "trials_candidate"):
            check_count(name, getattr(self, name), 1)

    @property
    def variance(self) -> float:
        """Variance of one case's measured difference."""
        return (
            self.between
            + self.within_baseline / self.trials_baseline
            + self.within_candidate / self.trials_candidate
        )


def flaky_design(flip_rate: float, trials: int = 1, between: float = 0.0) -> PairedDesign:
    """Return the design of two equally flaky pass/fail arms: variance within is flip rate / 2."""
    within = 0.5 * check_share("flip_rate", flip_rate)
    many = check_count("trials", trials, 1)
    return PairedDesign(between, within, within, many, many)


@dataclass(frozen=True, slots=True)
class SampleSize:
    """Cases needed to see an effect.

    Attributes:
        exact: As computed.
        n: Rounded up.
        effect: The difference to be seen.
        alpha: Two-sided error.
        power: Chance to see it.
        method: `normal approximation`.
    """

    exact: float
    n: int
    effect: float
    alpha: float
    power: float
    method: str = "normal approximation"

    def describe(self) -> str:
        """Return the size in words."""
        return (
            f"{self.n:,} cases are needed to see a difference of {self.effect:g} in "
            f"{100 * self.power:g} % of runs, at a false-alarm rate of {100 * self.alpha:g} %."
        )


def paired_sample_size(
    design: PairedDesign, effect: float, *, alpha: float = 0.05, power: float = 0.8
) -> SampleSize:
    """Return how many cases a paired comparison needs.

    Formula: (z(1-alpha/2) + z(power))² (omega² + sA²/kA + sB²/kB) / effect². Source: Miller 2024,
    "Adding error bars to evals", arXiv:2411.00640.

    Use it before a run, with variances from an A/A run. It lies below about 50 cases, where t and
    score intervals need more.

    Raises:
        ArgumentError: effect is 0, or alpha or power is out of range.
    """
    size = abs(check_within("effect", effect, -_LARGEST, _LARGEST))
    if size < 1.0 / _LARGEST:
        raise ArgumentError("effect", f"must be finite and not 0, got {effect!r}")
    exact = _z_sum(alpha, power) ** 2 * design.variance / size**2
    return SampleSize(exact, max(1, math.ceil(exact - 1e-9)), size, alpha, power)


def _z_sum(alpha: float, power: float) -> float:
    check_between("alpha", alpha, 0.0, 1.0)
    check_between("power", power, 0.0, 1.0)
    return -normal_quantile(0.5 * alpha) + normal_quantile(power)


@dataclass(frozen=True, slots=True)
class SmallestEffect:
    """The smallest difference a run can be expected to see.

    Attributes:
        effect: The difference; None when it cannot be given.
        n: Cases.
        alpha: Two-sided error.
        power: Chance to see it.
        method: `noncentral t` or `normal approximation`.
        reason: Why it cannot be given.
    """

    effect: float | None
    n: int
    alpha: float
    power: float
    method: str
    reason: str = ""

    def describe(self) -> str:
        """Return the effect in words."""
        if self.effect is None:
            return f"The smallest visible difference is unknown: {self.reason}."
        return (
            f"With {self.n:,} cases a run sees a difference of {self.effect:.3g} in "
            f"{100 * self.power:g} % of tries; smaller ones are mostly missed."
        )


def smallest_effect(
    n: int, variance: float, *, alpha: float = 0.05, power: float = 0.8
) -> SmallestEffect:
    """Return the smallest difference that n cases show with the given power.

    Formula: the effect at which P(|T'| > t(1-alpha/2, n-1)) = power for the noncentral t with
    noncentrality effect·sqrt(n/variance). From 10,000 cases on the normal approximation. Source:
    standard; the same as R's power.t.test(type = "paired", strict = TRUE).

    Use it before a run. It lies for pass/fail at very small n, as t itself does.

    Args:
        n: Cases.
        variance: Variance of one case's difference, e.g. `PairedDesign.variance`.
        alpha: Two-sided error.
        power: Chance to see the effect.

    Raises:
        ArgumentError: an argument is out of range, or power does not exceed alpha.
    """
    size = check_count("n", n, 1)
    spread = math.sqrt(check_at_least("variance", variance, 0.0))
    check_between("alpha", alpha, 0.0, 1.0)
    check_between("power", power, alpha, 1.0)
    if size < 2:
        return SmallestEffect(None, size, alpha, power, "noncentral t", "one case has no spread")
    if spread == 0.0:
        reason = "without any scatter every difference is visible"
        return SmallestEffect(None, size, alpha, power, "noncentral t", reason)
    if size >= 10_000:
        effect = _z_sum(alpha, power) * spread / math.sqrt(size)
        return SmallestEffect(effect, size, alpha, power, "normal approximation")
    critical = t_quantile(1.0 - 0.5 * alpha, size - 1)
    shift = find_root(
        lambda nc: t_test_power(nc, size - 1, critical) - power,
        0.0,
        3.0 * critical + 40.0,
        tolerance=1e-10,
    )
    return SmallestEffect(shift * spread / math.sqrt(size), size, alpha, power, "noncentral t")


def t_test_power(noncentrality: float, df: float, critical: float) -> float:
    """Return P(|T'| > critical) for the noncentral t.

    Formula: E[Phi(nc - c S) + Phi(-nc - c S)] over S = sqrt(chi²(df)/df).
    """
    scale, weights = scale_nodes(df, abs(noncentrality) / critical, 1.0 / critical)
    edge = critical * scale
    return float(weights @ (upper_tails(edge - noncentrality) + upper_tails(edge + noncentrality)))


def mcnemar_power(p_fixed: float, p_broken: float, n: int, *, alpha: float = 0.05) -> float:
    """Return the power of the exact two-sided McNemar test to find the right direction.

    Formula: sum over m ~ Binomial(n, p_fixed + p_broken) of P(the larger kind is significantly
    more frequent | m). Source: Miettinen 1968; enumeration.

    Use it for pass/fail with one trial an arm, when fix and break rates are known. It lies where
    those are guesses, which is most of the time: try several.

    Raises:
        ArgumentError: rates are no shares, or exceed 1 together.
    """
    size = check_count("n", n, 1)
    check_between("alpha", alpha, 0.0, 1.0)
    changed = check_share("p_fixed", p_fixed) + check_share("p_broken", p_broken)
    if changed > 1.0:
        raise ArgumentError("p_broken", "and p_fixed together must not exceed 1")
    if changed == 0.0:
        return 0.0
    toward = max(p_fixed, p_broken) / changed
    # beyond nine standard deviations less is left than rounding takes
    reach = 9.0 * math.sqrt(size * changed * (1.0 - changed)) + 20.0
    low = max(1, math.floor(size * changed - reach))
    high = min(size, math.ceil(size * changed + reach))
    total = 0.0
    least = _fewest_significant(low, alpha)
    for m in range(low, high + 1):
        # one case more needs the same number or one more
        if 2.0 * binomial_sf(least, m, 0.5) > alpha:
            least += 1
        weight = binomial_pmf(m, size, changed)
        if weight > 1e-15:
            total += weight * binomial_sf(least, m, toward)
    return total


def _fewest_significant(m: int, alpha: float) -> int:
    """Return the smallest count of m that two-sided exact p calls significant; m + 1 if none."""
    low, high = m // 2, m + 1
    while high - low > 1:
        middle = (low + high) // 2
        if 2.0 * binomial_sf(middle, m, 0.5) <= alpha:
            high = middle
        else:
            low = middle
    return high
