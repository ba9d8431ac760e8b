"""`exp metrics` as a picture: how much each metric changed."""

from __future__ import annotations

import math
from collections.abc import Callable

from fairtrial.analysis.run_pairs import Measured
from fairtrial.app.reports.metrics import MetricsReport
from fairtrial.interchange.pictures.axis import Axis, around_zero
from fairtrial.interchange.pictures.forest import Line, Panel, forest
from fairtrial.interchange.pictures.of_comparison import COLOURS
from fairtrial.interchange.pictures.svg import Drawing
from fairtrial.model.wording import excerpt

_LEAST = math.log(1.005)
"""Ratios closer to 1 than this would all look like noise on a scale of their own."""
_RATIO_TICKS = (1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, 1000.0)


def metrics_picture(report: MetricsReport) -> Drawing:
    """Draw the ratios on one scale, and each metric that has no ratio on its own."""
    a, b = report.arms
    pairs = "1 pair" if report.n_pairs == 1 else f"{report.n_pairs:,} pairs"
    subtitle = f"{pairs} of runs, in balanced random order"
    if not report.changes.metrics:
        subtitle = "No metric could be compared."
    return forest(f"{b} against {a}", subtitle, list(_panels(report)))


def _panels(report: MetricsReport) -> list[Panel]:
    metrics = report.changes.metrics
    level = f"{100 * metrics[0].change.change.level:g} % interval" if metrics else ""
    ratios = [metric for metric in metrics if metric.change.change.scale == "ratio"]
    others = [metric for metric in metrics if metric.change.change.scale != "ratio"]
    made = []
    if ratios:
        reach = max(_LEAST, *(_reach(metric, math.log) for metric in ratios))
        lines = [_line(metric, math.log, _percent) for metric in ratios]
        made.append(Panel(f"Change from A to B, {level}", lines, _ratio_axis(reach)))
    for metric in others:
        axis = around_zero(_reach(metric, float) or 1.0, lambda value: f"{value:.3g}")
        lines = [_line(metric, float, lambda value: f"{value:+.4g}")]
        made.append(Panel(f"{excerpt(metric.name)}: B − A in its own unit, {level}", lines, axis))
    return made


def _line(metric: Measured, place: Callable[[float], float], words: Callable[[float], str]) -> Line:
    change = metric.change
    found = change.change
    if found.estimate is None:
        return Line(excerpt(metric.name), None, None, None, found.reason or "unknown")
    colour = COLOURS[change.verdict]
    note = words(found.estimate)
    if change.tested.interval is None:
        note += f", no interval: {change.tested.reason}"
        return Line(excerpt(metric.name), place(found.estimate), None, None, note, colour)
    lower, upper = change.tested.interval.lower, change.tested.interval.upper
    note += f"  ({words(lower)} to {words(upper)})"
    if colour != "unclear":
        note += f"  {change.verdict.value}"
    return Line(
        excerpt(metric.name), place(found.estimate), place(lower), place(upper), note, colour
    )


def _reach(metric: Measured, place: Callable[[float], float]) -> float:
    found = metric.change.change
    ends = [found.estimate]
    if found.interval is not None:
        ends += [found.interval.lower, found.interval.upper]
    return max((abs(place(end)) for end in ends if end is not None), default=0.0)


def _ratio_axis(reach: float) -> Axis:
    """Return a logarithmic scale around "no change" with two round ratios on each side."""
    outer = next((t for t in _RATIO_TICKS if math.log(t) >= reach), math.exp(reach))
    smaller = [t for t in _RATIO_TICKS if math.log(t) <= 0.6 * math.log(outer)]
    ratios = sorted({1.0, outer, 1 / outer, *(x for t in smaller[-1:] for x in (t, 1 / t))})
    high = math.log(outer)
    return Axis(-high, high, [(math.log(ratio), _percent(ratio, 0)) for ratio in ratios])


def _percent(ratio: float, digits: int = 1) -> str:
    """Return a ratio as a change in percent, a large one as a factor."""
    if ratio >= 10:
        return f"{ratio:.3g}×"
    change = 100 * (ratio - 1)
    if abs(change) < 10 and digits == 0 and ratio < 1:
        digits = 1
    text = f"{change:+.{digits}f} %".replace("-", "−")
    return text if text.strip("+−0. %") else text[1:]
