"""One experiment as a picture: its pass rate, its graders, and how its cases did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise

from fairtrial.app.plots.looks import add_looks, looks_panels
from fairtrial.app.reports.experiment import ExperimentReport
from fairtrial.interchange.experiment_exports.export import headline, percent
from fairtrial.interchange.pictures.axis import Axis
from fairtrial.interchange.pictures.forest import Line, Panel, forest
from fairtrial.interchange.pictures.histogram import Bar, add_histogram
from fairtrial.interchange.pictures.of_comparison import TWO_SIDED_95
from fairtrial.interchange.pictures.svg import Drawing
from fairtrial.model.noise import Luck, StoredFloor
from fairtrial.model.row import Row
from fairtrial.ports import ExperimentStore, RowQuery

_PAGE = 2_000
_MOST_BARS = 13
_BROAD_BARS = 10
_SHARES = Axis(0.0, 1.0, [(v / 4, f"{25 * v} %") for v in range(5)])


def experiment_picture(
    store: ExperimentStore, report: ExperimentReport, floor: StoredFloor | None = None
) -> Drawing:
    """Draw an experiment; its rows are read page by page.

    Args:
        store: Where they are.
        report: The experiment.
        floor: The noise floor that was measured for its configuration, if any.
    """
    experiment = report.state.experiment
    panels = [_rates(report, floor)]
    if report.graders:
        panels.append(Panel("Share that each grader passed", _graders(report), _SHARES, None))
    panels += looks_panels(report.design)
    subtitle = " ".join((headline(report.pass_rate), *_noise(report, floor)))
    drawing = forest(experiment.name, subtitle, panels)
    add_looks(drawing, report.design)
    scores = Counter(
        round(row.score_sum / row.scored, 9)
        for row in _rows(store, experiment.id)
        if row.score_sum is not None and row.scored
    )
    if scores:
        unit = "mean score of a case's trials, all graders weighed together"
        add_histogram(
            drawing,
            "How the cases scored",
            _bars(scores, experiment.trials),
            drawing.height + 6,
            unit,
        )
    return drawing


def _rates(report: ExperimentReport, floor: StoredFloor | None) -> Panel:
    rate, luck = report.pass_rate.estimate, _luck(report, floor)
    panel = Panel("Pass rate over cases", [_rate(report)], _SHARES, None)
    if rate is None or luck is None or not luck.sd:
        return panel
    share = f"{'at least ' * luck.at_most}95 %"
    title = f"{panel.title}; shaded: where {share} of unchanged runs of this size come out"
    return replace(panel, title=title, mark=rate, band=TWO_SIDED_95 * luck.sd)


def _luck(report: ExperimentReport, floor: StoredFloor | None) -> Luck | None:
    n = report.pass_rate.n
    return floor.luck_at(n, report.state.experiment.trials) if floor is not None and n else None


def _noise(report: ExperimentReport, floor: StoredFloor | None) -> tuple[str, ...]:
    luck = _luck(report, floor)
    return () if floor is None or luck is None else (floor.sentence(luck),)


def _rate(report: ExperimentReport) -> Line:
    rate = report.pass_rate
    if rate.estimate is None:
        return Line("all cases", None, None, None, f"unknown: {rate.reason}")
    if rate.interval is None:
        note = f"{percent(rate.estimate)} by most trials"
        return Line("all cases", rate.estimate, None, None, note, "first")
    low, high = rate.interval.lower, rate.interval.upper
    note = f"{percent(rate.estimate)}  ({percent(low)} to {percent(high)})"
    return Line("all cases", rate.estimate, low, high, note, "first")


def _graders(report: ExperimentReport) -> list[Line]:
    lines = []
    for totals in report.graders:
        if not totals.scored:
            lines.append(Line(totals.grader, None, None, None, "scored nothing"))
            continue
        share = totals.passed / totals.scored
        note = f"{percent(share)}  of {totals.scored:,} scored"
        lines.append(Line(totals.grader, share, None, None, note, "first"))
    return lines


def _rows(store: ExperimentStore, experiment_id: str) -> Iterator[Row]:
    after = None
    while page := store.rows(experiment_id, RowQuery(limit=_PAGE, after=after)):
        yield from page
        last = page[-1]
        after = (*last.key, last.arm)


def _bars(scores: Mapping[float, int], trials: int) -> list[Bar]:
    """Return a bar for each share of the trials when no score is another, else ten broad ones."""
    shares = [round(number / trials, 9) for number in range(trials + 1)]
    if len(shares) <= _MOST_BARS and not set(scores) - set(shares):
        return [Bar(f"{share:.3g}", scores.get(share, 0), "first") for share in shares]
    low, high = min(0.0, *scores), max(1.0, *scores)
    edges = [low + (high - low) * number / _BROAD_BARS for number in range(_BROAD_BARS + 1)]
    counts = Counter[int]()
    for score, count in scores.items():
        place = min(int((score - low) / (high - low) * _BROAD_BARS), _BROAD_BARS - 1)
        counts[place] += count
    return [
        Bar(f"{start:.2g} to {end:.2g}", counts[place], "first")
        for place, (start, end) in enumerate(pairwise(edges))
    ]
