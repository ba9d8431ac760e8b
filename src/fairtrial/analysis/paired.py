"""Which interval and which test a paired comparison gets, and its verdict."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from fairtrial.analysis.cases import PairedCases
from fairtrial.model.delta import Direction
from fairtrial.stats.checks import check_level
from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.interval import Interval, PValue
from fairtrial.stats.paired.bootstrap import bootstrap_mean
from fairtrial.stats.paired.constant import constant_interval
from fairtrial.stats.paired.counts import PairedCounts
from fairtrial.stats.paired.hodges_lehmann import hodges_lehmann
from fairtrial.stats.paired.mcnemar import mcnemar
from fairtrial.stats.paired.newcombe import newcombe
from fairtrial.stats.paired.result import PairedDifference
from fairtrial.stats.paired.sign_flip import sign_flip
from fairtrial.stats.paired.student import cluster_t, guarded_t
from fairtrial.stats.paired.tango import tango

Ci = Literal["auto", "tango", "newcombe", "guarded-t", "t", "bootstrap"]


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """A paired comparison with its verdict.

    Attributes:
        difference: Estimate, interval and p-values; says which method and why.
        verdict: Better or worse needs both: an interval without 0, and p at most 1 - level.
        counts: The two-by-two table, for pass/fail with one trial an arm; else None.
        warnings: What to beware of.
    """

    difference: PairedDifference
    verdict: Direction
    counts: PairedCounts | None = None
    warnings: tuple[str, ...] = ()

    @property
    def interval(self) -> Interval | None:
        """The interval of the difference."""
        return self.difference.interval

    @property
    def p(self) -> PValue | None:
        """The p-value the verdict uses."""
        return self.difference.p

    def describe(self) -> str:
        """Return the comparison in words."""
        headline = {
            Direction.BETTER: "Better: more than luck explains.",
            Direction.WORSE: "Worse: more than luck explains.",
            Direction.INCONCLUSIVE: "Inconclusive: luck may explain it.",
        }[self.verdict]
        parts = [headline, self.difference.describe()]
        if self.difference.reason and self.difference.interval is not None:
            parts.append(f"Chosen because {self.difference.reason}.")
        parts += [f"Beware: {warning}." for warning in self.warnings]
        return " ".join(parts)


def paired(
    cases: PairedCases, *, ci: Ci = "auto", level: float = 0.95, seed: int = 0
) -> PairedComparison:
    """Compare two arms on the cases they share.

    With `auto`: pass/fail with one trial an arm and no clusters gets Tango's interval and
    McNemar's test; pass/fail with several trials or clusters the guarded t and the sign-flip
    test; graded scores t (or, where all differences are equal, the rule of three) and the
    sign-flip test. The result says which and why.

    Args:
        cases: The shared cases.
        ci: `auto`, or the interval to use instead.
        level: Confidence level; the test's error is one less it.
        seed: Seed of draws, where something has to be drawn.

    Raises:
        ArgumentError: the interval does not fit the data, or an argument is out of range.
    """
    check_level(level)
    if cases.n == 0:
        empty = PairedDifference(None, None, None, 0, 0, level, "none", "the arms share no case")
        return PairedComparison(empty, Direction.INCONCLUSIVE)
    counts = _counts(cases)
    found = _interval(cases, counts, ci, level, seed)
    if found.interval is not None and cases.score_range is not None:
        clipped = found.interval.clipped(-cases.score_range, cases.score_range)
        found = replace(found, interval=clipped)
    found = _tested(found, cases, counts, seed)
    return PairedComparison(found, _verdict(found), counts, _warnings(cases, found))


def _counts(cases: PairedCases) -> PairedCounts | None:
    if not (cases.binary and cases.single and cases.clusters is None):
        return None
    a, b = cases.baseline > 0.5, cases.candidate > 0.5
    both, fixed, broken = int((a & b).sum()), int((b & ~a).sum()), int((a & ~b).sum())
    return PairedCounts(both, fixed, broken, cases.n - both - fixed - broken)


def _interval(
    cases: PairedCases, counts: PairedCounts | None, ci: Ci, level: float, seed: int
) -> PairedDifference:
    if ci == "auto":
        return _automatic(cases, counts, level)
    asked = "it was asked for"
    if ci in ("tango", "newcombe"):
        if counts is None:
            raise ArgumentError(
                "ci", f"{ci} needs pass/fail cases with one trial an arm and no clusters"
            )
        found = (tango if ci == "tango" else newcombe)(counts, level)
    elif ci == "guarded-t":
        found = guarded_t(cases.d, trials=cases.trials, clusters=cases.clusters, level=level)
    elif ci == "t":
        found = cluster_t(cases.d, clusters=cases.clusters, level=level)
    elif ci == "bootstrap":
        return _bootstrapped(cases, level, seed)
    else:
        raise ArgumentError("ci", f"is no known interval: {ci!r}")
    return replace(found, reason=found.reason or asked)


def _automatic(cases: PairedCases, counts: PairedCounts | None, level: float) -> PairedDifference:
    if counts is not None:
        why = "results are pass/fail with one trial an arm, where the score interval covers best"
        return replace(tango(counts, level), reason=why)
    if cases.binary:
        found = guarded_t(cases.d, trials=cases.trials, clusters=cases.clusters, level=level)
        what = (
            "cases come in clusters" if cases.clusters is not None else "a case has several trials"
        )
        return replace(found, reason=found.reason or f"results are pass/fail and {what}")
    found = cluster_t(cases.d, clusters=cases.clusters, level=level)
    if found.interval is not None:
        return replace(found, reason="scores are graded")
    equal = found.clusters >= 2 and float(np.ptp(cases.d)) == 0.0
    if equal and cases.score_range is not None and found.estimate is not None:
        interval = constant_interval(
            found.estimate, found.clusters, score_range=cases.score_range, level=level
        )
        why = "all differences are equal, so only a bound on unlike cases is known"
        return replace(found, interval=interval, method=interval.method, reason=why)
    return found


def _bootstrapped(cases: PairedCases, level: float, seed: int) -> PairedDifference:
    found = bootstrap_mean(cases.d, clusters=cases.clusters, level=level, seed=seed)
    interval, reason = found.interval, found.reason.rstrip(".")
    if interval is not None and interval.lower == interval.upper:
        # Whatever is redrawn from equal differences is equal again: that is no certainty.
        interval, reason = None, "all differences are equal, so their spread is unknown, not zero"
    reason = reason or f"it was asked for ({found.method})"
    return PairedDifference(
        found.estimate,
        interval,
        None,
        found.n,
        found.clusters,
        level,
        "expanded percentile bootstrap",
        reason,
        seed=found.seed,
    )


def _tested(
    found: PairedDifference, cases: PairedCases, counts: PairedCounts | None, seed: int
) -> PairedDifference:
    if counts is not None:
        test = mcnemar(counts.fixed, counts.broken)
        return replace(
            found,
            p=PValue("mcnemar mid-p", test.p_mid),
            p_exact=PValue("mcnemar exact", test.p_exact),
            p_greater=PValue("mcnemar mid-p", test.p_mid_greater),
        )
    flips = sign_flip(cases.d, clusters=cases.clusters, seed=seed)
    return replace(
        found,
        p=PValue(f"sign-flip mid-p, {flips.method}", flips.p_mid, flips.seed),
        p_exact=PValue(f"sign-flip, {flips.method}", flips.p_exact, flips.seed),
        p_greater=PValue(f"sign-flip mid-p, {flips.method}", flips.p_mid_greater, flips.seed),
        seed=found.seed if found.seed is not None else flips.seed,
    )


def _verdict(found: PairedDifference) -> Direction:
    clear = found.interval is not None and found.interval.excludes(0.0)
    if found.estimate is None or found.p is None or not clear:
        return Direction.INCONCLUSIVE
    if found.p.value > 1.0 - found.level + 1e-12 or found.n < 2:
        return Direction.INCONCLUSIVE
    return Direction.BETTER if found.estimate > 0.0 else Direction.WORSE


def _warnings(cases: PairedCases, found: PairedDifference) -> tuple[str, ...]:
    if cases.clusters is not None and found.clusters < 8:
        return (f"only {found.clusters} clusters: the interval is rough below 8",)
    return ()


def extra_columns(cases: PairedCases, *, level: float = 0.95) -> dict[str, PairedDifference]:
    """Return the optional columns: the t interval, and Hodges-Lehmann with Wilcoxon's test."""
    return {
        "t": cluster_t(cases.d, clusters=cases.clusters, level=level),
        "wilcoxon": hodges_lehmann(cases.d, level=level),
    }
