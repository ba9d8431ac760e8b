"""What `exp show --case` says: every trial of one case, in full."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from fairtrial.app.reports.informing import Informing
from fairtrial.interchange.experiment_exports.export import trial_json
from fairtrial.model.experiment import ExperimentState
from fairtrial.model.json import Json
from fairtrial.model.trial import Trial


@dataclass(frozen=True, slots=True)
class CaseReport(Informing):
    """Every trial of one case.

    Attributes:
        state: The experiment.
        trials: The case's trials, by condition, arm and number.
    """

    schema: ClassVar[str] = "fairtrial.case/1"

    state: ExperimentState
    trials: Sequence[Trial]

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "experiment": self.state.experiment.id,
            "trials": [trial_json(trial) for trial in self.trials],
        }
