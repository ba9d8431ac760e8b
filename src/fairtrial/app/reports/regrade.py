"""What `exp regrade` says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

from fairtrial.app.reports.experiment import ExperimentReport, judged
from fairtrial.app.reports.facts import rate_json
from fairtrial.model.errors import ExitCode
from fairtrial.model.experiment import ExperimentState, Status
from fairtrial.model.json import Json
from fairtrial.model.regrade import Flip, GraderNoise, Regrade
from fairtrial.stats.proportion import Rate


@dataclass(frozen=True, slots=True)
class RegradeReport:
    """An experiment's outputs, graded again.

    Attributes:
        origin: The original.
        rate_before: Its pass rate.
        experiment: The new experiment.
        regrade: What changed, trial by trial.
        k: How often each output was to be graded.
        noise: With `k` above 1: how much the verdict and each grader differ with themselves.
    """

    schema: ClassVar[str] = "fairtrial.regrade/1"

    origin: ExperimentState
    rate_before: Rate
    experiment: ExperimentReport
    regrade: Regrade
    k: int
    noise: Sequence[GraderNoise]

    @property
    def complete(self) -> bool:
        """Whether every trial that the original has on record was looked at."""
        return self.regrade.graded + self.regrade.kept >= self.origin.totals.recorded

    @property
    def exit_code(self) -> ExitCode:
        """0; 130 when it was interrupted, 4 when no grader judged any output."""
        state = self.experiment.state
        if not self.complete and state.status is Status.INTERRUPTED:
            return ExitCode.INTERRUPTED
        return ExitCode.OK if judged(state) else ExitCode.NO_VERDICT

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "origin": self.origin.experiment.id,
            "pass_rate_before": rate_json(self.rate_before),
            "experiment": self.experiment.json(),
            "n_graded": self.regrade.graded,
            "n_kept": self.regrade.kept,
            "n_flips": len(self.regrade.flips),
            "flips": [_flip_json(flip) for flip in self.regrade.flips],
            "unable": [asdict(unable) for unable in self.regrade.unable],
            "k": self.k,
            "noise": [asdict(noise) for noise in self.noise],
            "exit_code": self.exit_code,
        }


def _flip_json(flip: Flip) -> dict[str, Json]:
    return {
        **flip.key._asdict(),
        "before": flip.before.value,
        "after": flip.after.value,
        "reason_before": flip.reason_before,
        "reason_after": flip.reason_after,
        "cause_after": flip.cause_after.value if flip.cause_after else None,
    }
