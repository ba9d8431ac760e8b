"""Regression to the mean: what rerunning the failures gains without any change."""

from __future__ import annotations

from dataclasses import dataclass

from fairtrial.stats.checks import check_at_least, check_count


@dataclass(frozen=True, slots=True)
class ApparentGain:
    """The pass rate an unchanged agent shows on cases it was selected for failing.

    Attributes:
        estimate: The gain that is none.
        trials: Trials that all failed in the selecting run.
        method: `beta cases`.
    """

    estimate: float
    trials: int
    method: str = "beta cases"

    def describe(self) -> str:
        """Return the gain in words."""
        return (
            f"Rerunning the cases that failed all of {self.trials:,} trials would pass "
            f"{100 * self.estimate:.0f} % of them without any change: the selecting run was "
            "unlucky on some."
        )


def failing_subset_gain(beta_a: float, beta_b: float, trials: int = 1) -> ApparentGain:
    """Return the expected gain on cases that failed all their trials, when nothing changed.

    Formula: a/(a + b + k) for cases whose pass chances are Beta(a, b). Source: the mean of the
    beta posterior; it is exact for that population.

    Use it to refuse a comparison with the run that selected the cases. It lies as far as real
    suites are not beta; the way out is a control arm on the same subset.

    Raises:
        ArgumentError: a shape is not positive, or trials is no count.
    """
    a = check_at_least("beta_a", beta_a, 1e-12)
    b = check_at_least("beta_b", beta_b, 1e-12)
    k = check_count("trials", trials, 1)
    return ApparentGain(a / (a + b + k), k)
