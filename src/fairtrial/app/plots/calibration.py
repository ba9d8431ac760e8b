"""`grader calibrate` as a picture: the four counts."""

from __future__ import annotations

from fairtrial.analysis.judge_calibration import ALL
from fairtrial.app.reports.calibration import CalibrationReport
from fairtrial.interchange.pictures.matrix import Cell, Matrix, matrix
from fairtrial.interchange.pictures.svg import Drawing
from fairtrial.stats.agreement.confusion import Confusion
from fairtrial.stats.interval import Interval


def calibration_picture(report: CalibrationReport) -> Drawing:
    """Draw how often grader and people say the same, on the cases that count."""
    found = report.calibration
    counts = found.evidence.calibration.confusion or Confusion(0, 0, 0, 0)
    where = "all labelled cases" if found.split == ALL else f"the {found.split} split"
    kappa = found.evidence.calibration.kappa
    beyond = "undefined" if kappa.estimate is None else f"{kappa.estimate:.2f}"
    passes = f"passes {_share(counts.tpr, counts.tpr_interval)} of what people pass"
    fails = f"fails {_share(counts.tnr, counts.tnr_interval)} of what they fail"
    lines = (
        f"{counts.n:,} labels of {where}; agreement beyond chance (κ) {beyond}",
        passes,
        fails,
    )
    return matrix(
        Matrix(
            title=f"{found.grader} against people",
            lines=lines,
            columns=("people pass", "people fail"),
            rows=(
                (
                    "grader passes",
                    (Cell(counts.tp, "both pass", True), Cell(counts.fp, "let through", False)),  # noqa: FBT003  # a cell in one line
                ),
                (
                    "grader fails",
                    (Cell(counts.fn, "held back", False), Cell(counts.tn, "both fail", True)),  # noqa: FBT003  # as above
                ),
            ),
        )
    )


def _share(share: float | None, span: Interval | None) -> str:
    if share is None or span is None:
        return "–"
    return f"{100 * share:.0f} % ({100 * span.lower:.0f} to {100 * span.upper:.0f} %)"
