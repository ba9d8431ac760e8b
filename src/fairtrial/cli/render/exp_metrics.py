"""`exp metrics` as text: what changed, metric by metric, with a forest line each."""

from __future__ import annotations

import math
from collections.abc import Iterator

from rich.console import Console

from fairtrial.analysis.measured import CONSTANT, MOSTLY, Size
from fairtrial.analysis.run_pairs import Measured
from fairtrial.app.reports.metrics import MetricsReport
from fairtrial.cli.render.forest import forest_line
from fairtrial.cli.render.lines import line, section, table
from fairtrial.cli.render.words import counted, named, quantity, when
from fairtrial.model.experiment import Status

VERDICTS = {"better": "better", "worse": "WORSE", "inconclusive": "no difference shown"}
NO_INTERVAL = {CONSTANT: "the same in every pair", MOSTLY: "the same in most pairs"}
WIDEST_NAME = 24


def render(report: MetricsReport, console: Console) -> None:
    """Print the table, the forest, what to know about it, and the answer in one sentence."""
    _headline(report, console)
    if report.changes.metrics:
        console.print()
        _table(report, console)
        _forest(report, console)
    if report.notes:
        section(console, "To know")
        for note in report.notes:
            line(console, f"  {note}")
    console.print()
    line(console, answer(report), "bold")


def answer(report: MetricsReport) -> str:
    """Return what it came to in one sentence."""
    a, b = report.arms
    if not report.changes.metrics or report.mostly_failed:
        return f"Nothing can be said about {a} and {b}: too few runs succeeded."
    if report.too_few:
        return f"No verdict: {counted(report.n_pairs, 'pair')} cannot show any difference."
    parts = []
    for verdict in ("worse", "better"):
        metrics = [named(name) for name in report.named(verdict)]
        if metrics:
            parts.append(f"{verdict} in {', '.join(metrics)}")
    if not parts:
        number = counted(len(report.changes.metrics), "metric")
        return f"No difference between {a} and {b} was shown in any of {number}."
    return f"{b} is {' and '.join(parts)}."


def _headline(report: MetricsReport, console: Console) -> None:
    state = report.state
    experiment = state.experiment
    a, b = report.arms
    line(console, f"{experiment.name}  A = {a}, B = {b}", "bold")
    line(console, f"{experiment.id}  {when(experiment.created_at)}", "dim")
    parts = [counted(report.n_pairs, "pair")]
    if report.pairs.dropped:
        parts.append(f"{report.pairs.dropped} dropped")
    warmup = experiment.spec["metrics"]["warmup"]
    if warmup:
        parts.append(counted(warmup, "warm-up run") + " of each before")
    line(console, ", ".join([*parts, f"order by seed {experiment.seed}"]))
    if state.status is not Status.FINISHED:
        reason = f": {state.status_reason}" if state.status_reason else ""
        done = report.n_pairs + report.pairs.dropped
        line(console, f"{state.status}{reason}; {done} of {experiment.n_cases} pairs ran", "yellow")


def _table(report: MetricsReport, console: Console) -> None:
    a, b = report.arms
    interval = f"{100 * report.changes.metrics[0].change.change.level:g}% interval"
    columns = ("Metric", f">{a}", f">{b}", ">B vs A", f">{interval}", ">p", "")
    table(console, columns, [row for metric in report.changes.metrics for row in _rows(metric)])


def _rows(metric: Measured) -> Iterator[tuple[str, ...]]:
    """Yield what is tested, and below a ratio the difference."""
    change = metric.change
    ratio = change.change.scale == "ratio"
    p = change.p_adjusted
    yield (
        named(metric.name),
        quantity(metric.name, metric.a.median if metric.a else None),
        quantity(metric.name, metric.b.median if metric.b else None),
        *_sized(metric, change.tested, ratio=ratio),
        "–" if p is None else f"{p:.2g}",
        VERDICTS[change.verdict],
    )
    if ratio:
        yield ("", "", "", *_sized(metric, change.difference, ratio=False), "", "")


def _sized(metric: Measured, size: Size, *, ratio: bool) -> tuple[str, str]:
    """Return a change and its interval."""
    interval = NO_INTERVAL.get(size.reason, "–")
    if size.interval is not None:
        ends = (size.interval.lower, size.interval.upper)
        interval = " to ".join(_ends(metric, ends, ratio=ratio))
    return _size(metric, size.estimate, ratio=ratio), interval


def _ends(metric: Measured, ends: tuple[float, float], *, ratio: bool) -> tuple[str, str]:
    """Return the ends of an interval, with as many digits as tell them apart."""
    for digits in (1, 2, 3):
        low, high = (_size(metric, end, digits, ratio=ratio) for end in ends)
        if low != high:
            break
    return low, high


def _size(metric: Measured, value: float | None, digits: int = 1, *, ratio: bool) -> str:
    """Return a change: in percent where it is a ratio, else in the metric's own unit."""
    if value is None:
        return "–"
    if ratio:
        return f"{value:.3g}×" if value >= 10 else f"{100 * (value - 1):+.{digits}f}%"
    return ("+" if value > 0 else "") + quantity(metric.name, value)


def _forest(report: MetricsReport, console: Console) -> None:
    """Print an interval a metric, all ratios on one axis: the bar is where nothing changed."""
    ratios = [
        interval
        for metric in report.changes.metrics
        if metric.change.change.scale == "ratio"
        and (interval := metric.change.change.interval) is not None
    ]
    reach = max((abs(math.log(e)) for i in ratios for e in (i.lower, i.upper)), default=0.0)
    a, b = report.arms
    section(console, f"From {a} to {b} (┃ is no change; right is more)")
    width = min(WIDEST_NAME, max(len(named(m.name)) for m in report.changes.metrics))
    for metric in report.changes.metrics:
        found = metric.change.change
        if found.interval is None or found.estimate is None:
            continue
        ends = (found.interval.lower, found.estimate, found.interval.upper)
        own = reach
        if found.scale == "ratio":
            ends = (math.log(ends[0]), math.log(ends[1]), math.log(ends[2]))
        else:
            own = max(abs(ends[0]), abs(ends[2]))
        name = named(metric.name, width)
        name = name if len(name) <= width else name[: width - 1] + "…"
        scale = "" if found.scale == "ratio" else "  (own scale)"
        line(console, f"  {name:<{width}}  {forest_line(*ends, reach=own)}{scale}")
