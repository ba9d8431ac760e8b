"""pass@k, pass^k and Seq@k of a run's rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fairtrial.model.row import Row
from fairtrial.stats.passk import PassMetrics, pass_metrics


def rows_pass_metrics(
    rows: Iterable[Row], ks: Sequence[int], *, level: float = 0.95
) -> PassMetrics:
    """Return pass@k and pass^k over the rows that have a verdict; undecided trials do not count.

    Raises:
        ArgumentError: a k is below 1.
    """
    counts = [(row.decided, row.passed) for row in rows if row.decided]
    return pass_metrics(counts, ks, level=level)
