"""A page of the rows of an experiment that a filter fits."""

from __future__ import annotations

import json

from fairtrial.app.bench import Bench
from fairtrial.app.filters import row_filter
from fairtrial.app.reports.rows import RowsReport
from fairtrial.app.row_options import Rows
from fairtrial.model.errors import UsageError
from fairtrial.model.experiment import ExperimentState
from fairtrial.ports import RowQuery


def shown_rows(
    bench: Bench, state: ExperimentState, where: str | None, options: Rows
) -> RowsReport:
    """Return a page of rows; without a filter, of all.

    Raises:
        UsageError: the filter or the place is not understood.
        NotFoundError: the filter asks for a baseline, and there is none.
    """
    store = bench.store.experiments
    fitting = None if where is None else row_filter(bench, state, where)
    after = None if options.after is None else _key(options.after)
    query = RowQuery(limit=options.limit + 1, after=after, where=fitting)
    rows = store.rows(state.experiment.id, query)
    more = len(rows) > options.limit
    n_rows = len(rows)
    if more or after is not None:
        n_rows = store.n_rows(state.experiment.id, RowQuery(where=fitting))
    return RowsReport(state, where, rows[: options.limit], n_rows, more)


def _key(text: str) -> tuple[str, str, str]:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    match found:
        case [str(case_id), str(condition), str(arm)]:
            return case_id, condition, arm
    raise UsageError(
        f"--after is no row: {text!r}",
        fix='give what the page before ended with, e.g. \'["c17", "clean", "main"]\'',
    )
