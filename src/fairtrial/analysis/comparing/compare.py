"""Two experiments, case by case and over all."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairtrial.analysis.cases import PairedCases
from fairtrial.analysis.comparing import deltas, listing
from fairtrial.analysis.comparing.comparability import (
    Comparability,
    Input,
    comparability,
    lost_share,
)
from fairtrial.analysis.comparing.pairs import Pairs, flip_noise, pair
from fairtrial.analysis.comparing.sentence import sentence
from fairtrial.analysis.flips import pass_matrix
from fairtrial.analysis.paired import Ci, paired
from fairtrial.model.columns import PairedRows
from fairtrial.model.comparison import Bin, Compared, Comparison, Coverage, Problem

_MOST_BARS = 13
_BROAD_BARS = 10


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison with what a gate needs beyond it.

    Attributes:
        comparison: What was found.
        pairs: The shared rows.
        cases: The rows that count.
        clusters: One code a shared row; None when rows are independent.
        comparability: What could be compared.
    """

    comparison: Comparison
    pairs: Pairs
    cases: PairedCases
    clusters: deltas.Clusters
    comparability: Comparability


def compare(
    a: Input,
    b: Input,
    rows: PairedRows,
    *,
    force: bool = False,
    clusters: Sequence[Hashable] | None = None,
    ci: Ci = "auto",
) -> Compare:
    """Compare two experiments.

    Args:
        a: The baseline.
        b: The candidate.
        rows: Their rows, joined.
        force: Compare what there is of an unfinished experiment.
        clusters: One label a shared row, in the order of `rows.pairs`.
        ci: The interval of the overall delta.

    Raises:
        ArgumentError: the interval does not fit the data.
    """
    checked = comparability(a, b, rows, force=force)
    pairs = pair(rows, blocked=bool(checked.blocking), scores_comparable=checked.scores)
    codes = None if clusters is None else _codes(clusters)
    cases = deltas.cases_of(pairs, pairs.counted, codes)
    found = paired(cases, ci=ci, level=deltas.LEVEL)
    slices, left_out = deltas.label_slices(pairs, codes)
    warnings = (*checked.warnings, *(Problem(text) for text in found.warnings))
    comparison = Comparison(
        a=_compared(a, rows.a.n),
        b=_compared(b, rows.b.n),
        problems=(*checked.blocking, *warnings),
        counts=listing.counts(pairs),
        rows=listing.listed(pairs, checked.why_blocked),
        delta=deltas.delta_of(cases, found, found.verdict),
        graders=deltas.grader_slices(pairs, _in_both(checked.graders, rows), codes),
        slices=slices,
        slices_left_out=left_out,
        quantities=deltas.quantities(pairs, codes),
        coverage=_coverage(pairs),
        noise=flip_noise(pairs),
        smallest=deltas.smallest_visible(cases),
        matrix=pass_matrix(*pairs.sums(pairs.counted)),
        histogram=_histogram(cases),
    )
    words = sentence(
        comparison,
        selected=checked.selection is not None,
        raced=checked.raced,
        unjudged="; ".join(problem.what for problem in checked.unjudged) or None,
    )
    return Compare(replace(comparison, sentence=words), pairs, cases, codes, checked)


def _codes(clusters: Sequence[Hashable]) -> deltas.Clusters:
    """Return a code for each label, in the order of the labels' texts, whatever the rows' order."""
    known = {label: code for code, label in enumerate(sorted(set(clusters), key=repr))}
    return np.array([known[label] for label in clusters], dtype=np.int64)


def _in_both(names: Sequence[str], rows: PairedRows) -> Sequence[str]:
    return [name for name in names if name in rows.a.graders and name in rows.b.graders]


def _compared(side: Input, rows: int) -> Compared:
    experiment = side.state.experiment
    return Compared(
        id=experiment.id,
        name=experiment.name,
        arm=side.arm,
        dataset=experiment.dataset_ref,
        trials=experiment.trials,
        rows=rows,
        label=side.label,
    )


def _coverage(pairs: Pairs) -> Coverage:
    rows = pairs.rows
    counted = int(pairs.counted.sum())
    return Coverage(
        paired=counted,
        total=pairs.codes.size + len(rows.only_a) + len(rows.only_b),
        share=counted / rows.a.n if rows.a.n else None,
        undecided_a=rows.a.causes,
        undecided_b=rows.b.causes,
        lost_a=lost_share(rows.a),
        lost_b=lost_share(rows.b),
    )


def _histogram(cases: PairedCases) -> tuple[Bin, ...]:
    """Return a bar for each difference, or ten broad ones when there are many differences."""
    values, counts = np.unique(np.round(cases.d, 9), return_counts=True)
    if values.size <= _MOST_BARS:
        return tuple(Bin(v, v, n) for v, n in zip(values.tolist(), counts.tolist(), strict=True))
    counts, edges = np.histogram(cases.d, bins=_BROAD_BARS, range=(-1.0, 1.0))
    ends = np.round(edges, 9).tolist()
    return tuple(Bin(ends[place], ends[place + 1], n) for place, n in enumerate(counts.tolist()))
