"""What `exp baseline` says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fairtrial.app.reports.facts import state_json
from fairtrial.app.reports.informing import Informing
from fairtrial.model.baseline import Baseline
from fairtrial.model.json import Json


@dataclass(frozen=True, slots=True)
class BaselineReport(Informing):
    """A baseline.

    Attributes:
        action: What was asked: set, show or clear.
        project: The project's folder.
        of: The id of the experiment that it is the baseline of; None for the project's own.
        baseline: The baseline.
    """

    schema: ClassVar[str] = "fairtrial.baseline/1"

    action: str
    project: str
    of: str | None
    baseline: Baseline

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        state = self.baseline.state
        return {
            "schema": self.schema,
            "action": self.action,
            "project": self.project,
            "of": self.of,
            "baseline": baseline_json(self.baseline),
            "experiment": None if state is None else state_json(state),
        }


def baseline_json(baseline: Baseline) -> dict[str, Json]:
    """Return which baseline it is and why."""
    return {
        "id": None if baseline.state is None else baseline.state.experiment.id,
        "source": baseline.source.value,
        "reasons": list(baseline.reasons),
        "sentence": baseline.sentence,
    }
