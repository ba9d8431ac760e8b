"""Adaptive sampling: two trials, and a third when they disagree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fairtrial.stats.checks import check_level, check_share
from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.interval import Interval
from fairtrial.stats.proportion import Rate, pass_rate, wilson


def needs_third(first: bool, second: bool) -> bool:  # noqa: FBT001  # two verdicts, no options
    """Return whether a third trial decides: the first two disagree."""
    return first != second


def adaptive_verdict(trials: Sequence[bool | int]) -> bool:
    """Return whether a case passes: more than half of its trials do.

    A missing third trial leaves one of two, which is a fail.

    Raises:
        ArgumentError: there is no trial.
    """
    if not trials:
        raise ArgumentError("trials", "needs at least one trial")
    return 2 * sum(bool(t) for t in trials) > len(trials)


@dataclass(frozen=True, slots=True)
class AdaptiveExpectation:
    """What adaptive sampling gives on average for a case that passes with chance p.

    Attributes:
        p_verdict: Chance that the verdict is pass.
        mean_of_trials: Mean over all its trials; biased, because the third is run on purpose.
        mean_of_first_two: Mean over the first two; equals p.
        method: `enumeration`.
    """

    p_verdict: float
    mean_of_trials: float
    mean_of_first_two: float
    method: str = "enumeration"

    def describe(self) -> str:
        """Return the bias in words."""
        return (
            f"A case that passes {100 * self.mean_of_first_two:.0f} % of the time gets the verdict "
            f"pass {100 * self.p_verdict:.0f} % of the time; averaging all its trials would say "
            f"{100 * self.mean_of_trials:.1f} %."
        )


def adaptive_expectation(p: float) -> AdaptiveExpectation:
    """Return verdict share and means of the two-plus-one rule for a pass chance p.

    Formula: verdict p²(3 - 2p); mean of trials p² + 2p(1-p)(1+p)/3; first two p. Ours, by
    enumeration of the eight outcomes.

    Raises:
        ArgumentError: p is outside [0, 1].
    """
    check_share("p", p)
    q = 1.0 - p
    return AdaptiveExpectation(
        p_verdict=p * p * (3.0 - 2.0 * p),
        mean_of_trials=p * p + 2.0 * p * q * (1.0 + p) / 3.0,
        mean_of_first_two=p,
    )


@dataclass(frozen=True, slots=True)
class AdaptiveSuite:
    """A suite sampled adaptively.

    Attributes:
        verdict_rate: Share of cases whose verdict is pass.
        interval: Wilson interval of it, one case one verdict; None without cases.
        pass_at_1: Pass rate from the first two trials of each case only, free of bias.
        n: Cases.
        trials: Trials that were run.
        level: Confidence level.
        method: `wilson`.
        reason: Why there is no rate.
    """

    verdict_rate: float | None
    interval: Interval | None
    pass_at_1: Rate
    n: int
    trials: int
    level: float
    method: str = "wilson"
    reason: str = ""

    def describe(self) -> str:
        """Return the suite's rates in words."""
        if self.verdict_rate is None or self.interval is None:
            return f"No verdicts: {self.reason}."
        return (
            f"{100 * self.verdict_rate:.1f} % of {self.n} cases have the verdict pass, plausibly "
            f"{self.interval.describe()}. {self.pass_at_1.describe()}"
        )


def verdict_share(counts: Mapping[tuple[int, int], int]) -> Rate:
    """Return the share of cases that most of their trials passed, without an interval.

    Args:
        counts: (passed trials, decided trials) of a case -> how many cases have these counts.
            Cases without a decided trial are left out.
    """
    seen = {shape: cases for shape, cases in counts.items() if shape[1]}
    n = sum(seen.values())
    if n == 0:
        return Rate(None, None, 0, 0, "none", "no trial was decided")
    passed = sum(cases for (passes, decided), cases in seen.items() if 2 * passes > decided)
    trials = sum(decided * cases for (_, decided), cases in seen.items())
    reason = "a third trial is run only where the first two disagree, so there is no interval"
    return Rate(passed / n, None, n, trials, "most trials", reason)


def adaptive_suite(cases: Sequence[Sequence[bool | int]], *, level: float = 0.95) -> AdaptiveSuite:
    """Return verdict share and unbiased pass@1 of an adaptively sampled suite.

    Formula: share of passing verdicts with Wilson; pass@1 over the first two trials of each case,
    since whether a third exists depends on the first two.

    Args:
        cases: For each case its trials in the order they ran.
        level: Confidence level.

    Raises:
        ArgumentError: a case has no trial.
    """
    check_level(level)
    counts: dict[tuple[int, int], int] = {}
    passed = 0
    for trials in cases:
        passed += adaptive_verdict(trials)
        first = [bool(t) for t in trials[:2]]
        key = (sum(first), len(first))
        counts[key] = counts.get(key, 0) + 1
    n, many = len(cases), sum(len(trials) for trials in cases)
    rate = pass_rate(counts, level)
    if n == 0:
        return AdaptiveSuite(None, None, rate, 0, 0, level, reason="there are no cases")
    return AdaptiveSuite(passed / n, wilson(passed, n, level), rate, n, many, level)
