"""`exp power` as a picture: the smallest effect against the number of cases."""

from __future__ import annotations

from fairtrial.app.reports.power import PowerReport
from fairtrial.interchange.pictures.curve import Chart, Curve, curves
from fairtrial.interchange.pictures.svg import SERIES, Drawing


def power_picture(report: PowerReport) -> Drawing:
    """Draw a curve a number of trials, with the plan that was asked for singled out."""
    cases = sorted({n for n, _ in report.table})
    trials = sorted({k for _, k in report.table})
    # The number that was asked for is always among those that have a colour.
    shown = sorted(sorted(trials, key=lambda k: k != report.trials)[: len(SERIES)])
    made = []
    for k in shown:
        drawn = [(n, report.table.get((n, k))) for n in cases]
        points = [(float(n), effect) for n, effect in drawn if effect is not None]
        made.append(Curve("1 trial" if k == 1 else f"{k} trials", points))
    asked = report.asked
    return curves(
        Chart(
            title="Smallest difference of pass rates that a comparison shows",
            subtitle=(
                f"Shown {100 * asked.power:g} % of the time at p ≤ {asked.alpha:g} (two-sided), "
                f"when a case's verdict flips {'at most ' * report.noise.at_most}"
                f"{100 * report.noise.flip_rate:.3g} % of the time "
                f"without any change ({report.noise.text})"
            ),
            across="cases",
            up="percentage points",
            curves=made,
            y_label=lambda value: f"{100 * value:.3g}",
            marked=_marked(report),
        )
    )


def _marked(report: PowerReport) -> tuple[float, float, str] | None:
    if report.chosen is None:
        return None
    effect = report.table.get((report.chosen, report.trials))
    if effect is None:
        return None
    return float(report.chosen), effect, f"{report.chosen:,} cases: {100 * effect:.1f} points"
