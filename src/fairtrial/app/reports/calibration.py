"""What `grader calibrate` says: a grader against people."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from fairtrial.analysis.judge_calibration import JudgeCalibration, Opinion, Part, Standing
from fairtrial.app.reports.opinions import agreement_json, confusion_json
from fairtrial.model.errors import ExitCode
from fairtrial.model.json import Json


@dataclass(frozen=True, slots=True)
class CalibrationReport:
    """A grader against people.

    Attributes:
        calibration: What the labels say of it.
        grader: Its spec.
        source: The experiment or dataset that holds the outputs.
        skipped: Labels that people looked at and left open.
        unknown: Cases of labels that are not there.
    """

    schema: ClassVar[str] = "fairtrial.calibration/1"

    calibration: JudgeCalibration
    grader: Mapping[str, Json]
    source: str
    skipped: int
    unknown: tuple[str, ...]

    @property
    def exit_code(self) -> ExitCode:
        """2 with too few labels to say anything, else 0."""
        few = self.calibration.standing is Standing.TOO_FEW
        return ExitCode.TOO_FEW if few else ExitCode.OK

    @property
    def cost_usd(self) -> float | None:
        """What grading cost; None when a part of it is unknown."""
        costs = [opinion.score.cost_usd for opinion in self.opinions]
        return None if None in costs else math.fsum(cost for cost in costs if cost is not None)

    @property
    def opinions(self) -> tuple[Opinion, ...]:
        """Every labelled output, those that count first."""
        return (*self.calibration.evidence.opinions, *self.calibration.others.opinions)

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        found = self.calibration
        return {
            "schema": self.schema,
            "grader": dict(self.grader),
            "source": self.source,
            "split": found.split,
            "min_labels": found.min_labels,
            "standing": found.standing.value,
            "sentence": found.sentence,
            "evidence": _part(found.evidence),
            "not_evidence": _part(found.others) if found.others.opinions else None,
            "skipped": self.skipped,
            "unknown_labels": list(self.unknown),
            "cost_usd": self.cost_usd,
            "outputs": [_opinion(opinion) for opinion in self.opinions],
            "exit_code": self.exit_code,
        }


def _part(part: Part) -> dict[str, Json]:
    counts = part.calibration.confusion
    corrected = part.calibration.corrected
    return {
        "labels": len(part.opinions),
        "answered": part.answered,
        "prevalence": part.prevalence,
        "confusion": None if counts is None else confusion_json(counts),
        "kappa": agreement_json(part.calibration.kappa),
        "youden": None if corrected is None else corrected.youden,
    }


def _opinion(opinion: Opinion) -> dict[str, Json]:
    score = opinion.score
    return {
        "case_id": opinion.key.case_id,
        "condition": opinion.key.condition,
        "split": opinion.split,
        "human": "pass" if opinion.human else "fail",
        "value": score.value,
        "passed": score.passed,
        "differs": opinion.differs,
        "reason": score.reason,
        "cost_usd": score.cost_usd,
        "detail": score.detail,
    }
