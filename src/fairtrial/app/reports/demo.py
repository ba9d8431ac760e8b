"""What `demo` says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from fairtrial.app.reports.experiment import ExperimentReport
from fairtrial.model.errors import ExitCode
from fairtrial.model.json import Json


@dataclass(frozen=True, slots=True)
class DemoReport:
    """The two experiments of the demo, and where they were kept, if anywhere."""

    schema: ClassVar[str] = "fairtrial.demo/1"

    baseline: ExperimentReport
    candidate: ExperimentReport
    kept: Path | None

    @property
    def exit_code(self) -> ExitCode:
        """That of the run that ended worse."""
        return max(self.baseline.exit_code, self.candidate.exit_code)

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "baseline": self.baseline.json(),
            "candidate": self.candidate.json(),
            "kept": str(self.kept) if self.kept else None,
        }
