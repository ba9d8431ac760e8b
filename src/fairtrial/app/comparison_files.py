"""What `exp compare` writes beside its report: a document, a picture."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import fairtrial
from fairtrial.analysis.comparing.compare import Compare
from fairtrial.analysis.comparing.listing import same
from fairtrial.app.bench import Bench
from fairtrial.app.file_options import Document, Plot
from fairtrial.app.picturing import checked_plot, written
from fairtrial.app.reports.accompanied import AccompaniedReport
from fairtrial.app.reports.comparison import ComparisonReport
from fairtrial.app.reports.document import DocumentReport, document
from fairtrial.model.errors import UsageError


@dataclass(frozen=True, slots=True)
class ComparisonFiles:
    """The files that were asked for.

    Attributes:
        to: The document's format; None when none is asked for.
        path: Where it goes; None is standard output.
        marker: The name in its first line; None is B's.
        plot: Where the picture goes; None when none is asked for.
    """

    to: str | None
    path: Path | None
    marker: str | None
    plot: Path | None

    @classmethod
    def of(cls, bench: Bench, wanted: Document, picture: Plot) -> ComparisonFiles | None:
        """Return what is to be written, checked before any work is done; None when nothing is.

        Raises:
            UsageError: an option has nothing to do, or a file cannot be written.
        """
        if wanted.to is None and wanted.output is not None:
            raise UsageError("--output needs a format", fix="add --to markdown, or another")
        if wanted.marker is not None and wanted.to != "markdown":
            raise UsageError("--marker has no effect without --to markdown", fix="leave it out")
        plot = checked_plot(bench, picture.plot)
        if wanted.to is None and plot is None:
            return None
        path = bench.output(wanted.output)
        if path is not None and path == plot:
            raise UsageError(f"--output and --plot are both {path}", fix="give two files")
        return cls(wanted.to, path, wanted.marker, plot)

    def beside(self, found: Compare, report: ComparisonReport) -> AccompaniedReport:
        """Write the files, and return the report with them.

        Raises:
            UsageError: a file cannot be written.
        """
        return AccompaniedReport(report, tuple(self._documents(found, report)))

    def _documents(self, found: Compare, report: ComparisonReport) -> Sequence[DocumentReport]:
        made = []
        if self.to is not None:
            made.append(self._document(self.to, found, report))
        if self.plot is not None:
            # Most comparisons draw nothing, and do without this module.
            from fairtrial.interchange.pictures.of_comparison import (  # noqa: PLC0415
                comparison_picture,
            )

            made.append(written(comparison_picture(found.comparison, report.luck), self.plot))
        return made

    def _document(self, to: str, found: Compare, report: ComparisonReport) -> DocumentReport:
        # Each format is a module of its own, and only this one is needed.
        from fairtrial.interchange.comparison_exports.export import (  # noqa: PLC0415
            ComparisonExport,
            marker_of,
        )

        writer = importlib.import_module(f"fairtrial.interchange.comparison_exports.{to}")
        export = ComparisonExport(
            comparison=report.comparison,
            decision=report.decision,
            same=lambda: same(found.pairs),
            marker=marker_of(self.marker or report.comparison.b.name),
            notes=_notes(report),
            version=fairtrial.__version__,
            luck=report.luck,
        )
        return document(to, lambda stream: writer.write(export, stream), self.path)


def _notes(report: ComparisonReport) -> Sequence[str]:
    """Return what the noise floor, pairwise judges and people say, a sentence each."""
    floor = _noise(report)
    if report.judged is None and report.people is None:
        return floor
    from fairtrial.app.opinion_notes import notes  # noqa: PLC0415  # rarely asked

    return (*floor, *notes(report.judged, report.people))


def _noise(report: ComparisonReport) -> Sequence[str]:
    if report.floor is None or report.luck is None:
        return ()
    return (report.floor.sentence(report.luck),)
