"""A page of the rows of an experiment that a filter fits."""

from __future__ import annotations

from fairtrial.app.bench import Bench
from fairtrial.app.filters import row_filter
from fairtrial.app.reports.rows import RowsReport
from fairtrial.app.row_keys import RowKey, row_key_of
from fairtrial.app.row_options import Rows
from fairtrial.model.errors import UsageError
from fairtrial.model.experiment import ExperimentState
from fairtrial.model.wording import excerpt
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


def _key(text: str) -> RowKey:
    found = row_key_of(text)
    if found is not None:
        return found
    raise UsageError(
        f"this is no row to go on after: {excerpt(repr(text), 200)}",
        fix='give what the page before ended with, e.g. \'["c17", "clean", "main"]\'',
    )
