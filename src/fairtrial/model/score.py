"""One grader's result for one trial."""

from __future__ import annotations

from dataclasses import dataclass

from fairtrial.model.json import Json


@dataclass(frozen=True, slots=True)
class Score:
    """What one grader says of one trial.

    Attributes:
        grader: The grader's name.
        value: Finite, after `not`; None when the grader gave none.
        passed: value >= threshold; None exactly when `value` is.
        reason: The grader's own words, or why there is no value.
        required: Whether failing it fails the trial.
        weight: Its share in the trial's main score.
        cost_usd: What the model calls behind it cost; 0 when it made none, None when unknown.
        detail: What led to it, as JSON: each judge's and sample's answer.
    """

    grader: str
    value: float | None
    passed: bool | None
    reason: str | None = None
    required: bool = True
    weight: float = 1.0
    cost_usd: float | None = 0.0
    detail: Json = None
