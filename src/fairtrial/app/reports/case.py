"""What `exp show --case` says: one case and every trial of it, in full."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from fairtrial.app.reports.informing import Informing
from fairtrial.interchange.experiment_exports.export import trial_json
from fairtrial.model.case import Case
from fairtrial.model.experiment import ExperimentState
from fairtrial.model.json import Json
from fairtrial.model.trial import Trial


@dataclass(frozen=True, slots=True)
class CaseReport(Informing):
    """One case and every trial of it.

    Attributes:
        state: The experiment.
        trials: The case's trials, by condition, arm and number.
        cases: The case under each of its conditions.
        outputs_removed: Whether its outputs were removed; then they are null.
    """

    schema: ClassVar[str] = "fairtrial.case/1"

    state: ExperimentState
    trials: Sequence[Trial]
    cases: Sequence[Case]
    outputs_removed: bool = False

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "experiment": self.state.experiment.id,
            "cases": [case.content() for case in self.cases],
            "outputs_removed": self.outputs_removed,
            "trials": [trial_json(trial) for trial in self.trials],
        }
