"""`exp aa` as a picture: what a comparison shows above the noise floor, by its size."""

from __future__ import annotations

from fairtrial.app.reports.aa import AaReport
from fairtrial.interchange.experiment_exports.export import percent
from fairtrial.interchange.pictures.curve import Chart, Curve, curves
from fairtrial.interchange.pictures.svg import Drawing
from fairtrial.model.noise import NoiseFloor


def aa_picture(report: AaReport) -> Drawing:
    """Draw the smallest difference that shows, a curve a number of trials."""
    name = report.states[0].experiment.name
    floor = report.floor
    if floor is None:
        return curves(
            Chart(f"{name}: no noise floor", str(report.reason), "cases", "", (), str),
        )
    trials = sorted({entry.trials for entry in floor.visible})
    drawn = [
        Curve(
            "1 trial" if k == 1 else f"{k} trials",
            [
                (float(entry.cases), entry.effect)
                for entry in sorted(floor.visible, key=lambda entry: entry.cases)
                if entry.trials == k and entry.effect is not None
            ],
        )
        for k in trials
    ]
    drift = "; they differ more than luck explains" if floor.drifts else ""
    return curves(
        Chart(
            title=f"{name}: smallest difference that a comparison shows 8 times in 10",
            subtitle=(
                f"Two unchanged runs passed {percent(floor.first)} and {percent(floor.second)} of "
                f"{floor.cases:,} cases{drift}. {_flips(floor)}; "
                f"runs of this size differ {floor.luck.words} by luck alone."
            ),
            across="cases",
            up="percentage points",
            curves=drawn,
            y_label=lambda value: f"{100 * value:.3g}",
        )
    )


def _flips(floor: NoiseFloor) -> str:
    if floor.flip_rate_at_most is None:
        return f"A case's verdict flips {percent(floor.flip_rate)} of the time"
    most = percent(floor.flip_rate_at_most)
    return f"No verdict flipped: 95 % sure that one flips at most {most} of the time, as drawn"
