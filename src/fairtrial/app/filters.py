"""From a filter that a user typed to a checked expression."""

from __future__ import annotations

from fairtrial.app.against_baseline import FlipCounter
from fairtrial.app.bench import Bench
from fairtrial.model.baseline import AgainstBaseline
from fairtrial.model.errors import NotFoundError
from fairtrial.model.experiment import ExperimentState
from fairtrial.ports import RowFilter
from fairtrial.query.expression import Expression
from fairtrial.query.parsing import parse
from fairtrial.query.vocabularies.rows import ROW_VOCABULARY, needs_baseline
from fairtrial.query.vocabulary import Vocabulary


def filter_of(bench: Bench, where: str | None, vocabulary: Vocabulary) -> Expression | None:
    """Return what a filter says; None when there is none.

    Raises:
        UsageError: it is not understood; the message points at the column.
    """
    return None if where is None else parse(where, vocabulary, bench.clock.now())


def row_filter(
    bench: Bench, state: ExperimentState, where: str, against: AgainstBaseline | None = None
) -> RowFilter:
    """Return a filter of the rows of an experiment, with what they are held against.

    Args:
        bench: The workbench.
        state: The experiment.
        where: The filter.
        against: What it is held against, when that was looked up already.

    Raises:
        UsageError: it is not understood, or names a grader that the experiment does not have.
        NotFoundError: it asks for a baseline, and there is none.
    """
    expression = parse(where, row_vocabulary(bench, state), bench.clock.now())
    if not needs_baseline(expression):
        return RowFilter(expression)
    against = against or FlipCounter(bench).of(state)
    if against.id is None or against.arm is None or against.reason is not None:
        raise NotFoundError(
            f"the rows of {state.experiment.name} have no baseline to be held against",
            why=against.reason,
            fix="choose one with: fairtrial exp baseline set EXPERIMENT",
        )
    return RowFilter(expression, (against.id, against.arm))


def row_vocabulary(bench: Bench, state: ExperimentState) -> Vocabulary:
    """Return what a filter of an experiment's rows may say, with the names of its graders."""
    totals = bench.store.experiments.grader_totals(state.experiment.id)
    graders = tuple(total.grader for total in totals)
    return (
        ROW_VOCABULARY.with_keys({"score": graders, "delta": graders})
        if graders
        else (ROW_VOCABULARY)
    )
