"""McNemar's test: are fixed and broken cases equally likely?"""

from __future__ import annotations

from dataclasses import dataclass

from fairtrial.stats.checks import check_count
from fairtrial.stats.tails import binomial_pmf, binomial_sf


@dataclass(frozen=True, slots=True)
class McNemar:
    """McNemar's test, exact and mid-p.

    Attributes:
        fixed: Cases that only the candidate passes.
        broken: Cases that only the baseline passes.
        p_mid: Two-sided mid-p, the one verdicts use.
        p_exact: Two-sided exact p.
        p_mid_greater: One-sided mid-p for "more fixed than broken".
        p_exact_greater: One-sided exact p for the same.
        method: `mcnemar`.
    """

    fixed: int
    broken: int
    p_mid: float
    p_exact: float
    p_mid_greater: float
    p_exact_greater: float
    method: str = "mcnemar"

    @property
    def n(self) -> int:
        """Cases that differ; the others say nothing about the direction."""
        return self.fixed + self.broken

    def describe(self) -> str:
        """Return the test in words."""
        if self.n == 0:
            return "No case changed between the arms, so there is nothing to test (p = 1)."
        return (
            f"{self.fixed:,} fixed against {self.broken:,} broken: if a change were as likely to "
            f"break a case as to fix it, a split this uneven would come up {self.p_mid:.2g} of "
            f"the time (McNemar, mid-p; exact p {self.p_exact:.2g})."
        )


def mcnemar(fixed: int, broken: int) -> McNemar:
    """Test whether fixed and broken cases are equally likely.

    Formula: fixed ~ Binomial(fixed + broken, 1/2); two-sided p = 2 P(X >= max), mid-p takes
    P(X = max) off; an even split has p = 1 and mid-p 1 - P(X = fixed)/2. Source: McNemar 1947,
    Psychometrika 12:153; mid-p: Fagerland, Lydersen & Laake 2013, BMC Med Res Methodol 13:91.

    Use it for pass/fail with one trial an arm. It lies when cases are clustered or a case has
    several trials: use the sign-flip test then.

    Raises:
        ArgumentError: a count is negative or fractional.
    """
    up, down = check_count("fixed", fixed), check_count("broken", broken)
    m = up + down
    if m == 0:
        return McNemar(0, 0, 1.0, 1.0, 1.0, 1.0)
    larger = max(up, down)
    tail, point = binomial_sf(larger, m, 0.5), binomial_pmf(larger, m, 0.5)
    greater = binomial_sf(up, m, 0.5)
    return McNemar(
        fixed=up,
        broken=down,
        p_mid=1.0 - 0.5 * point if up == down else 2.0 * tail - point,
        p_exact=min(1.0, 2.0 * tail),
        p_mid_greater=greater - 0.5 * point,
        p_exact_greater=greater,
    )
