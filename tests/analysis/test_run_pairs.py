"""From recorded runs to what changed between two commands."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import wilcoxon
from statsmodels.stats.multitest import multipletests

from fairtrial.analysis.measured import CONSTANT, MOSTLY, Correction, Size
from fairtrial.analysis.run_pairs import Changes, Wanted, changes_of, pairs_needed, pairs_of
from fairtrial.model.trial import Trial, TrialKey
from fairtrial.model.verdict import Cause, Verdict

ARMS = ("base", "cand")
ALL = Wanted()


def run(pair: int, arm: str, metrics: Mapping[str, float] | None, output: Any = None) -> Trial:
    """Return one run; without metrics it failed."""
    failed = metrics is None
    return Trial(
        key=TrialKey(f"pair-{pair:03}", "default", arm, 1),
        verdict=Verdict.FAILED if failed else Verdict.PASSED,
        cause=Cause.TASK if failed else None,
        reason="exit status 1" if failed else None,
        score=None,
        scores=(),
        output=output,
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
        duration_s=1.0,
        tries=1,
        seed=1,
        metrics=metrics or {},
    )


def changes(a: Mapping[str, Any], b: Mapping[str, Any], wanted: Wanted = ALL) -> Changes:
    """Return what changed between two arms, given as values a metric."""
    n = len(next(iter(a.values())))
    trials = [
        run(pair, arm, {name: float(values[pair]) for name, values in of.items()})
        for pair in range(n)
        for arm, of in zip(ARMS, (a, b), strict=True)
    ]
    return changes_of(pairs_of(trials, ARMS), ARMS, wanted)


@pytest.mark.parametrize(("correction", "method"), [("holm", "holm"), ("bh", "fdr_bh")])
def test_p_values_are_those_of_scipy_and_statsmodels(correction: Correction, method: str) -> None:
    draws = np.random.default_rng(3)
    a = {name: np.exp(draws.normal(0, 0.1, 14)) for name in ("x", "y", "z")}
    b = {
        name: a[name] * np.exp(draws.normal(shift, 0.1, 14))
        for name, shift in (("x", 0.0), ("y", 0.06), ("z", 0.3))
    }
    found = changes(a, b, Wanted(correction=correction)).metrics
    raw = [wilcoxon(np.log(b[m.name] / a[m.name]), method="exact").pvalue for m in found]
    told = [m.change.change.p.value for m in found if m.change.change.p is not None]
    assert told == pytest.approx(raw)
    adjusted = [m.change.p_adjusted for m in found]
    assert adjusted == pytest.approx(multipletests(raw, method=method)[1].tolist())
    plain = changes(a, b, Wanted(correction="none")).metrics
    assert [m.change.p_adjusted for m in plain] == told


def test_a_ratio_where_all_are_positive_else_a_difference() -> None:
    ones = [1.0 + n / 100 for n in range(8)]
    found = changes(
        {"seconds": ones, "balance": [0.0, *ones[1:]]},
        {"seconds": [2 * v for v in ones], "balance": [v + 3 for v in [0.0, *ones[1:]]]},
        Wanted(higher=("bal*",)),
    )
    seconds, balance = found.metrics
    assert (seconds.change.change.scale, balance.change.change.scale) == ("ratio", "difference")
    assert seconds.change.change.estimate == pytest.approx(2.0)
    assert balance.change.change.estimate == pytest.approx(3.0)
    assert (seconds.change.verdict, balance.change.verdict) == ("worse", "better")
    assert seconds.a is not None
    assert (seconds.a.lowest, seconds.a.highest) == (1.0, 1.07)


def test_a_pair_with_a_failed_run_is_dropped_and_counted() -> None:
    trials = [run(p, arm, {"ms": 1.0}) for p in range(4) for arm in ARMS]
    trials += [run(4, "base", None), run(4, "cand", {"ms": 9.0}), run(5, "base", {"ms": 9.0})]
    pairs = pairs_of(trials, ARMS)
    assert (len(pairs.runs), pairs.dropped, pairs.unfinished) == (4, 1, 1)
    assert pairs.failures["base"].count == 1
    assert pairs.failures["base"].first_reason == "exit status 1"
    assert pairs.failures["cand"].count == 0


def test_a_metric_may_be_missing_or_stand_in_one_arm_only() -> None:
    trials = []
    for pair in range(8):
        some = {"p95": 5.0} if pair % 2 else {}
        trials.append(run(pair, "base", {"ms": 1.0, "old": 1.0, **some}, {"p95": "NaN"}))
        trials.append(run(pair, "cand", {"ms": 2.0, "p95": 4.0}))
    pairs = pairs_of(trials, ARMS)
    found = changes_of(pairs, ARMS, Wanted())
    assert found.one_sided == {"old": "base"}
    assert {m.name: (m.change.change.n, m.missing) for m in found.metrics} == {
        "ms": (8, 0),
        "p95": (4, 4),
    }
    assert pairs.not_numbers == {"p95": 4}
    only = changes_of(pairs, ARMS, Wanted(only=("m?",)))
    assert [m.name for m in only.metrics] == ["ms"]
    assert only.one_sided == {}


def test_patterns_that_match_nothing_are_told() -> None:
    assert Wanted(("p9*", "m?"), ("score",)).unmatched(["ms", "p95"]) == ["score"]


@pytest.mark.parametrize(
    ("metrics", "correction", "needed"),
    [(1, "holm", 6), (2, "holm", 7), (4, "holm", 8), (4, "bh", 6), (4, "none", 6), (0, "holm", 6)],
)
def test_the_fewest_pairs_of_a_verdict(metrics: int, correction: Correction, needed: int) -> None:
    assert pairs_needed(metrics, correction) == needed
    if metrics:
        better = {f"m{n}": [0.5] * needed for n in range(metrics)}
        before = {f"m{n}": [1.0] * needed for n in range(metrics)}
        found = changes(before, better, Wanted(correction=correction))
        assert {m.change.verdict for m in found.metrics} == {"better"}
        short = changes(
            {name: v[1:] for name, v in before.items()},
            {name: v[1:] for name, v in better.items()},
            Wanted(correction=correction),
        )
        assert {m.change.verdict for m in short.metrics} == {"inconclusive"}


def hodges_lehmann_by_definition(d: npt.NDArray[np.float64]) -> tuple[float, float, float]:
    """Return the median of all averages of two, and Wilcoxon's interval by scipy's counts."""
    walsh = np.sort([(d[i] + d[j]) / 2 for i in range(d.size) for j in range(i, d.size)])
    # The exact null distribution of the signed-rank sum, by listing all signs.
    signs = np.array(list(product((0, 1), repeat=d.size)))
    sums = signs @ np.arange(1, d.size + 1)
    k = next(k for k in range(walsh.size) if np.mean(sums <= k) >= 0.025)
    return float(np.median(walsh)), float(walsh[k - 1]), float(walsh[walsh.size - k])


def test_ratio_and_difference_have_intervals_of_their_own() -> None:
    draws = np.random.default_rng(8)
    a = np.exp(draws.normal(0, 0.3, 10))
    b = a * np.exp(draws.normal(0.2, 0.1, 10))
    (found,) = changes({"x": a}, {"x": b}).metrics
    for size, expected in (
        (found.change.difference, hodges_lehmann_by_definition(b - a)),
        (found.change.ratio, tuple(np.exp(hodges_lehmann_by_definition(np.log(b / a))))),
    ):
        assert size.interval is not None
        told = (size.estimate, size.interval.lower, size.interval.upper)
        assert told == pytest.approx(expected)
    assert found.change.tested == found.change.ratio


def test_without_a_ratio_the_difference_is_tested() -> None:
    (found,) = changes({"x": range(8)}, {"x": range(1, 16, 2)}).metrics
    assert found.change.change.scale == "difference"
    assert found.change.ratio.estimate is None
    assert "there is no ratio" in found.change.ratio.reason
    assert found.change.tested == found.change.difference
    assert found.change.difference.interval is not None


def said(size: Size) -> tuple[Any, ...]:
    return size.estimate, size.interval, size.reason


def test_equal_changes_have_no_interval_on_their_scale_alone() -> None:
    values = np.arange(1.0, 9.0)
    (doubled,) = changes({"x": values}, {"x": 2 * values}).metrics
    assert said(doubled.change.ratio) == (pytest.approx(2.0), None, CONSTANT)
    assert doubled.change.difference.interval is not None
    (shifted,) = changes({"x": values / 10}, {"x": values / 10 + 0.3}).metrics
    # 0.1 + 0.3 - 0.1 and 0.7 + 0.3 - 0.7 differ in the last digit.
    assert said(shifted.change.difference) == (pytest.approx(0.3), None, CONSTANT)
    assert shifted.change.ratio.interval is not None
    many = np.arange(1.0, 21.0)
    (mostly,) = changes({"x": many}, {"x": np.where(many < 2, many + 1, many)}).metrics
    assert said(mostly.change.ratio) == (1.0, None, MOSTLY)
    (single,) = changes({"x": [1.0]}, {"x": [2.0]}).metrics
    assert said(single.change.ratio) == (pytest.approx(2.0), None, "one pair has no interval")
