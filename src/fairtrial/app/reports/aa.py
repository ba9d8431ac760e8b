"""What `exp aa` says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

from fairtrial.app.reports.experiment import ExperimentReport
from fairtrial.model.errors import ExitCode
from fairtrial.model.experiment import ExperimentState
from fairtrial.model.json import Json
from fairtrial.model.noise import NoiseFloor


@dataclass(frozen=True, slots=True)
class AaReport:
    """Two runs of one configuration.

    Attributes:
        states: The experiment that holds both, or the two.
        experiment: The experiment, when it was run now.
        floor: The noise floor; None when there is none.
        reason: Why there is none.
    """

    schema: ClassVar[str] = "fairtrial.aa/1"

    states: Sequence[ExperimentState]
    experiment: ExperimentReport | None
    floor: NoiseFloor | None
    reason: str | None

    @property
    def exit_code(self) -> ExitCode:
        """0 with a noise floor; else that of the run, or 2 when too few cases have a verdict."""
        if self.floor is not None:
            return ExitCode.OK
        code = ExitCode.OK if self.experiment is None else self.experiment.exit_code
        return code or ExitCode.TOO_FEW

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        floor = self.floor
        return {
            "schema": self.schema,
            "experiments": [state.experiment.id for state in self.states],
            "experiment": None if self.experiment is None else self.experiment.json(),
            "noise_floor": None if floor is None else {**asdict(floor), "drifts": floor.drifts},
            "reason": self.reason,
            "exit_code": self.exit_code,
        }
