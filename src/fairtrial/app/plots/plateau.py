"""`exp plateau` as a picture: the evidence after each round, and what stops the loop."""

from __future__ import annotations

from fairtrial.app.reports.plateau import PlateauReport
from fairtrial.interchange.pictures.curve import Chart, Curve, curves
from fairtrial.interchange.pictures.svg import Drawing


def plateau_picture(report: PlateauReport) -> Drawing:
    """Draw the evidence by round; what is beyond twice the need is drawn there."""
    need = report.need
    points = [
        (float(number), min(evidence, 2.0 * need))
        for number, _, _, evidence in report.told
        if evidence is not None and number is not None
    ]
    drawn = [Curve("evidence", points)] if points else []
    if points:
        last = max(points[-1][0], 2.0)
        drawn.append(Curve(f"stop at {need:g}", [(1.0, need), (last, need)]))
    return curves(
        Chart(
            title=f"{report.of}: evidence that a round gains less than "
            f"{100 * report.rules.eps:g} points",
            subtitle=report.summary(),
            across="round",
            up="evidence",
            curves=drawn,
            y_label=lambda value: f"{value:.3g}",
            even=True,
        )
    )
