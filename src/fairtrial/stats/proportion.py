"""One pass rate and its interval."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from fairtrial.stats.checks import check_at_least, check_count, check_level
from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.interval import Interval
from fairtrial.stats.tails import beta_quantile, normal_quantile, t_quantile


@dataclass(frozen=True, slots=True)
class Rate:
    """A pass rate: the mean over cases of the share of a case's trials that passed.

    Attributes:
        estimate: In [0, 1]; None when no trial was decided.
        interval: None when there is no estimate, or none that could be trusted.
        n: Cases with at least one decided trial; the unit of the interval.
        trials: Their decided trials.
        method: How the interval was made.
        reason: Why this method, or why there is no estimate.
        n_effective: Independent cases the data are worth, where Wilson was used with fewer or
            more than `n`.
        clusters: Independent clusters; None when cases are independent.
    """

    estimate: float | None
    interval: Interval | None
    n: int
    trials: int
    method: str
    reason: str
    n_effective: float | None = None
    clusters: int | None = None

    def describe(self) -> str:
        """Return the rate in words."""
        if self.estimate is None or self.interval is None:
            if self.estimate is None:
                return f"No pass rate: {self.reason}."
            return f"{100 * self.estimate:.1f} % of {self.n:,} cases passed; {self.reason}."
        low, high = 100 * self.interval.lower, 100 * self.interval.upper
        return (
            f"{100 * self.estimate:.1f} % of {self.n:,} cases passed; the rate behind it is "
            f"plausibly between {low:.1f} % and {high:.1f} % ({self.method})."
        )


def wilson(successes: float, n: float, level: float = 0.95) -> Interval:
    """Return Wilson's score interval for a proportion.

    Formula: the p with |successes/n - p| <= z sqrt(p (1-p) / n). Source: Wilson 1927, JASA 22:209.

    Use it for independent yes/no results. It lies when the results are not independent, e.g. when
    several trials of one case are counted as several cases; then pass an effective n.

    Args:
        successes: How many of the n; may be fractional when n is an effective number.
        n: How many; positive, may be fractional.
        level: Confidence level.

    Raises:
        ArgumentError: n is not positive, successes is outside [0, n], or level outside (0, 1).
    """
    check_level(level)
    size = check_at_least("n", n, 0.0)
    if size == 0.0:
        raise ArgumentError("n", "must be positive: a proportion of nothing is undefined")
    hits = check_at_least("successes", successes, 0.0)
    if hits > size:
        raise ArgumentError("successes", f"must be at most n = {n!r}, not {successes!r}")
    z = normal_quantile(0.5 + 0.5 * level)
    p = hits / size
    shrink = 1.0 + z * z / size
    centre = (p + 0.5 * z * z / size) / shrink
    half = z * math.sqrt(p * (1.0 - p) / size + 0.25 * z * z / (size * size)) / shrink
    lower = 0.0 if hits == 0.0 else max(0.0, centre - half)
    upper = 1.0 if hits == size else min(1.0, centre + half)
    return Interval("wilson", level, lower, upper)


def clopper_pearson(successes: int, n: int, level: float = 0.95) -> Interval:
    """Return the exact interval of Clopper and Pearson for a proportion.

    Formula: the beta quantiles (alpha/2; x, n-x+1) and (1-alpha/2; x+1, n-x). Source: Clopper &
    Pearson 1934, Biometrika 26:404.

    Use it when coverage must never fall below the level; it is wider than need be otherwise. It
    lies when the results are not independent.

    Raises:
        ArgumentError: n is not a positive count, successes is no count in [0, n], or level is
            outside (0, 1).
    """
    check_level(level)
    size = check_count("n", n, 1)
    hits = check_count("successes", successes)
    if hits > size:
        raise ArgumentError("successes", f"must be at most n = {n!r}, not {successes!r}")
    tail = 0.5 * (1.0 - level)
    lower = 0.0 if hits == 0 else beta_quantile(tail, hits, size - hits + 1)
    upper = 1.0 if hits == size else beta_quantile(1.0 - tail, hits + 1, size - hits)
    return Interval("clopper-pearson", level, lower, upper)


def clopper_pearson_upper(successes: int, n: int, alpha: float = 0.05) -> float:
    """Return the exact one-sided upper bound of a proportion.

    Formula: the beta quantile (1-alpha; x+1, n-x); 1 when x = n. Source: Clopper & Pearson 1934.

    Use it to bound a harm, such as the share of solved cases that broke. It is conservative.
    """
    return clopper_pearson(successes, n, 1.0 - 2.0 * alpha).upper


def pass_rate(counts: Mapping[tuple[int, int], int], level: float = 0.95) -> Rate:
    """Return the pass rate over cases, from how many cases had which counts.

    The estimate is the plain mean of the cases' own rates, so each case weighs the same. One
    trial a case: Wilson over cases. Several: t over the case means, because trials of one case
    are not independent. Where the t interval would leave [0, 1], or all means are equal, Wilson
    at an effective n stands in: p (1-p) / var(mean), at most the number of trials, corrected for
    its own uncertainty by (z/t)^2 (Korn & Graubard 1998, Survey Methodology 24:193); at exactly 0
    or 1 the number of cases, as if a case's trials were copies of each other.

    It lies when cases are not independent of each other (several from one repository); then use
    clusters.

    Args:
        counts: (passed trials, decided trials) of a case -> how many cases have these counts.
            Cases without a decided trial are left out: undecided is not failed.
        level: Confidence level.

    Raises:
        ArgumentError: a count is negative or fractional, or passed exceeds decided.
    """
    check_level(level)
    seen = {key: cases for key, cases in _checked(counts).items() if cases and key[1]}
    n = sum(seen.values())
    trials = sum(decided * cases for (_, decided), cases in seen.items())
    if n == 0:
        return Rate(None, None, 0, 0, "none", "no trial was decided")
    mean = math.fsum(cases * passed / decided for (passed, decided), cases in seen.items()) / n
    if trials == n:
        passes = sum(cases for (passed, _), cases in seen.items() if passed)
        return Rate(mean, wilson(passes, n, level), n, trials, "wilson", "one decided trial a case")
    squares = math.fsum(
        cases * (passed / decided - mean) ** 2 for (passed, decided), cases in seen.items()
    )
    return _rate_of_several(mean, 0.0 if _all_alike(seen) else squares, (n, trials), level)


def _checked(counts: Mapping[tuple[int, int], int]) -> Mapping[tuple[int, int], int]:
    for (passed, decided), cases in counts.items():
        check_count("counts", cases)
        check_count("counts", passed)
        check_count("counts", decided)
        if passed > decided:
            raise ArgumentError("counts", f"{passed} passed of {decided} decided trials")
    return counts


def _all_alike(counts: Mapping[tuple[int, int], int]) -> bool:
    first_passed, first_decided = next(iter(counts))
    return all(passed * first_decided == first_passed * decided for passed, decided in counts)


def _rate_of_several(mean: float, squares: float, size: tuple[int, int], level: float) -> Rate:
    n, trials = size
    name = "wilson at an effective n"
    all_alike = "every case has the same rate, so each counts once, whatever its trials"
    if n == 1 or squares == 0.0:
        interval = wilson(mean * n, n, level)
        reason = "one case only, which counts once" if n == 1 else all_alike
        return Rate(mean, interval, n, trials, name, reason, float(n))
    variance = squares / (n - 1) / n
    t = t_quantile(0.5 + 0.5 * level, n - 1)
    half = t * math.sqrt(variance)
    if mean - half >= 0.0 and mean + half <= 1.0:
        interval = Interval("cluster t", level, mean - half, mean + half)
        reason = "several trials a case: the case is the unit"
        return Rate(mean, interval, n, trials, "cluster t", reason)
    z = normal_quantile(0.5 + 0.5 * level)
    effective = min(float(trials), mean * (1.0 - mean) / variance) * (z / t) ** 2
    interval = wilson(mean * effective, effective, level)
    reason = "close to 0 or 1, where a symmetric interval would leave the possible range"
    return Rate(mean, interval, n, trials, name, reason, effective)
