"""A report with what was written beside it: documents and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fairtrial.app.reports.document import DocumentReport
from fairtrial.model.errors import ExitCode
from fairtrial.model.json import Json


@dataclass(frozen=True, slots=True)
class AccompaniedReport:
    """A report with the files that were asked for.

    Attributes:
        report: The report.
        documents: What was written, or is to be streamed instead of the report's text.
    """

    report: Any
    documents: Sequence[DocumentReport]

    @property
    def exit_code(self) -> ExitCode:
        """That of the report: a document does not change what was decided."""
        code: ExitCode = self.report.exit_code
        return code

    @property
    def streamed(self) -> DocumentReport | None:
        """The document that stands in for the report's text; None when all have files."""
        return next((found for found in self.documents if found.path is None), None)

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object, with its files; what has none is there as text."""
        facts: dict[str, Json] = self.report.json()
        return {**facts, "files": [found.facts() for found in self.documents]}
