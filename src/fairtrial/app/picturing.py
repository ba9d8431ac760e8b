"""`--plot`: a report that is drawn to a file, too."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtrial.app.bench import Bench
from fairtrial.app.noise_floors import floor_of
from fairtrial.app.reports.accompanied import AccompaniedReport
from fairtrial.app.reports.document import DocumentReport, document
from fairtrial.app.reports.experiment import experiment_report
from fairtrial.model.errors import UsageError

if TYPE_CHECKING:
    from fairtrial.app.reports.metrics import MetricsReport
    from fairtrial.interchange.pictures.svg import Drawing

SUFFIXES = (".svg", ".png")


def checked_plot(bench: Bench, path: Path | None) -> Path | None:
    """Return where a picture goes, before any work is done for it; None when none is asked for.

    Raises:
        UsageError: its name ends otherwise, its folder is not there, or PNG cannot be written.
    """
    if path is None:
        return None
    where = bench.path(path)
    if where.suffix.lower() not in SUFFIXES:
        raise UsageError(
            f"no picture can be written as {path.suffix or 'a file without an ending'}",
            where="--plot",
            fix="end the name with .svg or .png",
        )
    if not where.parent.is_dir():
        raise UsageError(f"there is no folder {where.parent}", where="--plot", fix="make it first")
    if where.suffix.lower() == ".png":
        from fairtrial.interchange.pictures.png import require_png  # noqa: PLC0415  # rarely asked

        require_png(str(path))
    return where


def pictured(report: Any, drawing: Drawing, path: Path) -> AccompaniedReport:
    """Return a report with its picture, which is written to a file.

    Raises:
        UsageError: the file cannot be written.
    """
    return AccompaniedReport(report, (written(drawing, path),))


def pictured_metrics(report: MetricsReport, path: Path) -> AccompaniedReport:
    """Return what was measured with its picture, which is written to a file.

    Raises:
        UsageError: the file cannot be written.
    """
    from fairtrial.app.plots.metrics import metrics_picture  # noqa: PLC0415  # rarely asked

    return pictured(report, metrics_picture(report), path)


def pictured_experiment(
    bench: Bench, report: Any, experiment_id: str, path: Path
) -> AccompaniedReport:
    """Return a report about one experiment with the experiment's picture.

    Raises:
        UsageError: the file cannot be written.
    """
    from fairtrial.app.plots.experiment import experiment_picture  # noqa: PLC0415  # rarely asked

    store = bench.store.experiments
    summary = experiment_report(store, store.find(experiment_id))
    return pictured(
        report, experiment_picture(store, summary, floor_of(bench, summary.state.experiment)), path
    )


def written(drawing: Drawing, path: Path) -> DocumentReport:
    """Write a drawing to a file.

    Raises:
        UsageError: the file cannot be written.
    """
    svg = drawing.document()
    if path.suffix.lower() == ".svg":
        return document("svg", lambda stream: stream.write(svg), path, "--plot")
    from fairtrial.interchange.pictures.png import png  # noqa: PLC0415  # an optional extra

    content = png(svg, str(path))
    return document("png", lambda stream: stream.buffer.write(content), path, "--plot")
