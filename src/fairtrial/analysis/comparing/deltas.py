"""Deltas over the rows that count: overall, by grader, by slice, and of what a trial takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from fairtrial.analysis.arms import ArmComparison, compare_arms
from fairtrial.analysis.cases import PairedCases, paired_trials
from fairtrial.analysis.comparing.pairs import Flags, Pairs
from fairtrial.analysis.paired import PairedComparison
from fairtrial.model.columns import GraderColumns
from fairtrial.model.delta import Delta, Direction, Quantity, Slice, SmallestVisible
from fairtrial.stats.arrays import FloatArray
from fairtrial.stats.paired.student import cluster_t, guarded_t
from fairtrial.stats.power import smallest_effect

LEVEL = 0.95
MOST_SLICES = 100
"""Slices that are tested; each further one would cost the others power."""

Clusters = npt.NDArray[np.int64] | None


def cases_of(pairs: Pairs, where: Flags, clusters: Clusters) -> PairedCases:
    """Return the pass rates of some rows, ready for a comparison."""
    return paired_trials(*pairs.sums(where), clusters=None if clusters is None else clusters[where])


def delta_of(
    cases: PairedCases,
    found: PairedComparison,
    verdict: Direction,
    p_adjusted: float | None = None,
) -> Delta:
    """Return a comparison as plain numbers."""
    difference = found.difference
    interval, p = difference.interval, difference.p
    return Delta(
        a=float(cases.baseline.mean()) if cases.n else None,
        b=float(cases.candidate.mean()) if cases.n else None,
        estimate=difference.estimate,
        lower=interval.lower if interval else None,
        upper=interval.upper if interval else None,
        level=difference.level,
        method=difference.method,
        p=p.value if p else None,
        p_method=p.method if p else None,
        p_adjusted=p_adjusted,
        verdict=verdict,
        n=difference.n,
        clusters=difference.clusters,
        reason=difference.reason,
        seed=difference.seed,
    )


def grader_slices(pairs: Pairs, names: Sequence[str], clusters: Clusters) -> tuple[Slice, ...]:
    """Return the delta of each grader's mean, with Holm over all graders.

    Args:
        pairs: The shared rows.
        names: Graders that mean the same in both arms.
        clusters: One code a row; None when rows are independent.
    """
    cases = {name: _scored(pairs, name, clusters) for name in names}
    return _slices({("grader", name): found for name, found in cases.items()})


def _scored(pairs: Pairs, name: str, clusters: Clusters) -> PairedCases:
    first, second = pairs.rows.a.graders[name], pairs.rows.b.graders[name]
    a, b = scores_of(pairs, name)
    where = np.flatnonzero(~pairs.blocked & ~np.isnan(a) & ~np.isnan(b))
    # Drawn signs meet the same differences in whatever order the rows were stored.
    where = where[np.argsort(np.abs(b[where] - a[where]), kind="stable")]
    n = first.n + second.n
    rows = len(first.rows) + len(second.rows)
    bounded = min(first.lowest, second.lowest) >= 0.0 and max(first.highest, second.highest) <= 1.0
    return PairedCases(
        a[where],
        b[where],
        trials=n / rows if rows else 1.0,
        single=n == rows,
        binary=first.binary and second.binary,
        score_range=1.0 if bounded else None,
        clusters=None if clusters is None else clusters[where],
    )


def scores_of(pairs: Pairs, name: str) -> tuple[FloatArray, FloatArray]:
    """Return a grader's mean score of each shared row in both arms; NaN where there is none."""
    a = _spread(pairs.rows.a.graders[name], pairs.rows.a.n)[pairs.a.places]
    b = _spread(pairs.rows.b.graders[name], pairs.rows.b.n)[pairs.b.places]
    return a, b


def _spread(grader: GraderColumns, size: int) -> FloatArray:
    means = np.full(size, np.nan)
    means[np.asarray(grader.rows, dtype=np.intp)] = grader.means
    return means


def label_slices(pairs: Pairs, clusters: Clusters) -> tuple[tuple[Slice, ...], int]:
    """Return the pass-rate delta on each tag, split and condition, and how many were left out."""
    places = _labelled(pairs)
    order = sorted(places, key=lambda label: (-len(places[label]), label))
    kept = sorted(order[:MOST_SLICES])
    cases = {}
    for label in kept:
        where = np.zeros(pairs.codes.size, dtype=np.bool_)
        where[places[label]] = True
        cases[label] = cases_of(pairs, where, clusters)
    return _slices(cases), len(order) - len(kept)


def _labelled(pairs: Pairs) -> Mapping[tuple[str, str], list[int]]:
    """Return the positions of each label's rows; a condition counts when there are several."""
    rows = pairs.rows
    several = len(set(rows.a.conditions)) > 1
    found: dict[tuple[str, str], list[int]] = {}
    if not rows.labels and not several:
        return found
    for position in np.flatnonzero(pairs.counted).tolist():
        key = pairs.key(position)
        labels = rows.labels.get(key)
        if several:
            found.setdefault(("condition", key.condition), []).append(position)
        if labels is None:
            continue
        if labels.split is not None:
            found.setdefault(("split", labels.split), []).append(position)
        for tag in dict.fromkeys(labels.tags):
            found.setdefault(("tag", tag), []).append(position)
    return found


def _slices(cases: Mapping[tuple[str, str], PairedCases]) -> tuple[Slice, ...]:
    names = {f"{number}": label for number, label in enumerate(cases)}
    compared: Mapping[str, ArmComparison] = compare_arms(
        {number: cases[label] for number, label in names.items()}, level=LEVEL
    )
    return tuple(
        Slice(
            *label,
            delta_of(
                cases[label],
                compared[number].comparison,
                compared[number].verdict,
                compared[number].p_adjusted,
            ),
        )
        for number, label in names.items()
    )


def quantities(pairs: Pairs, clusters: Clusters) -> tuple[Quantity, ...]:
    """Return how cost, tokens and duration of a trial changed, over rows known on both sides."""
    a, b = pairs.rows.a, pairs.rows.b
    columns: tuple[tuple[str, str, Sequence[float | None], Sequence[float | None]], ...] = (
        ("cost", "usd", a.costs, b.costs),
        ("tokens", "tokens", a.tokens, b.tokens),
        ("duration", "s", a.durations, b.durations),
    )
    found = []
    for name, unit, before, after in columns:
        first = np.array(before, dtype=np.float64)[pairs.a.places]
        second = np.array(after, dtype=np.float64)[pairs.b.places]
        known = ~pairs.blocked & ~np.isnan(first) & ~np.isnan(second)
        chosen = None if clusters is None else clusters[known]
        found.append(_quantity(name, unit, (first[known], second[known]), chosen))
    return tuple(found)


def _quantity(
    name: str, unit: str, values: tuple[FloatArray, FloatArray], clusters: Clusters
) -> Quantity:
    a, b = values
    if a.size == 0:
        return Quantity(
            name, unit, None, None, None, None, None, 0, "no row tells it on both sides"
        )
    found = cluster_t(b - a, clusters=clusters, level=LEVEL)
    interval = found.interval
    return Quantity(
        name,
        unit,
        float(a.mean()),
        float(b.mean()),
        found.estimate,
        interval.lower if interval else None,
        interval.upper if interval else None,
        found.n,
        found.reason,
    )


def smallest_visible(cases: PairedCases, *, power: float = 0.8) -> SmallestVisible:
    """Return the smallest difference of pass rates that these rows would mostly have shown.

    The scatter is the one that was seen, guarded so that rows without any do not claim to see
    everything.
    """
    alpha = 1.0 - LEVEL
    found = guarded_t(cases.d, trials=max(cases.trials, 1.0), clusters=cases.clusters, level=LEVEL)
    if found.se is None:
        return SmallestVisible(None, power, alpha, found.clusters, found.reason)
    # A variance a unit, so that as many units as there are have the standard error that was seen.
    effect = smallest_effect(found.clusters, found.clusters * found.se**2, alpha=alpha, power=power)
    if effect.effect is None or effect.effect > 1.0:
        reason = effect.reason or "so few cases show no difference of pass rates reliably"
        return SmallestVisible(None, power, alpha, found.clusters, reason)
    return SmallestVisible(effect.effect, power, alpha, found.clusters)
