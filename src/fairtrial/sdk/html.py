"""Experiments and comparisons as fragments of HTML, for notebooks."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import jinja2

from fairtrial.app.plots.experiment import experiment_picture
from fairtrial.interchange.comparison_exports.export import WORDS, counts_of, interval_of
from fairtrial.interchange.experiment_exports.export import headline, percent
from fairtrial.interchange.experiment_exports.visible_text import one_line, preview
from fairtrial.interchange.pictures.of_comparison import comparison_picture
from fairtrial.interchange.pictures.svg import Drawing
from fairtrial.model.comparison import Change, RowChange
from fairtrial.model.verdict import Verdict
from fairtrial.ports import ExperimentStore, TrialFilter
from fairtrial.sdk.comparison import Comparison
from fairtrial.sdk.words import named, size

if TYPE_CHECKING:
    from fairtrial.sdk.experiment import Experiment

_SHOWN = 20
_LINE = 300
_OUTPUT = 600


def experiment_html(store: ExperimentStore, experiment: Experiment) -> str:
    """Return an experiment: counts, picture, comparison, and its first failures.

    Args:
        store: Where its trials are.
        experiment: The experiment.
    """
    report = experiment.report
    where = TrialFilter(verdicts=frozenset({Verdict.FAILED, Verdict.UNDECIDED}))
    trials = list(islice(store.trials(experiment.id, where), _SHOWN))
    totals = report.state.totals
    found = None if experiment.comparison is None else experiment.comparison.report.comparison
    return _rendered(
        "experiment.html",
        experiment=report.state.experiment,
        size=size(report.state.experiment),
        state=report.state,
        totals=totals,
        note=report.note,
        headline=headline(report.pass_rate),
        graders=report.graders,
        picture=_address(experiment_picture(store, report)),
        comparison=experiment.comparison,
        against="" if found is None else named(found.a),
        difference="" if found is None else interval_of(found.delta),
        counts="" if found is None else counts_of(found),
        why_not_compared=experiment.why_not_compared,
        trials=[
            (
                str(trial.key.case_key),
                trial.verdict.value,
                trial.reason or "",
                preview(trial.output, _OUTPUT),
            )
            for trial in trials
        ],
        left_out=totals.failed + totals.undecided - len(trials),
    )


def comparison_html(comparison: Comparison) -> str:
    """Return a comparison: what it comes to, the picture, what was broken and fixed."""
    report = comparison.report
    found = report.comparison
    rows = list(chain(found.rows[Change.BROKEN], found.rows[Change.FIXED]))
    return _rendered(
        "comparison.html",
        found=found,
        sides=(named(found.a), named(found.b)),
        difference=interval_of(found.delta),
        decision=report.decision,
        counts=counts_of(found),
        picture=_address(comparison_picture(found, report.luck)),
        rows=_rows(rows[:_SHOWN]),
        left_out=max(0, len(rows) - _SHOWN),
    )


def _rows(rows: Sequence[RowChange]) -> list[tuple[str, str, str, str, str]]:
    return [
        (
            str(row.key),
            WORDS[row.change],
            "–" if row.a is None else f"{row.a.passed}/{row.a.decided}",
            "–" if row.b is None else f"{row.b.passed}/{row.b.decided}",
            row.reason or "",
        )
        for row in rows
    ]


def _address(drawing: Drawing) -> str:
    """Return a picture as an address that holds it: its styles stay its own."""
    text = base64.b64encode(drawing.document().encode()).decode()
    return f"data:image/svg+xml;base64,{text}"


def _rendered(name: str, **values: Any) -> str:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("fairtrial.sdk"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: Mapping[str, Any] = {"line": lambda text: one_line(text, _LINE), "percent": percent}
    environment.filters |= filters
    return environment.get_template(name).render(values)
