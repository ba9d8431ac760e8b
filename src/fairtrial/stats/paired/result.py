"""What every procedure on paired differences returns."""

from __future__ import annotations

from dataclasses import dataclass

from fairtrial.stats.interval import Interval, PValue


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """A mean difference, candidate less baseline; positive is better.

    Attributes:
        estimate: The plain mean over cases; None without cases.
        interval: None when it is undefined; `reason` says why.
        p: The p-value the verdict uses, two-sided; None when the procedure has no test.
        n: Cases.
        clusters: Independent clusters; equals `n` without clustering.
        level: Confidence level.
        method: The procedure.
        reason: Why this procedure, or why something is undefined.
        se: Standard error, where the procedure has one.
        centre: Middle of the interval, where it differs from the estimate.
        p_exact: The exact (not mid-p) p-value, where both exist.
        p_greater: The one-sided p-value for "the candidate is better".
        seed: Seed of random draws; None when nothing was drawn.
    """

    estimate: float | None
    interval: Interval | None
    p: PValue | None
    n: int
    clusters: int
    level: float
    method: str
    reason: str = ""
    se: float | None = None
    centre: float | None = None
    p_exact: PValue | None = None
    p_greater: PValue | None = None
    seed: int | None = None

    def describe(self) -> str:
        """Return the difference in words."""
        if self.estimate is None:
            return f"No difference can be given: {self.reason}."
        cases = (
            f"{self.n:,} cases"
            if self.clusters == self.n
            else (f"{self.n:,} cases in {self.clusters:,} clusters")
        )
        words = [f"Over {cases} the candidate scores {self.estimate:+.4g} on average."]
        if self.interval is None:
            words.append(f"No interval: {self.reason}.")
        else:
            words.append(f"The true difference is plausibly {self.interval.describe()}.")
        if self.p is not None:
            words.append(f"{self.p.describe().capitalize()}.")
        return " ".join(words)
