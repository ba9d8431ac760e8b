"""Do fixes outweigh breaks? For one trial an arm."""

from __future__ import annotations

from dataclasses import dataclass

from fairtrial.stats.checks import check_between, check_count, check_within
from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.interval import how_often
from fairtrial.stats.proportion import clopper_pearson_upper
from fairtrial.stats.tails import binomial_pmf, binomial_sf


@dataclass(frozen=True, slots=True)
class NetGain:
    """A test whether fixes outweigh breaks by a factor.

    Attributes:
        fixed: Cases the candidate fixed.
        broken: Cases the candidate broke.
        harm_weight: How many fixes one break costs.
        p_mid: One-sided mid-p, the one the gate uses; 1 when nothing changed.
        p_exact: One-sided exact p.
        method: `net gain`.
    """

    fixed: int
    broken: int
    harm_weight: float
    p_mid: float
    p_exact: float
    method: str = "net gain"

    @property
    def n(self) -> int:
        """Cases that changed."""
        return self.fixed + self.broken

    def describe(self) -> str:
        """Return the test in words."""
        if self.n == 0:
            return "No case was fixed or broken, so there is no gain to show."
        return (
            f"{self.fixed:,} fixed against {self.broken:,} broken, one break counting as "
            f"{self.harm_weight:g} fixes: with no net gain, at least this many fixes would come "
            f"up {how_often(self.p_mid)} (one-sided mid-p)."
        )


def net_gain(fixed: int, broken: int, harm_weight: float = 2.0) -> NetGain:
    """Test whether fixes outweigh breaks by more than the harm weight.

    Formula: with m = fixed + broken and q = w/(1+w), p = P(Bin(m,q) >= fixed) less half of
    P(Bin(m,q) = fixed). Weight 1 is McNemar's one-sided mid-p. Source: the conditional test of a
    matched-pairs odds ratio (Breslow & Day 1980; Fay 2010, Biostatistics 11:373).

    Use it when an arm has one trial a case. It lies on flaky suites, whose flips it cannot tell
    from changes; then it holds almost everything: run three trials and use the cross-fitted test.

    Raises:
        ArgumentError: a count is negative or fractional, or the weight is not positive.
    """
    up, down = check_count("fixed", fixed), check_count("broken", broken)
    weight = check_within("harm_weight", harm_weight, 1e-9, 1e9)
    m = up + down
    if m == 0:
        return NetGain(0, 0, weight, 1.0, 1.0)
    q = weight / (1.0 + weight)
    exact = binomial_sf(up, m, q)
    return NetGain(up, down, weight, exact - 0.5 * binomial_pmf(up, m, q), exact)


def fewest_fixes(broken: int, harm_weight: float = 2.0, alpha: float = 0.05) -> int:
    """Return the fewest fixes that pass the net-gain test beside this many breaks.

    Use it to tell what a held change would have needed.

    Raises:
        ArgumentError: broken is negative or fractional, or alpha is not in (0, 1).
    """
    check_between("alpha", alpha, 0.0, 1.0)
    down = check_count("broken", broken)
    low, high = 0, 1
    while net_gain(high, down, harm_weight).p_mid > alpha:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if net_gain(middle, down, harm_weight).p_mid > alpha:
            low = middle
        else:
            high = middle
    return high


@dataclass(frozen=True, slots=True)
class BreakShare:
    """The share of what the baseline solved that the candidate broke.

    Attributes:
        broken: Cases broken.
        solved: Cases the baseline solved.
        share: broken / solved; None when nothing was solved.
        upper: Exact one-sided upper bound of the share; None like it.
        level: One less alpha.
        method: `clopper-pearson`.
        reason: Why there is no share.
    """

    broken: int
    solved: int
    share: float | None
    upper: float | None
    level: float
    method: str = "clopper-pearson"
    reason: str = ""

    @property
    def n(self) -> int:
        """Cases the baseline solved."""
        return self.solved

    def describe(self) -> str:
        """Return the share in words."""
        if self.share is None or self.upper is None:
            return f"No share of broken cases: {self.reason}."
        return (
            f"{self.broken:,} of the {self.solved:,} cases that the baseline solved are broken "
            f"({100.0 * self.share:.1f} %); the true share is at most {100.0 * self.upper:.1f} % "
            f"with {100.0 * self.level:g} % confidence."
        )


def break_share(broken: int, solved: int, alpha: float = 0.05) -> BreakShare:
    """Return the share of solved cases that broke, with its one-sided exact upper bound.

    Formula: broken/solved; upper bound of Clopper & Pearson 1934.

    Use the share as the rule and the bound as information: below 10 % it needs 29 solved cases
    and none broken. It lies on flaky suites, where an unchanged agent "breaks" cases too.

    Raises:
        ArgumentError: counts are negative, fractional, or broken exceeds solved.
    """
    check_between("alpha", alpha, 0.0, 0.5)
    down, had = check_count("broken", broken), check_count("solved", solved)
    if down > had:
        raise ArgumentError("broken", f"must be at most solved = {had}, not {down}")
    if had == 0:
        return BreakShare(0, 0, None, None, 1.0 - alpha, reason="the baseline solved nothing")
    upper = clopper_pearson_upper(down, had, alpha)
    return BreakShare(down, had, down / had, upper, 1.0 - alpha)
