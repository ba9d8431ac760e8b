"""pass@k, pass^k and Seq@k: success when there are several tries."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairtrial.stats.checks import check_count, check_level
from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.interval import Interval
from fairtrial.stats.paired.student import cluster_t
from fairtrial.stats.proportion import wilson


def pass_at_k(n: int, c: int, k: int) -> float | None:
    """Return the chance that at least one of k trials passes, from c passes in n trials.

    Formula: 1 - C(n-c, k)/C(n, k), as a product, so it never overflows; None when k > n. Source:
    Chen et al. 2021, arXiv:2107.03374.

    Use it when the best of k answers can be told, e.g. by tests. It lies when nobody can tell.

    Raises:
        ArgumentError: counts are out of range.
    """
    n, c, k = _checked(n, c, k)
    if k > n:
        return None
    if k > n - c:
        return 1.0
    return 1.0 - math.prod(1.0 - k / i for i in range(n - c + 1, n + 1))


def pass_hat_k(n: int, c: int, k: int) -> float | None:
    """Return the chance that all of k trials pass, from c passes in n trials.

    Formula: C(c, k)/C(n, k), as a product; None when k > n. Source: Yao et al. 2024 (tau-bench),
    arXiv:2406.12045.

    Use it for reliability. It lies for n not well above k: its variance is large.

    Raises:
        ArgumentError: counts are out of range.
    """
    n, c, k = _checked(n, c, k)
    if k > n:
        return None
    return math.prod((c - i) / (n - i) for i in range(k)) if c >= k else 0.0


def _checked(n: int, c: int, k: int) -> tuple[int, int, int]:
    size, hits, tries = check_count("n", n, 1), check_count("c", c), check_count("k", k, 1)
    if hits > size:
        raise ArgumentError("c", f"must be at most n = {size}, not {hits}")
    return size, hits, tries


@dataclass(frozen=True, slots=True)
class SuiteValue:
    """A per-case quantity averaged over a suite.

    Attributes:
        name: e.g. `pass@3`.
        estimate: Mean over the cases that have it; None when none has.
        interval: t over cases, cut to [0, 1]; None where undefined.
        n: Cases that have it.
        n_total: All cases.
        level: Confidence level.
        method: `t over cases` or `wilson`.
        reason: Why something is undefined.
    """

    name: str
    estimate: float | None
    interval: Interval | None
    n: int
    n_total: int
    level: float
    method: str
    reason: str = ""

    def describe(self) -> str:
        """Return the value in words."""
        if self.estimate is None:
            return f"{self.name} is undefined: {self.reason}."
        spread = "" if self.interval is None else f", plausibly {self.interval.describe()}"
        return (
            f"{self.name} is {self.estimate:.4g} over {self.n:,} of {self.n_total:,} cases{spread}."
        )


@dataclass(frozen=True, slots=True)
class PassMetrics:
    """pass@k and pass^k of a suite.

    Attributes:
        at: pass@k by k.
        hat: pass^k by k.
        flaky: Cases with some trials passed and some failed.
        n: Cases.
    """

    at: dict[int, SuiteValue]
    hat: dict[int, SuiteValue]
    flaky: int
    n: int

    def describe(self) -> str:
        """Return the metrics in words."""
        values = [*self.at.values(), *self.hat.values()]
        return " ".join(
            [*(v.describe() for v in values), f"{self.flaky:,} of {self.n:,} cases are flaky."]
        )


def pass_metrics(
    counts: Sequence[tuple[int, int]], ks: Sequence[int], *, level: float = 0.95
) -> PassMetrics:
    """Return pass@k and pass^k averaged over cases.

    Formula: the mean over cases with at least k trials; t interval over cases, because trials of
    one case are not independent.

    Args:
        counts: (trials, passes) of each case.
        ks: The k to report.
        level: Confidence level.

    Raises:
        ArgumentError: counts are out of range.
    """
    check_level(level)
    at: dict[int, SuiteValue] = {}
    hat: dict[int, SuiteValue] = {}
    for k in ks:
        at[k] = _over_cases(f"pass@{k}", [pass_at_k(n, c, k) for n, c in counts], level)
        hat[k] = _over_cases(f"pass^{k}", [pass_hat_k(n, c, k) for n, c in counts], level)
    flaky = sum(0 < c < n for n, c in counts)
    return PassMetrics(at, hat, flaky, len(counts))


def _over_cases(name: str, values: Sequence[float | None], level: float) -> SuiteValue:
    known = [value for value in values if value is not None]
    method = "t over cases"
    if not known:
        reason = "no case has that many trials"
        return SuiteValue(name, None, None, 0, len(values), level, method, reason)
    found = cluster_t(np.array(known), level=level)
    interval = None
    if found.interval is not None:
        interval = Interval(method, level, found.interval.lower, found.interval.upper)
        interval = interval.clipped(0.0, 1.0)
    return SuiteValue(
        name, found.estimate, interval, len(known), len(values), level, method, found.reason
    )


def seq_at_k(
    attempts: Sequence[Sequence[bool | int]], most: int, *, level: float = 0.95
) -> tuple[SuiteValue, ...]:
    """Return the share of cases solved within the first k attempts, for k = 1 … most.

    Formula: a direct count; Wilson interval, one case one result. Seq@1 is the pass rate.

    Use it when each attempt sees what went wrong before. It lies if attempts stop for another
    reason than success or the limit.

    Args:
        attempts: For each case its attempts in order, true where solved.
        most: The largest k.
        level: Confidence level.

    Raises:
        ArgumentError: most is below 1.
    """
    check_level(level)
    limit = check_count("most", most, 1)
    n = len(attempts)
    values = []
    for k in range(1, limit + 1):
        name = f"seq@{k}"
        if n == 0:
            reason = "there are no cases"
            values.append(SuiteValue(name, None, None, 0, 0, level, "wilson", reason))
            continue
        solved = sum(any(case[:k]) for case in attempts)
        values.append(SuiteValue(name, solved / n, wilson(solved, n, level), n, n, level, "wilson"))
    return tuple(values)
